import type { IncomingMessage } from 'node:http'

// What is read at a time is 64 KiB at most: so some 6 MB a second.
const PAUSE_MS = 10

/**
 * Reads off what is left of a body whose request is answered already, so that the next request on the connection can be
 * heard; but slowly. Node would do it as fast as it comes, and whoever was refused could so take time and memory from
 * everybody else. To be called before Node's own listener of the answer's `finish`, which lets go of a body that nobody
 * has begun to read.
 */
export function readOffSlowly(req: IncomingMessage): void {
  req.on('data', () => {
    req.pause()
    setTimeout(() => req.resume(), PAUSE_MS)
  })
  req.resume()
  // Begins at once: by the next tick Node would have let go of it.
  req.read(0)
}
