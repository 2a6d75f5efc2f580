// Loaded into every program beside its own code: tells the bench what the process has used.

process.on('message', (message) => {
  if (message === 'usage') process.send?.({ cpu: process.cpuUsage(), memory: process.memoryUsage.rss() })
})
process.on('disconnect', () => process.exit())
// The program's own end is not to wait for the bench.
process.channel?.unref()
