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
import { WATCHED } from '../http/health.ts'
import { methodName } from '../http/methods.ts'
import type { Config } from '../process/config.ts'
import { createProvider } from './provider.ts'

const SPAN = Symbol('span')
type Traced = IncomingMessage & { [SPAN]?: Span }

export type Tracing = ReturnType<typeof startTracing>

/**
 * Spans by OpenTelemetry's conventions: one for each request, in it one for each call, in that one for each query. Never a
 * body, a query string, a header or an error's words: they may hold secrets.
 */
export function startTracing(config: Config, log: Logger) {
  const provider = createProvider(config, log)
  const tracer = provider.getTracer('resource-service', API_VERSION)
  const propagator = new W3CTraceContextPropagator()
  const current = new AsyncLocalStorage<Context>()
  const system = isPostgresUrl(config.DATABASE_URL) ? 'postgresql' : 'sqlite'

  /** Runs something in a span of its own, within the present one; without one, as it is. */
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
     * Begins the span of a request: on its caller's trace where `isTrusted`, else at the root of a new one that links to
     * it. Strangers must neither choose what is sampled nor write into the traces of others.
     */
    handle:
      (isTrusted: (req: Request) => Promise<boolean>): RequestHandler =>
      async (req: Traced & Request, res, next) => {
        if (WATCHED.has(req.url)) return next()
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
          if (res.writableFinished) span.setAttribute('http.response.status_code', res.statusCode)
          if (!res.writableFinished) fail(span, 'aborted')
          else if (res.statusCode >= 500) fail(span, String(res.statusCode))
          span.end()
        })
        return current.run(trace.setSpan(parent, span), next)
      },
    /** Names the span of a request. @param route `/users/{user_id}` */
    setRoute: (req: Traced & Request, route: string): void => {
      req[SPAN]?.updateName(`${methodName(req.method)} ${route}`).setAttribute('http.route', route)
    },
    /** For the log. */
    traceId: (req: Traced) => req[SPAN]?.spanContext().traceId,
    observe: <Call extends Operation<never>['call']>(procedure: string, call: Call): Call =>
      ((...args) => within(procedure, SpanKind.INTERNAL, { 'rpc.method': procedure }, () => call(...args))) as Call,
    measure,
    /** Hands over what has ended. */
    // What could not be handed over was logged.
    stop: () => provider.shutdown().catch(() => undefined),
  }
}

// A refusal is the caller's fault, not the service's.
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
