// Loaded into every program beside its own code: tells the bench what the process has used.
import cluster from 'node:cluster'

process.on('message', (message) => {
  if (message !== 'usage') return
  // Where Node lets it (--expose-gc): what is left is held, not waiting to be collected.
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  process.send?.({ cpu: process.cpuUsage(), memory: rss, heap: heapUsed })
})
process.on('disconnect', () => process.exit())
// The program's own end is not to wait for the bench. A worker's channel is its program's.
if (cluster.isPrimary) process.channel?.unref()
