import {
  type AnyTRPCRouter,
  getTRPCErrorFromUnknown,
  getTRPCErrorShape,
  type inferRouterContext,
  TRPCError,
} from '@trpc/server'
import { getHTTPStatusCodeFromError, type HTTPErrorHandler, type ResponseMetaFn } from '@trpc/server/http'
import findMyWay from 'find-my-way'
import type { OpenApiMeta } from 'trpc-openapi'
import type { z } from 'zod'
import { ApiError } from '../api-error.ts'
import { checkPath, METHODS_WITH_BODY, PARAMETER } from '../bindings.ts'
import { type Core, FALLBACK_REPLY, parserApiError, type Reply, type Transport } from '../core.ts'
import { type Awaitable, observe } from '../hook.ts'
import { readJson, refuseDeepBody } from '../json-body.ts'
import type { Incoming } from '../request.ts'
import { makeReady } from '../response.ts'
import { allowHeader, find, methodNotAllowed, methodOf, pattern, type RouteMatch } from '../routes.ts'
import { objectsIn, shapeOf } from '../schema.ts'
import { abortApiError } from '../signal.ts'
import { checkTarget, queryParameters, relativePath, split } from '../target.ts'
import { inputReader } from './inputs.ts'

type Meta<R extends AnyTRPCRouter> = Parameters<ResponseMetaFn<R>>[0]
type Info = NonNullable<Meta<AnyTRPCRouter>['info']>

/** The options of tRPC's adapters. Each hook may return a promise. */
export interface RouterOptions<R extends AnyTRPCRouter, Req, Created> {
  /** Called once for each complete request. */
  createContext?: (call: { req: Req; info: Info } & Created) => Awaitable<inferRouterContext<R>>
  /** Overrides the status and headers of a response. */
  responseMeta?: (
    response: Omit<Meta<R>, 'ctx' | 'data'> & { ctx: inferRouterContext<R> | undefined; data: unknown[] },
  ) => Awaitable<ReturnType<ResponseMetaFn<R>> | undefined>
  onError?: (...failure: Parameters<HTTPErrorHandler<R, Req>>) => Awaitable<void>
  /** The largest request body, in bytes. Default: 1 MiB. */
  maxBodySize?: number
}

/** A procedure with a REST route. */
type Exposed = ReturnType<typeof exposedOf>[number]

/** The procedure call of a request. Values that do not exist yet are undefined. */
interface Call<Context = unknown> {
  exposed?: Exposed | undefined
  input?: unknown
  info?: Info
  /** The headers that `createContext` has set. */
  resHeaders?: Headers | undefined
  ctx?: Context
  data?: unknown
}

/** The handler of a router's REST routes. */
export function coreOf<R extends AnyTRPCRouter, Req extends Incoming, P extends { req: unknown; resHeaders?: Headers }>(
  router: R,
  { createContext, responseMeta, onError, maxBodySize }: RouterOptions<R, P['req'], P>,
  {
    readBytes,
    hasDisconnected,
    signalOf,
    argumentsOf,
  }: Transport<Req> & {
    signalOf: (req: Req) => AbortSignal
    argumentsOf: (req: Req) => P
  },
): Core<Req> {
  type OwnCall = Call<inferRouterContext<R>>
  // A slash at the end and the case of a path do not matter, and no length is too long.
  const lenient = { caseSensitive: false, ignoreTrailingSlash: true, maxParamLength: Number.MAX_SAFE_INTEGER }
  const routes = findMyWay(lenient)
  const all = exposedOf(router)
  for (const one of all) routes.on(one.method, pattern(one.route.replace(PARAMETER, '{}')), () => undefined, one)
  const methods = [...new Set(all.map(({ method }) => method))]

  const respond = async (req: Req, found: RouteMatch<Exposed>[], path: string, rawQuery: string): Promise<Reply> => {
    const own = found.find(({ entry }) => entry.method === methodOf(req.method))
    const call: OwnCall = { exposed: own?.entry }
    try {
      checkTarget(req.originalUrl, path)
      const allow = allowHeader(found.map(({ entry }) => entry.method))
      if (req.method === 'OPTIONS') return makeReady({ status: 204, headers: { Allow: allow } })
      if (own === undefined) throw methodNotAllowed(req.method, allow)
      const { entry, params } = own
      const hasBody = METHODS_WITH_BODY.has(entry.method)
      const body = hasBody ? await bodyOf(req) : undefined
      call.input = entry.read?.(params, hasBody ? [] : queryParameters(rawQuery), body)
      const signal = signalOf(req)
      const url = new URL(req.originalUrl, 'http://localhost')
      call.info = { type: entry.type, isBatchCall: false, accept: null, calls: [], connectionParams: null, signal, url }
      const created = argumentsOf(req)
      call.resHeaders = created.resHeaders
      call.ctx = await createContext?.({ ...created, info: call.info })
      const caller: object = router.createCaller(call.ctx, { signal })
      const procedure = entry.path.split('.').reduce((parent, name) => Reflect.get(parent, name), caller)
      call.data = await (procedure as (input: unknown) => Promise<unknown>)(call.input)
      return await replyOf(call)
    } catch (error) {
      return failed(error, req, call)
    }
  }

  const bodyOf = async (req: Req): Promise<unknown> => {
    try {
      const body = await readJson(req, maxBodySize === undefined ? {} : { bodyLimit: maxBodySize }, readBytes)
      refuseDeepBody(body)
      return body
    } catch (cause) {
      if (!(cause instanceof ApiError) || cause.status !== 400) throw cause
      throw new TRPCError({ code: 'PARSE_ERROR', message: 'Failed to parse request body', cause })
    }
  }

  /** The response with what `createContext` and `responseMeta` set. */
  const replyOf = async (call: OwnCall, error?: TRPCError): Promise<Reply> => {
    const { exposed, ctx, info, data, resHeaders } = call
    const meta = await responseMeta?.({
      type: exposed?.type ?? 'unknown',
      paths: exposed && [exposed.path],
      errors: error === undefined ? [] : [error],
      ...{ ctx, info, data: [data], eagerGeneration: true },
    })
    return makeReady({
      status: meta?.status ?? (error === undefined ? 200 : getHTTPStatusCodeFromError(error)),
      headers: merged(error instanceof ApiError ? error.headers : {}, resHeaders, meta?.headers),
      body: error === undefined ? data : bodyOfError(router, error, call),
    })
  }

  const failed = async (cause: unknown, req: Req, call: OwnCall = {}): Promise<Reply> => {
    const report = (error: TRPCError) => {
      const { exposed: { type = 'unknown', path } = {}, input, ctx } = call
      return observe(() => onError?.({ error, type, path, input, ctx, req: argumentsOf(req).req }))
    }
    try {
      const aborted = abortApiError(cause, hasDisconnected(req))
      const error = aborted ?? parserApiError(cause) ?? getTRPCErrorFromUnknown(cause)
      await report(error)
      return await replyOf(call, error)
    } catch (thrown) {
      // For example, a hook that throws.
      await report(getTRPCErrorFromUnknown(thrown))
      return FALLBACK_REPLY
    }
  }

  return {
    find: (req) => {
      const { path, rawQuery } = split(req.originalUrl)
      const found = methods.flatMap((method) => find<Exposed>(routes, relativePath(path, req.baseUrl), method) ?? [])
      return found.length === 0 ? undefined : () => respond(req, found, path, rawQuery)
    },
    notFound: (req) => failed(new TRPCError({ code: 'NOT_FOUND', message: 'Not found' }), req),
    errorReply: (error, req) => failed(error, req),
  }
}

/** The procedures with a REST route. */
function exposedOf(router: AnyTRPCRouter) {
  type Procedure = { _def: { type: 'query' | 'mutation'; meta?: OpenApiMeta; inputs: z.ZodType[] } }
  const procedures: Record<string, Procedure> = router._def.procedures
  return Object.entries(procedures).flatMap(([path, procedure]) => {
    const { type, meta, inputs } = procedure._def
    if (meta?.openapi === undefined || meta.openapi.enabled === false) return []
    const { method, path: route } = meta.openapi
    checkPath(path, route)
    const names = [...route.matchAll(PARAMETER)].map(([, name]) => name as string)
    const fields = Object.assign({}, ...inputs.map((input) => shapeOf(input)))
    const read = inputs.some((input) => objectsIn(input).length > 0) ? inputReader(fields, names) : undefined
    return [{ path, type, method, route, read }]
  })
}

function bodyOfError(router: AnyTRPCRouter, error: TRPCError, { exposed, input, ctx }: Call): unknown {
  const { type = 'unknown', path } = exposed ?? {}
  const shape = getTRPCErrorShape({ config: router._def._config, error, type, path, input, ctx })
  const { code, cause } = error
  if (code === 'BAD_REQUEST' && cause?.name === 'ZodError') {
    return { ...shape, message: 'Input validation failed', code, issues: (cause as z.ZodError).issues }
  }
  // The message of an unexpected error must not reach callers.
  const isHidden = code === 'INTERNAL_SERVER_ERROR' && cause?.message === error.message
  const message = isHidden && shape?.message === error.message ? 'Internal server error' : shape?.message
  return { ...shape, message, code }
}

/** The headers of all, of which the last one of a name counts, and every cookie. */
function merged(...all: ReturnType<ResponseMetaFn<AnyTRPCRouter>>['headers'][]): Record<string, string | string[]> {
  const values = new Headers()
  const entries = all.flatMap((headers) => (headers instanceof Headers ? [...headers] : Object.entries(headers ?? {})))
  for (const [name, value = []] of entries) {
    if (name.toLowerCase() !== 'set-cookie') values.delete(name)
    for (const one of [value].flat()) values.append(name, one)
  }
  const { 'set-cookie': _, 'content-length': __, 'content-type': type, ...others } = Object.fromEntries(values)
  const cookies = values.getSetCookie()
  return { ...others, ...(type && { 'Content-Type': type }), ...(cookies.length > 0 && { 'set-cookie': cookies }) }
}
