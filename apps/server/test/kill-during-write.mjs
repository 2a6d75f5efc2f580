// Loaded into the service by --import: kills it KILL_AFTER_MS after a write has arrived, answered or not.
import { subscribe } from 'node:diagnostics_channel'

subscribe('http.server.request.start', ({ request }) => {
  if (request.method === 'GET') return
  const end = performance.now() + Number(process.env.KILL_AFTER_MS)
  const look = () => {
    if (performance.now() >= end) process.kill(process.pid, 'SIGKILL')
    setImmediate(look)
  }
  look()
})
