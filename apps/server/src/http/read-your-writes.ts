import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'

const COOKIE = 'resource_wrote=1'
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Read-your-writes consistency: after a client sends a write, its reads go to the primary until every replica has the write.
 * A cookie carries this state, because clients return it to every process without special support. A refused write sets
 * the cookie too: after a 412 the client needs the current version.
 *
 * @param replicaLagMs the maximum replica lag
 */
export function readYourWrites(replicaLagMs: number): RequestHandler {
  // Max-Age is in whole seconds, and some clients count the current partial second as one.
  const seconds = Math.ceil(replicaLagMs / 1000) + 1
  const cookie = `${COOKIE}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Lax`
  return (req, res, next) => {
    if (!SAFE_METHODS.has(req.method)) res.setHeader('Set-Cookie', cookie)
    next()
  }
}

/** Whether the request carries the read-your-writes cookie. */
export function hasRecentWrite({ headers: { cookie } }: IncomingMessage): boolean {
  return cookie?.includes(COOKIE) ?? false
}
