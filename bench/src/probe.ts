// Preloaded into every program: reports the CPU and memory usage of the process to the bench.
import cluster from 'node:cluster'

process.on('message', (message) => {
  if (message !== 'usage') return
  // With --expose-gc, so that the heap contains no garbage.
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  process.send?.({ cpu: process.cpuUsage(), memory: rss, heap: heapUsed })
})
process.on('disconnect', () => process.exit())
// The channel must not keep the program alive. In cluster workers the channel belongs to the program.
if (cluster.isPrimary) process.channel?.unref()
