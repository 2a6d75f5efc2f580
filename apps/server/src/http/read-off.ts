import type { IncomingMessage } from 'node:http'

// What is read at a time is 64 KiB at most: so some 6 MB a second.
const PAUSE_MS = 10

/**
 * Reads off what is left of a body whose request is answered already, so that the next request on the connection can be
 * heard; but slowly. Node would do it as fast as it comes, and whoever was refused could so take time and memory from
 * everybody else.
 */
export function readOffSlowly(req: IncomingMessage): void {
  req.on('data', () => {
    req.pause()
    setTimeout(() => req.resume(), PAUSE_MS)
  })
}
