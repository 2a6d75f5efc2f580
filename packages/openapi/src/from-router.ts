import {
  type AnyTRPCProcedure,
  type AnyTRPCRouter,
  getTRPCErrorFromUnknown,
  getTRPCErrorShape,
  type inferRouterContext,
  TRPCError,
} from '@trpc/server'
import type { TRPCRequestInfo } from '@trpc/server/http'
import type { Request as ExpressRequest, Response as ExpressResponse } from 'express'
import { generateOpenApiDocument, type OpenAPIObject, type OpenApiMeta } from 'trpc-openapi'
import { z } from 'zod'
import type { ApiError } from './api-error.ts'
import { METHODS_WITH_BODY, PARAMETER, type ResolvedBinding } from './bindings.ts'
import type { Contract, EnvelopeForm, ErrorForm, Procedure, RestMeta } from './contract.ts'
import { type CoreOverrides, createCore, type ServeOptions } from './core.ts'
import { EXPRESS, type ExpressHandlers, toExpress } from './express.ts'
import { FETCH, type FetchRequest, toFetch } from './fetch.ts'
import type { Awaitable } from './hook.ts'
import type { Operation } from './implement.ts'
import { type Incoming, type Parameter, pathInput } from './request.ts'
import { factsOf, shapeOf } from './schema.ts'
import { signalOf } from './signal.ts'

export type { OpenApiMeta }

type ProcedureType = 'query' | 'mutation'

/** A call as hooks see it. Values that do not exist yet are undefined. */
interface HookCall<R extends AnyTRPCRouter> {
  type: ProcedureType | 'unknown'
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

/** The arguments of `createContext` on Express, in addition to the request. */
interface ExpressReply {
  res: ExpressResponse
}

/** The arguments of `createContext` in the fetch handler, in addition to the request. */
interface FetchReply {
  /** Headers to send with the response. */
  resHeaders: Headers
}

export interface ServedRouter<R extends AnyTRPCRouter> {
  /** Creates Express handlers, like `rest`. */
  express: (options?: RouterOptions<R, ExpressRequest, ExpressReply>) => ExpressHandlers
  /**
   * Creates a function from `Request` to `Response`, like `fetchHandler`.
   *
   * @param options `prefix`: the path under which the router is served
   */
  fetch: (
    options?: RouterOptions<R, Request, FetchReply> & { prefix?: `/${string}` },
  ) => (request: Request) => Promise<Response>
  /** The OpenAPI document of the router, from trpc-openapi's generator. */
  document: (options: Parameters<typeof generateOpenApiDocument>[1]) => OpenAPIObject
}

/**
 * Serves a tRPC router whose procedures have trpc-openapi's `meta.openapi`, without changes to the router. The procedures
 * validate their input, as over tRPC. Errors have trpc-openapi's form `{ message, code, issues }`, in addition to the
 * fields of the router's error formatter.
 *
 * @throws TRPCError that names the procedure, if trpc-openapi's generator cannot describe the router
 */
export function fromRouter<R extends AnyTRPCRouter>(router: R): ServedRouter<R> {
  generateOpenApiDocument(router as never, { title: '', version: '', baseUrl: '/' })
  return {
    express: (options = {}) =>
      toExpress(
        coreOf<R, ExpressRequest, ExpressRequest, ExpressReply>(router, options, EXPRESS, {
          requestOf: (req) => req,
          urlOf: (req) => new URL(req.originalUrl, 'http://localhost'),
          signalOf,
          replyOf: ({ res }) => ({ res: res as ExpressResponse }),
          headersOf: () => undefined,
        }),
      ),
    fetch: ({ prefix, ...options } = {}) =>
      toFetch(
        coreOf<R, FetchRequest, Request, FetchReply>(router, options, FETCH, {
          requestOf: ({ request }) => request,
          urlOf: ({ request }) => new URL(request.url),
          signalOf: ({ request }) => request.signal,
          replyOf: () => ({ resHeaders: new Headers() }),
          headersOf: (reply) => reply?.resHeaders,
        }),
        prefix,
      ),
    document: (options) => generateOpenApiDocument(router as never, options),
  }
}

/** Maps the core's requests to those of a platform. */
interface Platform<Req, NativeRequest, Reply> {
  requestOf: (req: Req) => NativeRequest
  urlOf: (req: Req) => URL
  signalOf: (req: Req) => AbortSignal
  replyOf: (req: Req) => Reply
  /** The headers that `createContext` has set. */
  headersOf: (reply: Reply | undefined) => Headers | undefined
}

/** The procedure call of a request. */
interface Call<Req, Reply> {
  req: Req
  exposed: Exposed
  reply?: Reply
  info?: TRPCRequestInfo
  input?: unknown
  ctx?: unknown
  data?: unknown
}

/** tRPC's `info` argument of `createContext`. Creates the signal and the URL only on access. */
class Info implements TRPCRequestInfo {
  readonly isBatchCall = false
  readonly accept = null
  readonly calls = []
  readonly connectionParams = null
  readonly type: ProcedureType
  readonly #signal: () => AbortSignal
  readonly #url: () => URL

  constructor(type: ProcedureType, signal: () => AbortSignal, url: () => URL) {
    this.type = type
    this.#signal = signal
    this.#url = url
  }

  get signal(): AbortSignal {
    return this.#signal()
  }

  get url(): URL {
    return this.#url()
  }
}

function coreOf<R extends AnyTRPCRouter, Req extends Incoming, NativeRequest, Reply extends object>(
  router: R,
  { createContext, responseMeta, onError, maxBodySize }: RouterOptions<R, NativeRequest, Reply>,
  transport: Parameters<typeof createCore<unknown, Req>>[3],
  platform: Platform<Req, NativeRequest, Reply>,
) {
  const exposed = exposedOf(router)
  const byName = new Map(exposed.map((one) => [`${RESOURCE}.${one.path}`, one]))
  // A property of the request: WeakMap entries cost the garbage collector more than the rest of a small request.
  const CALL = Symbol('call')
  type RequestWithCall = Req & { [CALL]?: Call<Req, Reply> }

  const options: ServeOptions<Call<Req, Reply>, Req> = {
    envelope: NO_ENVELOPE,
    context: (req: RequestWithCall, [name]) => {
      const call: Call<Req, Reply> = { req, exposed: byName.get(name as string) as Exposed }
      req[CALL] = call
      return call
    },
    onError: (apiError, req: RequestWithCall) => {
      const call = req[CALL]
      const { exposed, ctx, input } = call ?? {}
      return onError?.({
        error: errorOf(apiError, call),
        type: exposed?.type ?? 'unknown',
        path: exposed?.path,
        input,
        ctx: ctx as never,
        req: platform.requestOf(req),
      })
    },
  }

  const run = async (input: unknown, call: Call<Req, Reply>): Promise<unknown> => {
    const { req, exposed } = call
    const { path, type, procedure } = exposed
    call.input = exposed.isVoid ? undefined : exposed.revive(input)
    if (createContext !== undefined) {
      call.info = new Info(
        type,
        () => platform.signalOf(req),
        () => platform.urlOf(req),
      )
      call.reply = platform.replyOf(req)
      call.ctx = await createContext({ req: platform.requestOf(req), info: call.info, ...call.reply })
    }
    call.data = await procedure({
      path,
      type,
      ctx: call.ctx,
      input: undefined,
      getRawInput: async () => call.input,
      signal: () => platform.signalOf(req),
    })
    return call.data
  }

  const amend: CoreOverrides<Req>['amend'] = async (answer, req: RequestWithCall, apiError) => {
    const call = req[CALL]
    const error = apiError && errorOf(apiError, call)
    if (error === undefined && responseMeta === undefined && call?.reply === undefined) return answer
    const type = call?.exposed.type ?? 'unknown'
    const meta = await responseMeta?.({
      type,
      paths: call && [call.exposed.path],
      ctx: call?.ctx as never,
      info: call?.info,
      data: [call?.data],
      errors: error === undefined ? [] : [error],
      eagerGeneration: true,
    })
    return {
      status: meta?.status ?? answer.status,
      headers: { ...answer.headers, ...valuesOf(platform.headersOf(call?.reply), meta?.headers) },
      body: error === undefined ? answer.body : bodyOf(router, error, call),
    }
  }

  const contract = contractOf(exposed, maxBodySize)
  const operations = exposed.map(
    (one): Operation<Call<Req, Reply>> => ({
      name: `${RESOURCE}.${one.path}`,
      resource: contract[RESOURCE] as Contract[string],
      procedure: contract[RESOURCE]?.procedures[one.path] as Procedure,
      headers: [],
      call: run,
      admit: () => undefined,
      findMissing: async () => undefined,
    }),
  )
  return createCore(contract, operations, options, transport, { gather, amend })
}

// One resource for all procedures: their names come from the router.
const RESOURCE = 'router'

/** A procedure with a REST route. */
interface Exposed {
  /** `users.get` */
  path: string
  type: ProcedureType
  procedure: (call: ProcedureCall) => Promise<unknown>
  openapi: RestMeta
  /** The input fields. */
  fields: Record<string, z.ZodType>
  /** Whether the procedure has no input. */
  isVoid: boolean
  /** Converts text and numbers in an input to dates and bigints, which JSON cannot represent. */
  revive: (input: unknown) => unknown
}

function exposedOf(router: AnyTRPCRouter): Exposed[] {
  const procedures = Object.entries(router._def.procedures as Record<string, AnyTRPCProcedure>)
  return procedures.flatMap(([path, procedure]) => {
    const { type, meta, inputs } = procedure._def as unknown as ProcedureDef
    const openapi = meta?.openapi
    if (openapi === undefined || openapi.enabled === false) return []
    const fields = Object.assign({}, ...inputs.map((input) => shapeOf(input)))
    const [first, ...others] = inputs
    return {
      path,
      type,
      procedure: callerOf(procedure),
      openapi: openapi as RestMeta,
      fields,
      isVoid: first !== undefined && others.length === 0 && VOID.has(factsOf(first).type),
      revive: reviverOf(z.object(fields)) ?? ((input: unknown) => input),
    }
  })
}

interface ProcedureDef {
  type: ProcedureType
  meta?: OpenApiMeta
  inputs: z.ZodType[]
  middlewares?: ((step: object) => Promise<Result>)[]
  experimental_caller?: boolean
}

/** The arguments of a procedure's step; a step may change them for the next ones. */
interface ProcedureCall {
  path: string
  type: ProcedureType
  ctx: unknown
  input: unknown
  getRawInput: () => Promise<unknown>
  signal: () => AbortSignal
}

type Result = { ok: true; data: unknown } | { ok: false; error: TRPCError }

/**
 * Runs a procedure's parsers, middlewares and resolver. tRPC's caller copies the call at each step and always creates a
 * signal, which costs more than the rest of a small request. It is used only if a procedure has no list of steps, or has
 * an experimental caller.
 */
function callerOf(procedure: AnyTRPCProcedure): Exposed['procedure'] {
  const { middlewares: steps, meta, experimental_caller: hasOwnCaller } = procedure._def as unknown as ProcedureDef
  if (steps === undefined || hasOwnCaller) {
    const run = procedure as unknown as (call: object) => Promise<unknown>
    return (call) => run({ ...call, signal: call.signal(), batchIndex: 0 })
  }
  const run = async (index: number, call: ProcedureCall): Promise<Result> => {
    const next = (changed: Partial<ProcedureCall> = {}) => {
      const { path, type, ctx, getRawInput, signal } = call
      return run(index + 1, {
        path,
        type,
        ctx: changed.ctx ? { ...(ctx as object), ...changed.ctx } : ctx,
        input: 'input' in changed ? changed.input : call.input,
        getRawInput: changed.getRawInput ?? getRawInput,
        signal,
      })
    }
    try {
      return await (steps[index] as (typeof steps)[number])(new Step(call, meta, next))
    } catch (cause) {
      return { ok: false, error: getTRPCErrorFromUnknown(cause) }
    }
  }
  return async (call) => {
    const result = (await run(0, call)) as Result | undefined
    if (result === undefined) throw new Error(`${call.path}: a middleware must return the result of next()`)
    if (!result.ok) throw result.error
    return result.data
  }
}

/** The argument of a step, with the properties that tRPC passes. */
class Step {
  readonly path: string
  readonly type: ProcedureType
  readonly ctx: unknown
  readonly input: unknown
  readonly getRawInput: () => Promise<unknown>
  readonly meta: unknown
  readonly next: (changed?: Partial<ProcedureCall>) => Promise<Result>
  readonly batchIndex = 0
  readonly #signal: () => AbortSignal

  constructor(call: ProcedureCall, meta: unknown, next: Step['next']) {
    this.path = call.path
    this.type = call.type
    this.ctx = call.ctx
    this.input = call.input
    this.getRawInput = call.getRawInput
    this.meta = meta
    this.next = next
    this.#signal = call.signal
  }

  // A getter of the class: V8 creates a hidden class for each object with its own getter.
  get signal(): AbortSignal {
    return this.#signal()
  }
}

const VOID = new Set(['void', 'undefined', 'never'])

/** A contract with the routes of a router's procedures and the schemas for reading their parameters. */
function contractOf(exposed: Exposed[], bodyLimit: number | undefined): Contract {
  const procedures = exposed.map(({ path, type, openapi, fields }): [string, Procedure] => {
    const { method, path: route } = openapi
    const inPath = new Set([...route.matchAll(PARAMETER)].map(([, name]) => name))
    const isRead = (name: string) => inPath.has(name) || !METHODS_WITH_BODY.has(method)
    const read = Object.entries(fields).filter(([name]) => isRead(name))
    const input = z.object(Object.fromEntries(read.map(([name, schema]) => [name, asText(schema)])))
    const binding = { method, path: route, ...(bodyLimit !== undefined && { bodyLimit }) }
    return [path, { type, access: 'reader', input, output: z.unknown(), meta: { openapi: binding } }]
  })
  const resource = { tag: '', description: '', errorForm: NO_FORM, procedures: Object.fromEntries(procedures) }
  return { [RESOURCE]: resource }
}

// `amend` creates the body of every response.
const NO_FORM: ErrorForm = { schema: z.unknown(), body: () => undefined }
const NO_ENVELOPE: EnvelopeForm = { schema: (data) => data, success: (data) => data, error: NO_FORM }

/** The schema for reading a parameter. Types that the procedure creates from text stay text. */
function asText(schema: z.ZodType): z.ZodType {
  const { type, element } = factsOf(schema)
  if (element !== undefined) return z.array(asText(element))
  return FROM_TEXT.has(type) ? z.unknown() : schema
}

const FROM_TEXT = new Set(['date', 'bigint', 'transform'])

type Reviver = (value: unknown) => unknown

const REVIVERS: Record<string, Reviver> = {
  date: (value) => {
    if (typeof value !== 'string' && typeof value !== 'number') return value
    const date = new Date(value)
    return Number.isNaN(date.getTime()) ? value : date
  },
  bigint: (value) => (/^-?\d+$/.test(String(value)) && typeof value !== 'object' ? BigInt(String(value)) : value),
}

function reviverOf(schema: z.ZodType): Reviver | undefined {
  const { core, type, element } = factsOf(schema)
  if (core instanceof z.ZodLazy) {
    let made: Reviver | undefined
    // Resolved on first use, because the schema may be recursive.
    return (value) => {
      made ??= reviverOf(core.unwrap() as z.ZodType) ?? ((same) => same)
      return made(value)
    }
  }
  if (element !== undefined) {
    const revive = reviverOf(element)
    return revive && ((value) => (Array.isArray(value) ? value.map(revive) : value))
  }
  if (!(core instanceof z.ZodObject)) return REVIVERS[type]
  const fields = Object.entries(core.shape).flatMap(([name, field]) => {
    const revive = reviverOf(field as z.ZodType)
    return revive === undefined ? [] : ([[name, revive]] as const)
  })
  if (fields.length === 0) return undefined
  return (value) => {
    if (typeof value !== 'object' || value === null) return value
    const revived = { ...value } as Record<string, unknown>
    for (const [name, revive] of fields) if (Object.hasOwn(value, name)) revived[name] = revive(revived[name])
    return revived
  }
}

/** Passes the whole body or query string to the procedure, whose parser handles unknown fields. */
function gather(
  resolved: ResolvedBinding,
  params: readonly string[],
  query: readonly Parameter[],
  body: unknown,
): unknown {
  const input = resolved.body === undefined ? queryInput(resolved, query) : Array.isArray(body) ? {} : (body as object)
  return { ...input, ...pathInput(resolved, params) }
}

function queryInput(resolved: ResolvedBinding, query: readonly Parameter[]): Record<string, unknown> {
  const given = new Map<string, string[]>()
  for (const [name, text] of query) {
    const texts = given.get(name)
    if (texts === undefined) given.set(name, [text])
    else texts.push(text)
  }
  return Object.fromEntries(
    [...given].map(([name, texts]) => {
      const source = resolved.query.find((one) => one.name === name)
      const isRead = source !== undefined && (source.isList || texts.length === 1)
      return [name, isRead ? source.read(texts) : texts.length === 1 ? texts[0] : texts]
    }),
  )
}

/** The TRPCError for the router's hooks and error formatter. */
function errorOf(error: ApiError, call: Call<unknown, unknown> | undefined): TRPCError {
  if (error.cause instanceof TRPCError) return error.cause
  const isUnread = call !== undefined && !('input' in call)
  if (error.status !== 400 || !isUnread || !METHODS_WITH_BODY.has(call.exposed.openapi.method)) return error
  return new TRPCError({ code: 'PARSE_ERROR', message: 'Failed to parse request body', cause: error })
}

function bodyOf(router: AnyTRPCRouter, error: TRPCError, call: Call<unknown, unknown> | undefined): unknown {
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
