import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { API_TITLE, API_VERSION, contract, envelope, MAX_BODY_BYTES } from '@resource/contract'
import type { Database } from '@resource/database'
import { ApiError, expressHandlers, FieldError, prefersStrict } from '@resource/openapi'
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express'
import type { Logger } from 'pino'
import type { Access } from './access/access.ts'
import { credentials } from './access/authenticate.ts'
import type { Caller } from './access/caller.ts'
import type { Followers } from './changes/followers.ts'
import type { Connections } from './connections/connections.ts'
import { consolePages } from './console/console-pages.ts'
import { consoleSession } from './console/console-session.ts'
import { consoleStatus } from './console/console-status.ts'
import { addressOf } from './http/address.ts'
import { readRoute } from './http/allowed-methods.ts'
import { checked, useFirst } from './http/checks.ts'
import { commonHeaders } from './http/common-headers.ts'
import { allowOrigins, checkOrigin } from './http/cross-origin.ts'
import { health } from './http/health.ts'
import { checkHost } from './http/host.ts'
import { readGroup } from './http/request-id.ts'
import { contractSkewLog, recordCaller, recordRefusal, recordReplay, requestId } from './http/request-log.ts'
import { sampledLog } from './http/sampled-log.ts'
import { type Limits, verifiedCaller } from './limits/limits.ts'
import type { RequestQueue } from './limits/request-queue.ts'
import type { Metrics } from './metrics/metrics.ts'
import { metricsPage } from './metrics/metrics-page.ts'
import { createOperations } from './operations.ts'
import { clientPackage } from './pages/client-package.ts'
import { pages } from './pages/documentation-pages.ts'
import { DOCUMENTS, servedDocument } from './pages/openapi-documents.ts'
import type { Config } from './process/config.ts'
import type { Context, Session } from './store/context.ts'
import type { Tracing } from './tracing/tracing.ts'

const TRPC = '/trpc'
// Bounds the response to a short request. The client sends at most this many calls per batch.
const MAX_BATCH_CALLS = 50
// The maximum of a bulk create.
const MAX_BATCH_RECORDS = 1000

export interface AppOptions {
  config: Config
  database: Database
  access: Access
  limits: Limits
  followers: Followers
  metrics: Metrics
  /** Undefined if requests are not traced. */
  tracing: Tracing | undefined
  connections: () => Connections
  queue: RequestQueue
  log: Logger
  /** Whether the service is stopping. */
  isStopping: () => boolean
}

export interface App {
  /** The service as an Express application. */
  app: Express
  /** Responds with 503 under overload, without Express, because refusing must be cheap. */
  refuseOverload: (req: Request, res: ServerResponse) => void
  /** Responds with 400 to a target that is no path, without Express, which answers only some of them. */
  refuseTarget: (req: Request, res: ServerResponse) => void
}

/** Creates the service. */
export function createApp(options: AppOptions): App {
  const { config, database, access, limits, followers, metrics, tracing, connections, queue, log, isStopping } = options
  const operations = createOperations(database, config, {
    followers,
    needsCredentials: access.needsCredentials,
    onAccessChanged: access.invalidate,
    observe: (procedure, call) => {
      const measured = metrics.observe(procedure, call)
      return tracing?.observe(procedure, measured) ?? measured
    },
  })
  const logContractSkew = contractSkewLog(log)
  const logUnavailable = sampledLog(log, 'warn', 60_000, 'still unavailable')
  const onError = (error: ApiError, req: Request) => {
    const id = requestId(req)
    if (REFUSALS.has(error.status)) {
      recordRefusal(req, error.reason)
      metrics.countRefusal(error)
    }
    if (error.code === 'INTERNAL_SERVER_ERROR') {
      metrics.countUnexpected()
      log.error({ id, err: error.cause ?? error }, 'unexpected error')
    }
    // A 503 without a cause, such as a full queue, is only in the request log.
    if (error.code === 'SERVICE_UNAVAILABLE' && error.cause) {
      logUnavailable(error.message, { reason: error.message }, { id, err: error.cause }, 'unavailable')
    }
  }
  const { rate } = limits
  const behindProxy = config.TRUST_PROXY.length > 0
  const headers =
    rate === undefined ? commonHeaders : (req: Request) => Object.assign(commonHeaders(req), rate.headers(req))
  const sessionOf = (req: Request): Session => ({
    credentials: credentials(req.headers) ?? '',
    caller: () => access.recheck(req),
    rest: (isResting) => {
      connections().follow(req, isResting)
      if (req.res !== undefined) limits.end(req.res)
    },
    close: () => req.socket.destroy(),
  })
  const contextOf = (req: Request, procedures: readonly string[], route: string): Context | Promise<Context> => {
    const isTrpc = route === TRPC
    if (isTrpc) logContractSkew(req)
    const headers = isTrpc ? headersOfCall(req, procedures.length) : undefined
    tracing?.setRoute(req, route)
    const calls = procedures.length
    const onReplay = (first: string | null) => {
      recordReplay(req, first)
      req.res?.setHeader('Idempotent-Replayed', 'true')
    }
    const admit = (caller: Caller): Context => {
      recordCaller(req, caller)
      rate?.countCalls(req, procedures, caller)
      return {
        caller,
        requestId: requestId(req),
        address: () => addressOf(req, behindProxy),
        headers,
        ifEffect: effectIn(req.headers),
        group: readGroup(req.headers['x-request-group']),
        onReplay: calls === 1 ? onReplay : undefined,
        isStrict: prefersStrict(req.headers),
        ...(rate !== undefined && { spend: (work) => rate.countWork(req, work) }),
        isGone: () => req.socket.readableEnded || req.socket.destroyed,
        refuseNext: (reader) => limits.refuseNext(req, reader),
        session: () => sessionOf(req),
        read: database.read,
      }
    }
    const caller = access.callerOf(req)
    return caller instanceof Promise ? caller.then(admit) : admit(caller)
  }
  const { handle, notFound, sendError, prepareError } = expressHandlers<Context>(contract, operations, {
    envelope,
    context: contextOf,
    requestId,
    headers,
    onError,
    turn: (req) => queue.resume(limits.queueKey(req)),
    trpc: { path: TRPC, bodyLimit: MAX_BODY_BYTES, maxCalls: MAX_BATCH_CALLS, maxRecords: MAX_BATCH_RECORDS },
  })

  const isTrusted = async (req: Request) => {
    try {
      return (await verifiedCaller(access, req)) !== undefined || (await access.isPrivate(req))
    } catch {
      return false
    }
  }

  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('case sensitive routing')
  app.set('trust proxy', config.TRUST_PROXY)
  const allowed = config.CORS_ORIGINS.length > 0 ? [allowOrigins(config.CORS_ORIGINS)] : []
  const checks = [
    // First, because browsers hide every response without its headers, also a refusal, from the page.
    ...allowed,
    checkHost(access.isOpen, config),
    limits.check,
    checkOrigin(config.CORS_ORIGINS, log),
  ]
  useFirst(app, checked(checks, tracing?.handle(isTrusted, handle) ?? handle), sendError)
  app.use((req, res, next) => {
    res.set(headers(req))
    next()
  })
  app.use(health(database, isStopping))
  app.use(metricsPage({ metrics, access, rate, database, connections, followers, refused: limits.refused }))
  for (const [path, form] of Object.entries(DOCUMENTS)) readRoute(app, path, servedDocument(form))
  readRoute(app, '/client.tgz', clientPackage())
  app.use(consoleSession({ config, database, access, log }))
  app.use(consoleStatus(access, metrics, config.DATABASE_URL))
  app.use(consolePages())
  app.use(pages({ title: API_TITLE, version: API_VERSION }))
  app.use(notFound)
  const onUncaught: ErrorRequestHandler = (error, req, res, _next) => sendError(error, req, res)
  app.use(onUncaught)
  const refusal = (error: ApiError): App['refuseOverload'] => {
    const refuse = prepareError(error)
    return (req, res) => {
      for (const allow of allowed) allow(req, res as Response)
      refuse(req, res)
    }
  }
  return { app, refuseOverload: refusal(OVERLOADED), refuseTarget: refusal(OTHER_TARGET) }
}

const IF_EFFECT = 'if-effect'

/** The effect that the request's write must have. @throws FieldError 400 */
function effectIn({ [IF_EFFECT]: header }: IncomingHttpHeaders): string | undefined {
  if (header === undefined) return undefined
  const [, effect] = /^"([\w-]{43})"$/.exec(String(header)) ?? []
  if (effect !== undefined) return effect
  throw new FieldError(400, [{ path: ['If-Effect'], message: 'must be the effect of a preview in quotes' }])
}

// Refusals that depend on the caller.
const REFUSALS = new Set([401, 403, 429])
const OTHER_TARGET = new ApiError(400, 'The request target must be a path, such as /items, or an http or https URL')
const OVERLOADED = new ApiError(503, 'The service is overloaded; try again', { headers: { 'Retry-After': '1' } })

function headersOfCall({ headers, method }: Request, calls: number): IncomingHttpHeaders | undefined {
  // Ignoring a condition would carry out a write that must not happen (RFC 9110, 13.1.1).
  if (headers['if-match'] !== undefined) {
    throw new ApiError(400, 'If-Match applies to REST; over tRPC, give the call if_version')
  }
  if (!['GET', 'HEAD'].includes(method) && headers['if-none-match'] !== undefined) {
    throw new ApiError(400, 'If-None-Match applies to REST; over tRPC, only to reads')
  }
  if (calls === 1) return headers
  if (headers[IF_EFFECT] !== undefined) throw new ApiError(400, 'If-Effect applies to a single call, not to a batch')
  // In a batch the header would be ambiguous, and ignoring it silently would break its guarantee.
  if (headers['idempotency-key'] !== undefined) {
    throw new ApiError(
      400,
      'Idempotency-Key applies to a single call; in a batch, give each call its own idempotency_key',
    )
  }
  return undefined
}
