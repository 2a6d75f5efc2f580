import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import type { Logger } from 'pino'

const ids = new WeakMap<IncomingMessage, string>()

/** What identifies a request in the log, in `X-Request-Id` and in a 500: the caller's own id where it sends one. */
export function requestId(req: IncomingMessage): string {
  let id = ids.get(req)
  if (id === undefined) {
    const sent = req.headers['x-request-id']
    id = typeof sent === 'string' && /^[\w.-]{1,64}$/.test(sent) ? sent : randomUUID()
    ids.set(req, id)
  }
  return id
}

/** One line per request, written when it ends: never a body, a header or a query string, which may hold secrets. */
export function requestLog(log: Logger): RequestHandler {
  return (req, res, next) => {
    const started = performance.now()
    const id = requestId(req)
    res.setHeader('X-Request-Id', id)
    res.setHeader('X-Content-Type-Options', 'nosniff')
    res.setHeader('Cache-Control', 'no-cache')
    res.once('close', () => {
      const ms = Math.round((performance.now() - started) * 10) / 10
      const path = req.originalUrl.replace(/\?.*$/s, '')
      const outcome = res.writableFinished ? 'request' : 'request aborted'
      log.info({ id, method: req.method, path, status: res.statusCode, ms }, outcome)
    })
    next()
  }
}
