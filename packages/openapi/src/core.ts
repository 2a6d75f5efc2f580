import { ApiError, toApiError } from './api-error.ts'
import { ENVELOPE, type ResolvedBinding, resolveBindings } from './bindings.ts'
import type { Contract, EnvelopeForm, ErrorForm } from './contract.ts'
import { FieldError, list } from './field-error.ts'
import { type Awaitable, isPromise, observe } from './hook.ts'
import type { Operation } from './implement.ts'
import {
  callerPaths,
  checkAccept,
  checkTarget,
  fieldApiError,
  gatherInput,
  type Incoming,
  type Parameter,
  pathInput,
  queryParameters,
  type ReadBytes,
  readJson,
  split,
  valuesOf,
} from './request.ts'
import { type Answer, answer, makeReady, type Ready } from './response.ts'
import { errorForms, type Found, find, methodOf, route } from './routes.ts'
import { abortApiError } from './signal.ts'

/** What a handler brings to the core: how its requests are read. */
export interface Transport<Req> {
  readBytes: ReadBytes<Req>
  /** Whether the caller has gone, as far as anybody has asked. */
  hasGone: (req: Req) => boolean
}

export interface RestOptions<Context, Req> {
  envelope: EnvelopeForm
  /**
   * What it throws or rejects with, such as a ApiError 401, is the answer. What is at hand is better given than promised:
   * that is faster.
   *
   * @param procedures `users.get`: what the request calls
   * @param route the path as the contract has it: `/users/{user_id}`
   */
  context: (req: Req, procedures: readonly string[], route: string) => Awaitable<Context>
  /** Text that identifies the request in the log; a 500 carries it. */
  requestId?: (req: Req) => Awaitable<string>
  /** Headers that every answer carries. What it throws or rejects with is answered without them. */
  headers?: (req: Req) => Awaitable<Record<string, string>>
  /** Told of each error before it is answered. What it throws or rejects with becomes a warning of the process. */
  onError?: (problem: ApiError, req: Req) => Awaitable<void>
}

/** How requests are read and answered where that is not this package's own way. */
export interface Manner<Req> {
  /** The input of an operation, from what the request carries. */
  gather: (resolved: ResolvedBinding, params: readonly string[], query: readonly Parameter[], body: unknown) => unknown
  /** Has the last word on an answer. */
  amend: (answer: Answer, req: Req, problem?: ApiError) => Awaitable<Answer>
}

/** An answer that is ready to be written. */
export interface Reply extends Ready {
  /** Headers that stand before the answer's own. */
  everywhere?: Record<string, string> | undefined
}

export interface Core<Req> {
  /** What stands at the path of a request; undefined where nothing of the contract does. */
  find: (req: Req) => Located | undefined
  /** Answers a request, whose path was found, or whose target is `*`. Never rejects. */
  respond: (req: Req, located: Located | undefined) => Promise<Reply>
  /**
   * Answers a request that nothing took, with a 404. Never rejects.
   *
   * @param base where the contract is mounted, where that is not where the request has come to
   */
  refuse: (req: Req, base?: string) => Promise<Reply>
  /** Answers a request with an error, in the form of the binding its path belongs to. Never rejects. */
  fail: (error: unknown, req: Req, base?: string) => Promise<Reply>
  /** The same for an error that is the same for every request, made once for each form: it says nothing of the request. */
  ready: (problem: ApiError) => (req: Req, url: string) => Promise<Reply>
}

/** A request's target, and what stands there. */
export interface Located extends Found {
  path: string
  rawQuery: string
}

/**
 * The REST surface of a contract whose operations are implemented, whatever brings its requests. Routes are compiled here,
 * once.
 */
export function createCore<Context, Req extends Incoming>(
  contract: Contract,
  operations: Operation<Context>[],
  options: RestOptions<Context, Req>,
  { readBytes, hasGone }: Transport<Req>,
  manner?: Manner<Req>,
): Core<Req> {
  const all = resolveBindings(contract, manner === undefined)
  const { router, ofMethod, allow } = route(all, operations, manner !== undefined)
  const formOf = errorForms(all, router, options.envelope.error)

  const located = (req: Req): Located | undefined => {
    const { path, rawQuery } = split(req.originalUrl)
    const within = inside(path, req.baseUrl)
    let found = find(router, within)
    if (ofMethod.size > 0 && found?.entry.methods.has(methodOf(req.method)) === false) {
      const other = ofMethod.get(methodOf(req.method))
      found = (other && find(other, within)) ?? found
    }
    return found && { path, rawQuery, entry: found.entry, params: found.params }
  }

  const respond = async (req: Req, located: Located | undefined): Promise<Reply> => {
    try {
      if (located === undefined) return await reply(req, { status: 204, headers: { Allow: allow } })
      const { path, rawQuery, entry, params } = located
      checkTarget(req.originalUrl, path)
      if (req.method === 'OPTIONS') return await reply(req, { status: 204, headers: { Allow: entry.allow } })
      const method = methodOf(req.method)
      const endpoint = entry.methods.get(method)
      if (endpoint === undefined) {
        throw new ApiError(405, `${req.method} is not allowed here, only ${entry.allow}`, {
          headers: { Allow: entry.allow },
        })
      }
      const { resolved } = endpoint
      const operation = endpoint.operation as Operation<Context>
      const made = options.context(req, endpoint.procedures, resolved.binding.path)
      const context = isPromise(made) ? await made : made
      const admitted = operation.admit(context)
      if (isPromise(admitted)) await admitted
      const body = resolved.body && (await readJson(req, resolved.binding, readBytes))
      let query: readonly Parameter[]
      let envelope: EnvelopeForm | undefined
      let input: unknown
      try {
        query = queryParameters(rawQuery)
        if (manner === undefined) {
          checkAccept(req)
          envelope = wantsEnvelope(valuesOf(query, ENVELOPE)[0]) ? options.envelope : undefined
          input = gatherInput(resolved, params, query, req.headers, body)
        } else input = manner.gather(resolved, params, query, body)
      } catch (problem) {
        throw (await operation.findMissing(pathInput(resolved, params), context)) ?? problem
      }
      let output: unknown
      try {
        output = await operation.call(input, context, { shown: resolved.shown, parse: resolved.parse })
      } catch (error) {
        throw error instanceof FieldError ? error.movedTo(callerPaths(resolved, body)) : error
      }
      const ifNoneMatch = method === 'GET' ? req.headers['if-none-match'] : undefined
      const given = answer(resolved, { input, output, path, query }, envelope, ifNoneMatch, req.baseUrl)
      const replied = reply(req, manner === undefined ? given : await manner.amend(given, req))
      return isPromise(replied) ? await replied : replied
    } catch (error) {
      return fail(error, req)
    }
  }

  const refuse = async (req: Req, base?: string): Promise<Reply> => {
    try {
      checkTarget(req.originalUrl, split(req.originalUrl).path)
      throw new ApiError(404, 'Path not found')
    } catch (problem) {
      return fail(problem, req, base)
    }
  }

  const reply = (req: Req, answer: Answer): Awaitable<Reply> => {
    const made: Reply = makeReady(answer)
    const headers = options.headers?.(req)
    const complete = (everywhere: Record<string, string> | undefined) => {
      made.everywhere = everywhere
      return made
    }
    return isPromise(headers) ? headers.then(complete) : complete(headers)
  }

  const fail = async (error: unknown, req: Req, base = req.baseUrl): Promise<Reply> => {
    try {
      return await failed(error, req, base)
    } catch (thrown) {
      // An error form, say, that throws.
      await observe(() => options.onError?.(toApiError(thrown), req))
      return LAST_RESORT
    }
  }

  const failed = async (error: unknown, req: Req, base: string): Promise<Reply> => {
    let problem = parserApiError(error) ?? abortApiError(error, hasGone(req)) ?? toApiError(error)
    let everywhere: Record<string, string> | undefined
    try {
      everywhere = await options.headers?.(req)
    } catch (thrown) {
      problem = toApiError(thrown)
    }
    await observe(() => options.onError?.(problem, req))
    const { status, fields, headers, data } = problem
    const message = status === 500 ? `Internal server error${await idOf(req)}` : problem.message
    const faults = fields.map(({ field, message }) => `${field} ${message}`.trim())
    const details = list(faults, '; ') || `${req.method} ${shortened(split(req.originalUrl).path)}`
    const body = formFor(req.method, req.originalUrl, base).body({ status, message, details, fields, data })
    const answer = { status, headers, body }
    return { ...makeReady(manner === undefined ? answer : await manner.amend(answer, req, problem)), everywhere }
  }

  const idOf = async (req: Req): Promise<string> => {
    try {
      return options.requestId === undefined ? '' : ` (request ${await options.requestId(req)})`
    } catch {
      return ''
    }
  }

  const formFor = (method: string, url: string, base = ''): ErrorForm => {
    const { path, rawQuery } = split(url)
    return ENVELOPE_ASKED.test(rawQuery) ? options.envelope.error : formOf(method, inside(path, base))
  }

  const ready = ({ status, message, fields, headers }: ApiError) => {
    const answers = new Map<ErrorForm, Ready>()
    return async (req: Req, url: string): Promise<Reply> => {
      const form = formFor(req.method, url)
      let answer = answers.get(form)
      if (answer === undefined) {
        answer = makeReady({ status, headers, body: form.body({ status, message, details: '', fields }) })
        answers.set(form, answer)
      }
      try {
        const headers = options.headers?.(req)
        return { ...answer, everywhere: isPromise(headers) ? await headers : headers }
      } catch {
        // The answer is the same for every request, with their headers or without.
        return answer
      }
    }
  }

  return { find: located, respond, refuse, fail, ready }
}

/** The answer where none can be made of an error: it cannot fail. */
export const LAST_RESORT: Reply = makeReady({ status: 500, headers: {}, body: { error: 'Internal server error' } })

function inside(path: string, base: string): string {
  return base !== '' && path.startsWith(base) ? path.slice(base.length) || '/' : path
}

const PARSER_MESSAGES: Record<number, string> = {
  400: 'Body is not valid JSON',
  413: 'Body is too large',
  415: 'A body must be sent as Content-Type: application/json, in UTF-8',
}

// What Express throws of a path, and its parsers of bodies; the messages of these quote the body.
function parserApiError(error: unknown): ApiError | undefined {
  if (error instanceof URIError) return new ApiError(400, 'Malformed percent-escape in the path', { cause: error })
  const { status, type } = (error ?? {}) as { status?: number; type?: unknown }
  const message = typeof type === 'string' ? PARSER_MESSAGES[status as number] : undefined
  return message === undefined ? undefined : new ApiError(status as 400, message, { cause: error })
}

const ENVELOPE_ASKED = /(?:^|&)envelope=true(?:&|$)/

function wantsEnvelope(value: string | undefined): boolean {
  if (value === undefined || value === 'false') return false
  if (value === 'true') return true
  throw fieldApiError(ENVELOPE, 'must be true or false')
}

function shortened(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path
}
