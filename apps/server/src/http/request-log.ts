import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import type { Logger } from 'pino'

const ID = Symbol('request id')

/** What identifies a request in the log, in `X-Request-Id` and in a 500: the caller's own id where it sends one. */
export function requestId(req: IncomingMessage & { [ID]?: string }): string {
  req[ID] ??= idOf(req.headers['x-request-id'])
  return req[ID]
}

function idOf(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && /^[\w.-]{1,64}$/.test(sent) ? sent : randomUUID()
}

/**
 * One line per request, written when it ends: never a body, a header or a query string, which may hold secrets.
 *
 * @param traceId absent where requests are not traced
 */
export function requestLog(log: Logger, traceId?: (req: IncomingMessage) => string | undefined): RequestHandler {
  return (req, res, next) => {
    const started = performance.now()
    res.on('close', () => {
      const ms = Math.round((performance.now() - started) * 10) / 10
      const { originalUrl, method } = req
      const mark = originalUrl.indexOf('?')
      const path = mark < 0 ? originalUrl : originalUrl.slice(0, mark)
      const outcome = res.writableFinished ? 'request' : 'request aborted'
      log.info({ id: requestId(req), trace_id: traceId?.(req), method, path, status: res.statusCode, ms }, outcome)
    })
    next()
  }
}
