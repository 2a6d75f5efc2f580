import {
  type AnyTRPCRouter,
  callTRPCProcedure,
  getTRPCErrorShape,
  type inferRouterContext,
  TRPCError,
  type TRPCProcedureType,
} from '@trpc/server'
import type { HTTPErrorHandler, ResponseMetaFn, TRPCRequestInfo } from '@trpc/server/http'
import findMyWay from 'find-my-way'
import type { OpenApiMeta } from 'trpc-openapi'
import type { z } from 'zod'
import { ApiError, toApiError } from '../api-error.ts'
import { checkPath, METHODS_WITH_BODY, PARAMETER } from '../bindings.ts'
import { type Core, FALLBACK_REPLY, parserApiError, type Reply, type Transport } from '../core.ts'
import { type Awaitable, observe } from '../hook.ts'
import { readJson, refuseDeepBody } from '../json-body.ts'
import type { Incoming } from '../request.ts'
import { makeReady } from '../response.ts'
import { allowHeader, find, methodOf, pattern, type RouteMatch } from '../routes.ts'
import { factsOf, shapeOf } from '../schema.ts'
import { abortApiError } from '../signal.ts'
import { checkTarget, queryParameters, relativePath, split } from '../target.ts'
import { inputReader } from './inputs.ts'

type ResponseFacts<R extends AnyTRPCRouter> = Omit<Parameters<ResponseMetaFn<R>>[0], 'ctx' | 'data'>

/** The options of tRPC's adapters. Each hook may return a promise. */
export interface RouterOptions<R extends AnyTRPCRouter, Req, Created> {
  /** Called once for each complete request. */
  createContext?: (call: { req: Req; info: TRPCRequestInfo } & Created) => Awaitable<inferRouterContext<R>>
  /** Overrides the status and headers of a response. */
  responseMeta?: (
    response: ResponseFacts<R> & { ctx: inferRouterContext<R> | undefined; data: unknown[] },
  ) => Awaitable<ReturnType<ResponseMetaFn<R>> | undefined>
  onError?: (...failure: Parameters<HTTPErrorHandler<R, Req>>) => Awaitable<void>
  /** The largest request body, in bytes. Default: 1 MiB. */
  maxBodySize?: number
}

/** How the core reads the requests of a platform. */
export interface Platform<Req, NativeRequest, Created> extends Transport<Req> {
  /** The arguments of `createContext`. Its `resHeaders` are sent with the response. */
  argumentsOf: (req: Req) => { req: NativeRequest } & Created
}

/** A procedure with a REST route. */
type Exposed = ReturnType<typeof exposedOf>[number]

/** The procedure call of a request. Values that do not exist yet are undefined. */
interface Call<Context = unknown> {
  exposed: Exposed
  isRead?: true
  input?: unknown
  info?: TRPCRequestInfo
  resHeaders?: Headers | undefined
  ctx?: Context
  data?: unknown
}

/** The path of a request, and its parameters if it has the procedure's method. */
interface Match {
  path: string
  rawQuery: string
  allow: string
  found: RouteMatch<Exposed> | undefined
}

/** The handler of a router's REST routes. */
export function coreOf<
  R extends AnyTRPCRouter,
  Req extends Incoming,
  NativeRequest,
  Created extends { resHeaders?: Headers },
>(
  router: R,
  { createContext, responseMeta, onError, maxBodySize }: RouterOptions<R, NativeRequest, Created>,
  { readBytes, hasDisconnected, signalOf, argumentsOf }: Platform<Req, NativeRequest, Created>,
): Core<Req, Match> {
  type OwnCall = Call<inferRouterContext<R>>
  // A slash at the end and the case of a path do not matter, and no length is too long.
  const options = { caseSensitive: false, ignoreTrailingSlash: true, maxParamLength: Number.MAX_SAFE_INTEGER }
  const routes = findMyWay(options)
  const all = exposedOf(router)
  for (const one of all) routes.on(one.method, pattern(one.route.replace(PARAMETER, '{}')), () => undefined, one)
  const methods = [...new Set(all.map(({ method }) => method))]
  const limit = maxBodySize === undefined ? {} : { bodyLimit: maxBodySize }

  const matchOf = (req: Req): Match | undefined => {
    const { path, rawQuery } = split(req.originalUrl)
    const relative = relativePath(path, req.baseUrl)
    const found = methods.flatMap((method) => find<Exposed>(routes, relative, method) ?? [])
    if (found.length === 0) return undefined
    const own = found.find(({ entry }) => entry.method === methodOf(req.method))
    return { path, rawQuery, allow: allowHeader(found.map(({ entry }) => entry.method)), found: own }
  }

  const respond = async (req: Req, match: Match | undefined): Promise<Reply> => {
    let call: OwnCall | undefined
    try {
      if (match !== undefined) checkTarget(req.originalUrl, match.path)
      const { allow, found } = match ?? { allow: allowHeader(methods) }
      if (match === undefined || req.method === 'OPTIONS') return makeReady({ status: 204, headers: { Allow: allow } })
      if (found === undefined) {
        throw new ApiError(405, `${req.method} is not allowed here, only ${allow}`, { headers: { Allow: allow } })
      }
      const { path, type, method, read } = found.entry
      call = { exposed: found.entry }
      const body = METHODS_WITH_BODY.has(method) ? await readJson(req, limit, readBytes) : undefined
      refuseDeepBody(body)
      const query = queryParameters(match.rawQuery)
      call.isRead = true
      const input = read?.(found.params, query, body)
      call.input = input
      const signal = signalOf(req)
      if (createContext !== undefined) {
        const url = new URL(req.originalUrl, 'http://localhost')
        call.info = { isBatchCall: false, accept: null, calls: [], connectionParams: null, type, signal, url }
        const created = argumentsOf(req)
        call.resHeaders = created.resHeaders
        call.ctx = await createContext({ ...created, info: call.info })
      }
      const { ctx } = call
      const getRawInput = async () => input
      call.data = await callTRPCProcedure({ router, path, type, ctx, getRawInput, signal, batchIndex: 0 })
      return await replyOf(200, {}, call)
    } catch (error) {
      return failed(error, req, call)
    }
  }

  /** The response with what `createContext` and `responseMeta` set. */
  const replyOf = async (status: number, headers: Record<string, string>, call?: OwnCall, error?: TRPCError) => {
    const { exposed, ctx, info, data, resHeaders } = call ?? {}
    const meta = await responseMeta?.({
      type: exposed?.type ?? 'unknown',
      paths: exposed && [exposed.path],
      errors: error === undefined ? [] : [error],
      ...{ ctx, info, data: [data], eagerGeneration: true },
    })
    return makeReady({
      status: meta?.status ?? status,
      headers: { ...headers, ...merged(resHeaders, meta?.headers) },
      body: error === undefined ? data : bodyOf(router, error, call),
    })
  }

  const failed = async (cause: unknown, req: Req, call?: OwnCall): Promise<Reply> => {
    const report = (error: TRPCError) => {
      const { type = 'unknown', path } = call?.exposed ?? {}
      const { input, ctx } = call ?? {}
      return observe(() => onError?.({ error, type, path, input, ctx, req: argumentsOf(req).req }))
    }
    try {
      const apiError = parserApiError(cause) ?? abortApiError(cause, hasDisconnected(req)) ?? toApiError(cause)
      const error = errorOf(apiError, call)
      await report(error)
      return await replyOf(apiError.status, apiError.headers, call, error)
    } catch (thrown) {
      // For example, a hook that throws.
      await report(toApiError(thrown))
      return FALLBACK_REPLY
    }
  }

  return {
    find: matchOf,
    respond,
    notFound: (req) => failed(new ApiError(404, 'Path not found'), req),
    errorReply: (error, req) => failed(error, req),
    prepareError: (error) => async () =>
      makeReady({ status: error.status, headers: error.headers, body: bodyOf(router, error, undefined) }),
  }
}

const VOID = new Set(['void', 'undefined', 'never'])

/** The procedures with a REST route. */
function exposedOf(router: AnyTRPCRouter) {
  const procedures: Record<string, { _def: { type: TRPCProcedureType; meta?: OpenApiMeta; inputs: z.ZodType[] } }> =
    router._def.procedures
  return Object.entries(procedures).flatMap(([path, { _def: definition }]) => {
    const { type, meta, inputs } = definition
    if (meta?.openapi === undefined || meta.openapi.enabled === false) return []
    const { method, path: route } = meta.openapi
    checkPath(path, route)
    const names = [...route.matchAll(PARAMETER)].map(([, name]) => name as string)
    const fields = Object.assign({}, ...inputs.map((input) => shapeOf(input)))
    const isVoid = inputs.length === 1 && inputs.every((input) => VOID.has(factsOf(input).type))
    const where = `${path}: ${method} ${route}`
    const read = isVoid ? undefined : inputReader(where, fields, names, METHODS_WITH_BODY.has(method))
    return [{ path, type, method, route, read }]
  })
}

/** The TRPCError for the router's hooks and error formatter. */
function errorOf(error: ApiError, call: Call | undefined): TRPCError {
  if (error.cause instanceof TRPCError) return error.cause
  const isUnread = call !== undefined && call.isRead === undefined
  if (error.status !== 400 || !isUnread || !METHODS_WITH_BODY.has(call.exposed.method)) return error
  return new TRPCError({ code: 'PARSE_ERROR', message: 'Failed to parse request body', cause: error })
}

function bodyOf(router: AnyTRPCRouter, error: TRPCError, call: Call | undefined): unknown {
  const { type = 'unknown', path } = call?.exposed ?? {}
  const config = router._def._config
  const shape = getTRPCErrorShape({ config, error, type, path, input: call?.input, ctx: call?.ctx })
  const { code, cause } = error
  if (code === 'BAD_REQUEST' && cause?.name === 'ZodError') {
    return { ...shape, message: 'Input validation failed', code, issues: (cause as z.ZodError).issues }
  }
  const message = shape?.message === error.message ? messageOf(error, call !== undefined) : shape?.message
  return { ...shape, message, code }
}

// The message of an unexpected error must not reach callers.
function messageOf({ code, cause, message }: TRPCError, isFound: boolean): string {
  if (code === 'INTERNAL_SERVER_ERROR' && cause?.message === message) return 'Internal server error'
  return code === 'NOT_FOUND' && !isFound ? 'Not found' : message
}

/** The headers of all, of which the last one of a name counts, and every cookie. */
function merged(...all: ReturnType<ResponseMetaFn<AnyTRPCRouter>>['headers'][]): Record<string, string | string[]> {
  const values = new Headers()
  for (const headers of all) {
    for (const [name, value = []] of headers instanceof Headers ? headers : Object.entries(headers ?? {})) {
      if (name.toLowerCase() !== 'set-cookie') values.delete(name)
      for (const one of [value].flat()) values.append(name, one)
    }
  }
  const { 'set-cookie': _, 'content-length': __, 'content-type': type, ...others } = Object.fromEntries(values)
  const cookies = values.getSetCookie()
  return { ...others, ...(type && { 'Content-Type': type }), ...(cookies.length > 0 && { 'set-cookie': cookies }) }
}
