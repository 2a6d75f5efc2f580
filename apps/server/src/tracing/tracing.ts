import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import {
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { API_VERSION } from '@resource/contract'
import { type Around, isPostgresUrl, UniqueViolation } from '@resource/database'
import { ApiError, type Operation } from '@resource/openapi'
import type { Request, RequestHandler } from 'express'
import type { Logger } from 'pino'
import { sentStatus } from '../connections/connections.ts'
import { methodName } from '../http/allowed-methods.ts'
import { MONITORING_PATHS } from '../http/health.ts'
import type { Config } from '../process/config.ts'
import { createProvider } from './provider.ts'

const SPAN = Symbol('span')
type Traced = IncomingMessage & { [SPAN]?: Span }

export type Tracing = ReturnType<typeof startTracing>

/**
 * Records spans by OpenTelemetry's conventions: one per request, with a child per call, with a child per query. Spans never
 * contain bodies, query strings, headers or error messages, because these may hold secrets.
 */
export function startTracing(config: Config, log: Logger) {
  const provider = createProvider(config, log)
  const tracer = provider.getTracer('resource-service', API_VERSION)
  const propagator = new W3CTraceContextPropagator()
  const current = new AsyncLocalStorage<Context>()
  const system = isPostgresUrl(config.DATABASE_URL) ? 'postgresql' : 'sqlite'

  /** Runs `run` in a child of the current span, or without a span if there is none. */
  const within = async <T>(name: string, kind: SpanKind, attributes: Record<string, string>, run: () => Promise<T>) => {
    const parent = current.getStore()
    if (parent === undefined) return run()
    const span = tracer.startSpan(name, { kind, attributes }, parent)
    try {
      return await current.run(trace.setSpan(parent, span), run)
    } catch (error) {
      noteError(span, kind, error)
      throw error
    } finally {
      span.end()
    }
  }

  const measure: Around = (operation, table, run) => {
    const attributes = { 'db.system.name': system, 'db.operation.name': operation }
    return table === ''
      ? within(operation, SpanKind.CLIENT, attributes, run)
      : within(`${operation} ${table}`, SpanKind.CLIENT, { ...attributes, 'db.collection.name': table }, run)
  }

  return {
    /**
     * Runs a handler in the span of the request. Trusted callers continue their own trace; for others it is the root of a new trace that
     * links to theirs, because strangers must neither control sampling nor add spans to the traces of others.
     */
    handle:
      (isTrusted: (req: Request) => Promise<boolean>, handle: RequestHandler): RequestHandler =>
      async (req: Traced & Request, res, next) => {
        if (MONITORING_PATHS.has(req.url)) return handle(req, res, next)
        const method = methodName(req.method)
        const sent = propagator.extract(ROOT_CONTEXT, req.headers, defaultTextMapGetter)
        const link = trace.getSpanContext(sent)
        const isRoot = link === undefined || !(await isTrusted(req))
        const parent = isRoot ? ROOT_CONTEXT : sent
        const attributes = { 'http.request.method': method, 'url.scheme': 'http', 'url.path': req.path }
        const links = isRoot && link !== undefined ? [{ context: link }] : []
        const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes, links }, parent)
        req[SPAN] = span
        res.once('close', () => {
          const status = sentStatus(res)
          if (status !== undefined) span.setAttribute('http.response.status_code', status)
          if (status === undefined) fail(span, 'aborted')
          else if (status >= 500) fail(span, String(status))
          span.end()
        })
        return current.run(trace.setSpan(parent, span), () => handle(req, res, next))
      },
    /** Names the span of a request. @param route `/users/{user_id}` */
    setRoute: (req: Traced & Request, route: string): void => {
      req[SPAN]?.updateName(`${methodName(req.method)} ${route}`).setAttribute('http.route', route)
    },
    /** The trace id of a request, for the log. */
    traceId: (req: Traced) => req[SPAN]?.spanContext().traceId,
    observe: <Call extends Operation<never>['call']>(procedure: string, call: Call): Call =>
      ((...args) => within(procedure, SpanKind.INTERNAL, { 'rpc.method': procedure }, () => call(...args))) as Call,
    measure,
    /** Exports finished spans. */
    // Export failures are already logged.
    stop: () => provider.shutdown().catch(() => undefined),
  }
}

// Client errors do not make a span an error.
function noteError(span: Span, kind: SpanKind, error: unknown): void {
  if (!(error instanceof ApiError)) {
    if (!(error instanceof UniqueViolation)) fail(span, (error as Error).name)
    return
  }
  if (kind === SpanKind.INTERNAL) span.setAttribute('rpc.response.status_code', String(error.status))
  if (error.status >= 500) fail(span, String(error.status))
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR })
}
