import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { CONTRACT_HASH } from '@resource/contract/hash'
import type { Request } from 'express'
import type { Logger } from 'pino'
import { addressOf } from './address.ts'

const ID = Symbol('request id')
const CALLER = Symbol('caller')
const REASON = Symbol('reason')
const HASH = /^[\da-f]{16}$/
const MOST_HASHES = 100

type Noted = IncomingMessage & { [ID]?: string; [CALLER]?: string; [REASON]?: string }

/** What identifies a request in the log, in `X-Request-Id`, in the audit log and in a 500: no caller can choose it. */
export function requestId(req: Noted): string {
  req[ID] ??= randomUUID()
  return req[ID]
}

/** Keeps who calls for the log. */
export function noteCaller(req: Noted, { name }: { name: string }): void {
  req[CALLER] = name
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
      caller,
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

/**
 * Logs the requests of clients that were built from another contract: for each such contract the first, the tenth, the
 * hundredth and so on, with their count.
 *
 * @returns to be told of each request
 */
export function skewLog(log: Logger): (req: IncomingMessage) => void {
  const seen = new Map<string, number>()
  return (req) => {
    const hash = req.headers['x-contract']
    if (typeof hash === 'string' && hash !== CONTRACT_HASH && HASH.test(hash)) {
      // Anyone can send any hash; what is kept of them must not grow.
      const key = seen.has(hash) || seen.size < MOST_HASHES ? hash : 'others'
      const requests = (seen.get(key) ?? 0) + 1
      seen.set(key, requests)
      if (/^10*$/.test(String(requests))) {
        log.warn({ contract: key, serving: CONTRACT_HASH, requests }, 'a client of another contract')
      }
    }
  }
}
