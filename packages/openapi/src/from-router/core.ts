import {
  type AnyTRPCProcedure,
  type AnyTRPCRouter,
  callTRPCProcedure,
  getTRPCErrorShape,
  type inferRouterContext,
  TRPCError,
  type TRPCProcedureType,
} from '@trpc/server'
import type { TRPCRequestInfo } from '@trpc/server/http'
import findMyWay, { type HTTPVersion, type Instance } from 'find-my-way'
import type { OpenApiMeta } from 'trpc-openapi'
import type { z } from 'zod'
import { ApiError, toApiError } from '../api-error.ts'
import { checkPath, METHODS_WITH_BODY, PARAMETER } from '../bindings.ts'
import { type Core, FALLBACK_REPLY, parserApiError, type Reply, type Transport } from '../core.ts'
import { type Awaitable, observe } from '../hook.ts'
import { readJson, refuseDeepBody } from '../json-body.ts'
import { checkTarget, type Incoming, queryParameters, relativePath, split } from '../request.ts'
import { makeReady } from '../response.ts'
import { allowHeader, methodOf, pattern } from '../routes.ts'
import { factsOf, shapeOf } from '../schema.ts'
import { abortApiError } from '../signal.ts'
import { type InputReader, inputReader } from './inputs.ts'

/** A call as hooks see it. Values that do not exist yet are undefined. */
interface HookCall<R extends AnyTRPCRouter> {
  type: TRPCProcedureType | 'unknown'
  ctx: inferRouterContext<R> | undefined
}

export interface RouterOptions<R extends AnyTRPCRouter, Req, Reply> {
  /** As in tRPC's adapters. Called once for each complete request. */
  createContext?: (call: { req: Req; info: TRPCRequestInfo } & Reply) => Awaitable<inferRouterContext<R>>
  /** As in tRPC's adapters: overrides the status and headers of a response. */
  responseMeta?: (
    response: HookCall<R> & {
      paths: readonly string[] | undefined
      info: TRPCRequestInfo | undefined
      data: unknown[]
      errors: TRPCError[]
      eagerGeneration: true
    },
  ) => Awaitable<{ status?: number; headers?: Headers | Record<string, string | string[] | undefined> } | undefined>
  /** As in tRPC's adapters. */
  onError?: (
    failure: HookCall<R> & { error: TRPCError; path: string | undefined; input: unknown; req: Req },
  ) => Awaitable<void>
  /** The largest request body, in bytes. Default: 1 MiB. */
  maxBodySize?: number
}

/** Maps the core's requests to those of a platform. */
export interface Platform<Req, NativeRequest, Created> {
  requestOf: (req: Req) => NativeRequest
  urlOf: (req: Req) => URL
  signalOf: (req: Req) => AbortSignal
  /** The arguments of `createContext`, in addition to the request. */
  createdOf: (req: Req) => Created
  /** The headers that `createContext` has set. */
  headersOf: (created: Created | undefined) => Headers | undefined
}

/** A procedure with a REST route. */
interface Exposed {
  /** `users.get` */
  path: string
  type: TRPCProcedureType
  method: string
  route: string
  /** Undefined if the procedure has no input. */
  read: InputReader | undefined
}

/** The procedure call of a request. */
interface Call<Created> {
  exposed: Exposed
  created?: Created
  info?: TRPCRequestInfo
  isRead?: true
  input?: unknown
  ctx?: unknown
  data?: unknown
}

/** The path of a request, and its parameters if it has the procedure's method. */
interface Match {
  path: string
  rawQuery: string
  allow: string
  found: { exposed: Exposed; params: readonly string[] } | undefined
}

/** The handler of a router's REST routes. */
export function coreOf<R extends AnyTRPCRouter, Req extends Incoming, NativeRequest, Created extends object>(
  router: R,
  { createContext, responseMeta, onError, maxBodySize }: RouterOptions<R, NativeRequest, Created>,
  { readBytes, hasDisconnected }: Transport<Req>,
  platform: Platform<Req, NativeRequest, Created>,
): Core<Req, Match> {
  const exposed = exposedOf(router)
  const routers = new Map<string, Instance<HTTPVersion.V1>>()
  for (const one of exposed) {
    // A slash at the end and the case of a path do not matter, and no length is too long.
    const options = { caseSensitive: false, ignoreTrailingSlash: true, maxParamLength: Number.MAX_SAFE_INTEGER }
    const ofMethod = routers.get(one.method) ?? findMyWay(options)
    routers.set(one.method, ofMethod)
    ofMethod.on('GET', pattern(one.route.replace(PARAMETER, '{}')), () => undefined, one)
  }
  const allowed = allowHeader([...routers.keys()])
  const limit = maxBodySize === undefined ? {} : { bodyLimit: maxBodySize }

  const find = (req: Req): Match | undefined => {
    const { path, rawQuery } = split(req.originalUrl)
    const relative = relativePath(path, req.baseUrl)
    const found = [...routers].flatMap(([method, ofMethod]) => {
      const one = relative.startsWith('/') ? ofMethod.find('GET', relative) : null
      const params = Object.values(one?.params ?? {}) as string[]
      return one === null || params.includes('') ? [] : [{ method, exposed: one.store as Exposed, params }]
    })
    if (found.length === 0) return undefined
    const own = found.find(({ method }) => method === methodOf(req.method))
    return { path, rawQuery, allow: allowHeader(found.map(({ method }) => method)), found: own }
  }

  const respond = async (req: Req, match: Match | undefined): Promise<Reply> => {
    let call: Call<Created> | undefined
    try {
      if (match !== undefined) checkTarget(req.originalUrl, match.path)
      const { allow = allowed, found } = match ?? {}
      if (match === undefined || req.method === 'OPTIONS') return makeReady({ status: 204, headers: { Allow: allow } })
      if (found === undefined) {
        throw new ApiError(405, `${req.method} is not allowed here, only ${allow}`, { headers: { Allow: allow } })
      }
      const { exposed, params } = found
      const { path, type, read } = exposed
      call = { exposed }
      const hasBody = METHODS_WITH_BODY.has(exposed.method)
      const body = hasBody ? await readJson(req, limit, readBytes) : undefined
      refuseDeepBody(body)
      const query = queryParameters(match.rawQuery)
      call.isRead = true
      call.input = read?.(params, query, body)
      const signal = platform.signalOf(req)
      if (createContext !== undefined) {
        const url = platform.urlOf(req)
        call.info = { isBatchCall: false, accept: null, calls: [], connectionParams: null, type, signal, url }
        call.created = platform.createdOf(req)
        call.ctx = await createContext({ req: platform.requestOf(req), info: call.info, ...call.created })
      }
      const { ctx, input } = call
      call.data = await callTRPCProcedure({
        router,
        path,
        type,
        ctx,
        getRawInput: async () => input,
        signal,
        batchIndex: 0,
      })
      return await amended(200, {}, call)
    } catch (error) {
      return failed(error, req, call)
    }
  }

  /** The response with what `createContext` and `responseMeta` set. */
  const amended = async (
    status: number,
    headers: Record<string, string>,
    call: Call<Created> | undefined,
    error?: TRPCError,
  ): Promise<Reply> => {
    const meta = await responseMeta?.({
      type: call?.exposed.type ?? 'unknown',
      paths: call && [call.exposed.path],
      ctx: call?.ctx as never,
      info: call?.info,
      data: [call?.data],
      errors: error === undefined ? [] : [error],
      eagerGeneration: true,
    })
    return makeReady({
      status: meta?.status ?? status,
      headers: { ...headers, ...valuesOf(platform.headersOf(call?.created), meta?.headers) },
      body: error === undefined ? call?.data : bodyOf(router, error, call),
    })
  }

  const failed = async (cause: unknown, req: Req, call?: Call<Created>): Promise<Reply> => {
    const report = (error: TRPCError) => {
      const { exposed, ctx, input } = call ?? {}
      const { type = 'unknown', path } = exposed ?? {}
      return observe(() => onError?.({ error, type, path, input, ctx: ctx as never, req: platform.requestOf(req) }))
    }
    try {
      const apiError = parserApiError(cause) ?? abortApiError(cause, hasDisconnected(req)) ?? toApiError(cause)
      const error = errorOf(apiError, call)
      await report(error)
      return await amended(apiError.status, apiError.headers, call, error)
    } catch (thrown) {
      // For example, a hook that throws.
      await report(toApiError(thrown))
      return FALLBACK_REPLY
    }
  }

  return {
    find,
    respond,
    notFound: (req) => failed(new ApiError(404, 'Path not found'), req),
    errorReply: (error, req) => failed(error, req),
    prepareError: (error) => async () =>
      makeReady({ status: error.status, headers: error.headers, body: bodyOf(router, error, undefined) }),
  }
}

interface ProcedureDef {
  type: TRPCProcedureType
  meta?: OpenApiMeta
  inputs: z.ZodType[]
}

function exposedOf(router: AnyTRPCRouter): Exposed[] {
  const procedures = Object.entries(router._def.procedures as Record<string, AnyTRPCProcedure>)
  return procedures.flatMap(([path, procedure]) => {
    const { type, meta, inputs } = procedure._def as unknown as ProcedureDef
    const openapi = meta?.openapi
    if (openapi === undefined || openapi.enabled === false) return []
    const { method, path: route } = openapi
    checkPath(path, route)
    const names = [...route.matchAll(PARAMETER)].map(([, name]) => name as string)
    const fields = Object.assign({}, ...inputs.map((input) => shapeOf(input)))
    const [first, ...others] = inputs
    const isVoid = first !== undefined && others.length === 0 && VOID.has(factsOf(first).type)
    const where = `${path}: ${method} ${route}`
    const read = isVoid ? undefined : inputReader(where, fields, names, METHODS_WITH_BODY.has(method))
    return { path, type, method, route, read }
  })
}

const VOID = new Set(['void', 'undefined', 'never'])

/** The TRPCError for the router's hooks and error formatter. */
function errorOf(error: ApiError, call: Call<unknown> | undefined): TRPCError {
  if (error.cause instanceof TRPCError) return error.cause
  const isUnread = call !== undefined && call.isRead === undefined
  if (error.status !== 400 || !isUnread || !METHODS_WITH_BODY.has(call.exposed.method)) return error
  return new TRPCError({ code: 'PARSE_ERROR', message: 'Failed to parse request body', cause: error })
}

function bodyOf(router: AnyTRPCRouter, error: TRPCError, call: Call<unknown> | undefined): unknown {
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

type HeaderValues = Record<string, string | string[]>

function valuesOf(...all: (Headers | Record<string, string | string[] | undefined> | undefined)[]): HeaderValues {
  const values: HeaderValues = {}
  for (const [name, value] of all.flatMap(entriesOf)) {
    const key = name.toLowerCase()
    if (value === undefined || key === 'content-length') continue
    // `Headers` yields each cookie as a separate entry.
    values[key] = key === 'set-cookie' ? [values[key] ?? [], value].flat() : value
  }
  const { 'content-type': type, ...others } = values
  return type === undefined ? others : { ...others, 'Content-Type': type }
}

function entriesOf(headers: Headers | Record<string, string | string[] | undefined> = {}) {
  return headers instanceof Headers ? [...headers] : Object.entries(headers)
}
