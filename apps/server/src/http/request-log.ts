import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
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
 * Writes one line for a request that has ended: never a body, a header or a query string, which may hold secrets.
 *
 * @param traceId absent where requests are not traced
 * @returns `url` as it was sent, `startedMs` by `performance.now()`
 */
export function requestLog(log: Logger, traceId?: (req: IncomingMessage) => string | undefined) {
  return ({ req, statusCode, writableFinished }: ServerResponse, url: string, startedMs: number): void => {
    const ms = Math.round((performance.now() - startedMs) * 10) / 10
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    const outcome = writableFinished ? 'request' : 'request aborted'
    const { method } = req
    log.info({ id: requestId(req), trace_id: traceId?.(req), method, path, status: statusCode, ms }, outcome)
  }
}
