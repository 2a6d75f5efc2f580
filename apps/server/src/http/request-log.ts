import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Request } from 'express'
import type { Logger } from 'pino'
import type { Caller } from '../access/caller.ts'
import { addressOf } from '../limits/address.ts'

const ID = Symbol('request id')
const CALLER = Symbol('caller')
const REASON = Symbol('reason')

type Noted = IncomingMessage & { [ID]?: string; [CALLER]?: Caller; [REASON]?: string }

/** What identifies a request in the log, in `X-Request-Id`, in the audit log and in a 500: no caller can choose it. */
export function requestId(req: Noted): string {
  req[ID] ??= randomUUID()
  return req[ID]
}

/** Keeps who calls for the log. */
export function noteCaller(req: Noted, caller: Caller): void {
  req[CALLER] = caller
}

/** Keeps why a request was refused for the log. */
export function noteRefusal(req: Noted, reason: string): void {
  req[REASON] = reason
}

/**
 * Writes one line for a request that has ended: never a body, a query string or a header that may hold a secret.
 *
 * @param behindProxy whether the address comes from trusted proxies
 * @param traceId absent where requests are not traced
 * @returns `url` as it was sent, `startedMs` by `performance.now()`
 */
export function requestLog(log: Logger, behindProxy: boolean, traceId?: (req: IncomingMessage) => string | undefined) {
  return ({ req, statusCode, writableFinished }: ServerResponse, url: string, startedMs: number): void => {
    const ms = Math.round((performance.now() - startedMs) * 10) / 10
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    const outcome = writableFinished ? 'request' : 'request aborted'
    const { [CALLER]: caller, [REASON]: reason, method } = req as Noted
    const line = {
      id: requestId(req),
      client_request_id: clientId(req),
      trace_id: traceId?.(req),
      caller: caller?.name,
      address: addressOf(req as Request, behindProxy),
      method,
      path,
      status: statusCode,
      reason,
      ms,
    }
    log.info(line, outcome)
  }
}

// The caller's own, where it is well-formed.
function clientId({ headers }: IncomingMessage): string | undefined {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && /^[\w.-]{1,64}$/.test(sent) ? sent : undefined
}
