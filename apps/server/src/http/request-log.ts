import type { IncomingMessage, ServerResponse } from 'node:http'
import { CONTRACT_HASH } from '@resource/contract/hash'
import type { Request } from 'express'
import type { Logger } from 'pino'
import { sentStatus } from '../connections/connections.ts'
import { addressOf } from './address.ts'
import { newRequestId } from './request-id.ts'
import { sampledLog } from './sampled-log.ts'

const ID = Symbol('request id')
const CALLER = Symbol('caller')
const REASON = Symbol('reason')
const REPLAYED = Symbol('replayed')
const HASH = /^[\da-f]{16}$/
const MAX_HASHES = 100

type LoggedRequest = IncomingMessage & {
  [ID]?: string
  [CALLER]?: string
  [REASON]?: string
  [REPLAYED]?: string | null
}

/** The request's id in the log, in the audit log and in a 500. Callers cannot choose it. */
export function requestId(req: LoggedRequest): string {
  req[ID] ??= newRequestId()
  return req[ID]
}

/** Records the id of the earlier request whose answer is replayed; null if it is unknown. */
export function recordReplay(req: LoggedRequest, first: string | null): void {
  req[REPLAYED] = first
}

/** The id of the request that the answer belongs to: of a replayed answer, the one that wrote. */
export function answeredId(req: LoggedRequest): string {
  return req[REPLAYED] ?? requestId(req)
}

/** Records the caller for the request log. */
export function recordCaller(req: LoggedRequest, { name }: { name: string }): void {
  req[CALLER] = name
}

/** Records the reason for a refusal for the request log. */
export function recordRefusal(req: LoggedRequest, reason: string): void {
  req[REASON] = reason
}

/**
 * Logs one line per finished request; of refused requests with the same reason and caller, the number per second. Never logs
 * bodies, query strings or headers that may hold secrets.
 *
 * @param behindProxy whether the address comes from trusted proxies
 * @param traceId undefined if requests are not traced
 * @returns a function of the response, its request's original `url`, and `startedMs` from `performance.now()`
 */
export function requestLog(log: Logger, behindProxy: boolean, traceId?: (req: IncomingMessage) => string | undefined) {
  const logRefused = sampledLog(log, 'info', 1_000, 'refused requests')
  return (res: ServerResponse, url: string, startedMs: number): void => {
    const { req, statusCode, headersSent } = res
    const ms = Math.round((performance.now() - startedMs) * 10) / 10
    const queryStart = url.indexOf('?')
    const path = queryStart < 0 ? url : url.slice(0, queryStart)
    const status = sentStatus(res)
    const { [CALLER]: caller, [REASON]: reason, method } = req as LoggedRequest
    const address = addressOf(req as Request, behindProxy)
    const line = {
      id: requestId(req),
      client_request_id: clientId(req),
      trace_id: traceId?.(req),
      caller,
      address,
      method,
      path,
      status: status ?? (headersSent ? statusCode : undefined),
      reason,
      ms,
    }
    const message = status === undefined ? 'request aborted' : 'request'
    if (reason === undefined) log.info(line, message)
    else {
      const facts = { caller, address, status: line.status, reason }
      logRefused(Object.values(facts).join(' '), facts, line, message)
    }
  }
}

// The caller's own request id, if it is well-formed.
function clientId({ headers }: IncomingMessage): string | undefined {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && /^[\w.-]{1,64}$/.test(sent) ? sent : undefined
}

/**
 * Logs requests of clients built against a different contract: for each such contract the first request, the tenth, the
 * hundredth and so on, with their count.
 *
 * @returns a function to call for each request
 */
export function contractSkewLog(log: Logger): (req: IncomingMessage) => void {
  const seen = new Map<string, number>()
  return (req) => {
    const hash = req.headers['x-contract']
    if (typeof hash === 'string' && hash !== CONTRACT_HASH && HASH.test(hash)) {
      // Any client can send any hash, so the map must be bounded.
      const key = seen.has(hash) || seen.size < MAX_HASHES ? hash : 'others'
      const requests = (seen.get(key) ?? 0) + 1
      seen.set(key, requests)
      if (/^10*$/.test(String(requests))) {
        log.warn({ contract: key, serving: CONTRACT_HASH, requests }, 'client built against a different contract')
      }
    }
  }
}
