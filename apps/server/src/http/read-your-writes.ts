import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'

const MARK = 'resource_wrote=1'
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Marks whoever sends a write, for as long as a replica may lack it: their reads are then led to the primary. The mark
 * is a cookie, because nothing else comes back to every process from callers who know nothing of it. A write that is
 * refused marks too: who learns that a record has changed wants to see what it is now.
 *
 * @param replicaLagMs how old what a replica shows may be
 */
export function markWriters(replicaLagMs: number): RequestHandler {
  // Cookies count whole seconds, and some clients begin with the one that has begun.
  const seconds = Math.ceil(replicaLagMs / 1000) + 1
  const cookie = `${MARK}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Lax`
  return (req, res, next) => {
    if (!SAFE_METHODS.has(req.method)) res.setHeader('Set-Cookie', cookie)
    next()
  }
}

/** Whether the caller carries the mark. */
export function hasWritten({ headers: { cookie } }: IncomingMessage): boolean {
  return cookie?.includes(MARK) ?? false
}
