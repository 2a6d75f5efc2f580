import { z } from 'zod'
import { checkAccept, wantsStream } from './accept.ts'
import { ApiError, type Fault, toApiError } from './api-error.ts'
import { ENVELOPE, resolveBindings } from './bindings.ts'
import { explainWeakTags } from './conditions.ts'
import type { Binding, Contract, EnvelopeForm, ErrorForm, OpenStream, Parts } from './contract.ts'
import { FieldError, list } from './field-error.ts'
import { type Awaitable, isPromise, observe } from './hook.ts'
import type { Operation } from './implement.ts'
import { INCLUDE } from './included.ts'
import { type ReadBytes, readJson, refuseDeepBody } from './json-body.ts'
import { FIELDS } from './picked-fields.ts'
import { acceptsProblem, PROBLEM, PROBLEM_TYPE } from './problem-details.ts'
import { type Included, shownWith, withIncluded } from './referenced-records.ts'
import { callerPaths, gatherInput, type Incoming, pathInput } from './request.ts'
import { type Answer, answer, makeReady, type Ready } from './response.ts'
import { errorForms, find, methodNotAllowed, methodOf, type Parent, type RouteMatch, route } from './routes.ts'
import { abortApiError } from './signal.ts'
import { checkTarget, fieldApiError, type Parameter, queryParameters, relativePath, split, valuesOf } from './target.ts'
import { prefersStrict } from './unknown-fields.ts'

/** How the core reads the requests of a platform. */
export interface Transport<Req> {
  readBytes: ReadBytes<Req>
  /** Whether the client is known to have disconnected. */
  hasDisconnected: (req: Req) => boolean
}

/** How to serve tRPC over HTTP. */
interface TrpcOptions {
  /** The path of the endpoint. Default: `/trpc`. */
  path?: `/${string}`
  /** The largest request body, in bytes. Default: 1 MiB. */
  bodyLimit?: number
  /** The maximum number of calls in one request. Default: 50. */
  maxCalls?: number
  /** The maximum number of records in lists in all mutations of one request. Default: no limit. */
  maxRecords?: number
}

export interface ServeOptions<Context, Req> {
  /** The format of responses to requests with `?envelope=true`. Default: the parameter has no meaning. */
  envelope?: EnvelopeForm | undefined
  /**
   * Creates the context. An error that it throws or rejects with, such as a 401, becomes the response. Returning a value
   * instead of a promise is faster.
   *
   * @param procedures the procedures that the request calls: `users.get`; over tRPC, as sent
   * @param route the path in the contract: `/users/{user_id}`; over tRPC, the path of the endpoint
   */
  context: (req: Req, procedures: readonly string[], route: string) => Awaitable<Context>
  /** The id of the request in the log. The message of a 500 contains it. */
  requestId?: (req: Req) => Awaitable<string>
  /** Headers of every response. An error that it throws or rejects with becomes the response, without these headers. */
  headers?: (req: Req) => Awaitable<Record<string, string>>
  /** Called with each error before the response. An error that it throws or rejects with becomes a process warning. */
  onError?: (error: ApiError, req: Req) => Awaitable<void>
  /** Whether and how to serve the procedures to tRPC's clients, too. `{}` for the defaults. */
  trpc?: TrpcOptions
  /**
   * Resolves when a batch that has taken some milliseconds may go on. Without it, batches go on in each turn of the event loop,
   * and those of one caller delay others by their sum.
   */
  turn?: ((req: Req) => Promise<void>) | undefined
}

/** A complete response. */
export interface Reply extends Ready {
  /** Headers of every response. Those of the response itself take precedence. */
  commonHeaders?: Record<string, string> | undefined
  /** The body in parts, in place of `text`: as they become available, or of a large response. */
  parts?: Parts
}

export interface Core<Req> {
  /** The function that responds to a request, and never rejects; undefined if the path is not in the contract. */
  find: (req: Req) => (() => Promise<Reply>) | undefined
  /**
   * The 404 for a request that no handler accepted. Never rejects.
   *
   * @param base the mount path of the contract, if it differs from the request's `baseUrl`
   */
  notFound: (req: Req, base?: string) => Promise<Reply>
  /** The response for an error, in the error form of the route. Never rejects. */
  errorReply: (error: unknown, req: Req, base?: string) => Promise<Reply>
}

interface ContractCore<Req> extends Core<Req> {
  /** A fixed error response, prepared once per error form. It contains no details of the request. */
  prepareError: (error: ApiError) => (req: Req, url: string) => Promise<Reply>
}

/**
 * The platform-independent REST handler of a contract. Compiles the routes once.
 */
export function createCore<Context, Req extends Incoming>(
  contract: Contract,
  operations: Operation<Context>[],
  options: ServeOptions<Context, Req>,
  { readBytes, hasDisconnected }: Transport<Req>,
): ContractCore<Req> {
  const hasEnvelope = options.envelope !== undefined
  const all = resolveBindings(contract, hasEnvelope)
  const { router, allow } = route(all, operations)
  const formOf = errorForms(all, router, options.envelope?.error ?? PLAIN_ERROR)

  const respond = async (req: Req, match: RouteMatch | undefined, path: string, rawQuery: string): Promise<Reply> => {
    try {
      if (match === undefined) return await reply(req, { status: 204, headers: { Allow: allow } })
      const { entry, params } = match
      checkTarget(req.originalUrl, path)
      if (req.method === 'OPTIONS') return await reply(req, { status: 204, headers: { Allow: entry.allow } })
      const method = methodOf(req.method)
      const endpoint = entry.methods.get(method)
      if (endpoint === undefined) throw methodNotAllowed(req.method, entry.allow)
      let { resolved } = endpoint
      const operation = endpoint.operation as Operation<Context>
      const created = options.context(req, endpoint.procedures, resolved.binding.path)
      const context = isPromise(created) ? await created : created
      const admitted = operation.admit(context)
      if (isPromise(admitted)) await admitted
      const body = resolved.body && (await readJson(req, resolved.binding, readBytes))
      let query: readonly Parameter[]
      let envelope: EnvelopeForm | undefined
      let input: unknown
      let references: readonly Included[] = []
      let isStrict = false
      let isStream = false
      let stream: Parts | undefined
      try {
        query = queryParameters(rawQuery)
        refuseDeepBody(body)
        isStream = wantsStream(req, resolved.binding.stream)
        if (!isStream) checkAccept(req)
        if (hasEnvelope && isEnvelopeRequested(valuesOf(query, ENVELOPE)[0])) envelope = options.envelope
        if (resolved.picker !== undefined && query.length > 0) {
          const [fields] = valuesOf(query, FIELDS)
          if (fields !== undefined) resolved = { ...resolved, ...resolved.picker.pick(fields) }
        }
        if (resolved.includer !== undefined && query.length > 0) {
          const [include] = valuesOf(query, INCLUDE)
          const names = include === undefined ? [] : resolved.includer.choose(include)
          references = endpoint.references.filter(({ name }) => names.includes(name))
        }
        isStrict = prefersStrict(req.headers)
        input = gatherInput(resolved, params, query, req.headers, body)
      } catch (error) {
        throw (await operation.findMissing(pathInput(resolved, params), context)) ?? error
      }
      // The answer to a HEAD has the headers of the stream, which is not opened.
      const isOpened = isStream && req.method !== 'HEAD'
      const open: OpenStream = (parts) => {
        stream = parts
      }
      let output: unknown
      try {
        output = await operation.call(input, context, {
          shown: references.length === 0 ? resolved.shown : shownWith(resolved.shown, references),
          parse: resolved.parse,
          fromText: resolved.fromText,
          isStrict,
          answered: resolved.answered,
          open: isOpened ? open : undefined,
        })
      } catch (error) {
        const moved = error instanceof FieldError ? error.withPaths(callerPaths(resolved, body)) : error
        const isInvalid = error instanceof ApiError && error.status === 400
        const missing = isInvalid ? await findParents(endpoint.parents, input, context).catch(toApiError) : undefined
        throw missing?.status === 404 ? missing : explainWeakTags(moved, req.headers)
      }
      if (endpoint.parents.length > 0) await findParents(endpoint.parents, input, context)
      if (references.length > 0) {
        const { responseBody } = resolved.binding
        const given = responseBody === undefined ? output : (output as Record<string, unknown>)[responseBody]
        resolved = { ...resolved, ...(await withIncluded(resolved, given, references, context)) }
      }
      if (isStream && (!isOpened || stream !== undefined)) {
        const { mediaType, headers } = resolved.binding.stream as NonNullable<Binding['stream']>
        const begun = await reply(req, { status: 200, headers: { 'Content-Type': mediaType, ...headers } })
        return stream === undefined ? begun : { ...begun, parts: stream }
      }
      const ifNoneMatch = method === 'GET' ? req.headers['if-none-match'] : undefined
      const given = answer(resolved, { input, output, path, query }, envelope, ifNoneMatch, req.baseUrl)
      const replied = reply(req, given)
      return isPromise(replied) ? await replied : replied
    } catch (error) {
      return errorReply(error, req)
    }
  }

  const notFound = async (req: Req, base?: string): Promise<Reply> => {
    try {
      checkTarget(req.originalUrl, split(req.originalUrl).path)
      throw new ApiError(404, 'Path not found')
    } catch (error) {
      return errorReply(error, req, base)
    }
  }

  const reply = (req: Req, answer: Answer): Awaitable<Reply> => {
    const reply: Reply = makeReady(answer)
    const headers = options.headers?.(req)
    const withHeaders = (commonHeaders: Record<string, string> | undefined) => {
      reply.commonHeaders = commonHeaders
      return reply
    }
    return isPromise(headers) ? headers.then(withHeaders) : withHeaders(headers)
  }

  const errorReply = async (error: unknown, req: Req, base = req.baseUrl): Promise<Reply> => {
    try {
      return await formatError(error, req, base)
    } catch (thrown) {
      // For example, an error form that throws.
      await observe(() => options.onError?.(toApiError(thrown), req))
      return FALLBACK_REPLY
    }
  }

  const formatError = async (error: unknown, req: Req, base: string): Promise<Reply> => {
    let apiError = parserApiError(error) ?? abortApiError(error, hasDisconnected(req)) ?? toApiError(error)
    let commonHeaders: Record<string, string> | undefined
    try {
      commonHeaders = await options.headers?.(req)
    } catch (thrown) {
      apiError = toApiError(thrown)
    }
    await observe(() => options.onError?.(apiError, req))
    const { status, fields, headers, reason, data } = apiError
    const message = status === 500 ? `Internal server error${await idOf(req)}` : apiError.message
    const faults = fields.map(({ field, message }) => `${field} ${message}`.trim())
    const details = list(faults, '; ') || `${req.method} ${truncated(split(req.originalUrl).path)}`
    const fault = { status, message, details, fields, reason, data }
    return { ...errorReady(formFor(req, req.originalUrl, base), fault, headers), commonHeaders }
  }

  const idOf = async (req: Req): Promise<string> => {
    try {
      return options.requestId === undefined ? '' : ` (request ${await options.requestId(req)})`
    } catch {
      return ''
    }
  }

  const formFor = ({ method, headers }: Req, url: string, base = ''): ErrorBody => {
    const isWrapped = isEnveloped(url)
    if (isWrapped && options.envelope !== undefined) return options.envelope.error
    if (!isWrapped && acceptsProblem(headers.accept)) return PROBLEM
    return formOf(method, relativePath(split(url).path, base))
  }

  const prepareError = ({ status, message, fields, headers, reason }: ApiError) => {
    const answers = new Map<ErrorBody, Ready>()
    return async (req: Req, url: string): Promise<Reply> => {
      const form = formFor(req, url)
      let answer = answers.get(form)
      if (answer === undefined) {
        answer = errorReady(form, { status, message, details: '', fields, reason }, headers)
        answers.set(form, answer)
      }
      try {
        const headers = options.headers?.(req)
        return { ...answer, commonHeaders: isPromise(headers) ? await headers : headers }
      } catch {
        // Send the prepared response without the common headers.
        return answer
      }
    }
  }

  return {
    find: (req) => {
      const { path, rawQuery } = split(req.originalUrl)
      const match = find(router, relativePath(path, req.baseUrl))
      // The target `*` stands for all paths.
      const isAsked = match !== undefined || (req.originalUrl === '*' && req.method === 'OPTIONS')
      return isAsked ? () => respond(req, match, path, rawQuery) : undefined
    },
    notFound,
    errorReply,
    prepareError,
  }
}

type ErrorBody = Pick<ErrorForm, 'body'>

function errorReady(form: ErrorBody, fault: Fault, headers: Record<string, string>): Ready {
  const own = form === PROBLEM ? { ...headers, 'Content-Type': PROBLEM_TYPE } : headers
  return makeReady({ status: fault.status, headers: own, body: form.body(fault) })
}

/** The response if formatting an error fails. */
export const FALLBACK_REPLY: Reply = makeReady({ status: 500, headers: {}, body: { error: 'Internal server error' } })

const PARSER_MESSAGES: Record<number, string> = {
  400: 'Body is not valid JSON',
  413: 'Body is too large',
  415: 'A body must be sent as Content-Type: application/json, in UTF-8',
}

// Errors of Express for a path, and of its body parsers. The messages of the parsers quote the body, so they are replaced.
export function parserApiError(error: unknown): ApiError | undefined {
  if (error instanceof URIError) return new ApiError(400, 'Malformed percent-escape in the path', { cause: error })
  const { status, type } = (error ?? {}) as { status?: number; type?: unknown }
  const message = typeof type === 'string' ? PARSER_MESSAGES[status as number] : undefined
  return message === undefined ? undefined : new ApiError(status as 400, message, { cause: error })
}

/** The error form of paths outside all resources, without an envelope. */
const PLAIN_ERROR: ErrorForm = { schema: z.object({ error: z.string() }), body: ({ message }) => ({ error: message }) }

const ENVELOPE_ASKED = /(?:^|&)envelope=true(?:&|$)/

function isEnveloped(url: string): boolean {
  const { rawQuery } = split(url)
  if (!rawQuery.includes('%')) return ENVELOPE_ASKED.test(rawQuery)
  return new URLSearchParams(rawQuery).getAll(ENVELOPE).includes('true')
}

function isEnvelopeRequested(value: string | undefined): boolean {
  if (value === undefined || value === 'false') return false
  if (value === 'true') return true
  throw fieldApiError(ENVELOPE, 'must be true or false')
}

function truncated(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path
}

/** @throws ApiError 404 if one of the records that the path is under does not exist */
async function findParents<Context>(parents: readonly Parent[], input: unknown, context: Context): Promise<void> {
  for (const { operation: parent, field, from } of parents) {
    const named = { [field]: (input as Record<string, unknown>)[from] }
    await (parent as Operation<Context>).call(named, context, { shown: [field] })
  }
}
