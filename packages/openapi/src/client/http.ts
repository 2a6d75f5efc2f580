import type { ErrorShape } from '../contract.ts'
import { answeredError, foreignError, retryAfter, type ServiceError, serviceError } from './errors.ts'
import type { Outcome, Transport, TransportCall } from './queue.ts'

/** A request before it is sent. */
export interface RequestFacts {
  url: string
  method: 'GET' | 'POST'
  /** May be modified. */
  headers: Headers
  /** The procedure path of each call: `users.get`. */
  calls: string[]
}

export interface HttpOptions {
  /**
   * The URL of the service, including a path prefix if it has one: `http://127.0.0.1:3000`. On a page also a relative one
   * that begins with `/` or `.`, or is empty for the origin of the page.
   */
  baseUrl: string
  /** The path of tRPC on the server. Default: `/trpc`. */
  path?: string | undefined
  /** An API key or a token of the identity provider, or a function that returns it for each call. */
  apiKey?: string | (() => string | undefined | Promise<string | undefined>) | undefined
  /** Headers of every request. They override the client's own headers of the same name. */
  headers?: Record<string, string> | undefined
  /** Default: the platform's `fetch`. */
  fetch?: typeof globalThis.fetch | undefined
  /** The `credentials` option of `fetch`. With `include`, a server on another origin must send `Access-Control-Allow-Credentials`. */
  credentials?: 'include' | 'omit' | 'same-origin' | undefined
  /** Called before each request is sent. An error that it throws goes to the callers. */
  onRequest?: ((request: RequestFacts) => void | Promise<void>) | undefined
  /** Called with each response, for its headers and status. It must not read the body. */
  onResponse?: ((response: Response, calls: string[]) => void | Promise<void>) | undefined
}

// All common proxies accept URLs of this length; a longer query is sent by POST.
const MAX_URL_LENGTH = 4000
const MAX_EXCERPT_LENGTH = 200

/** A request to a path of the service. */
interface Target {
  /** Follows the base URL, with the query. */
  path: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string | undefined
  calls: string[]
}

/**
 * Sends requests with the credentials, headers and hooks of the options.
 *
 * @throws TypeError if `baseUrl` cannot be part of a URL
 */
export function requester(options: HttpOptions) {
  const { baseUrl, apiKey, headers = {}, credentials, onRequest, onResponse } = options
  const send: typeof fetch = async (...request) => (options.fetch ?? globalThis.fetch)(...request)
  const isRelative = RELATIVE.test(baseUrl)
  if (!isRelative && !isAbsolute(baseUrl)) throw new TypeError(BASE_URL_RULE)
  const base = baseUrl.replace(/\/$/, '')
  return {
    base,
    credentials: apiKey === undefined ? undefined : async () => (typeof apiKey === 'function' ? apiKey() : apiKey),
    /** @throws ServiceError if the service cannot be reached */
    send: async (target: Target, key: string | undefined, signal: AbortSignal): Promise<Response> => {
      // Not when the client is created: a page can also be rendered on a server.
      if (isRelative && options.fetch === undefined && !('location' in globalThis)) throw new TypeError(BASE_URL_RULE)
      const { path, body, calls } = target
      const request: RequestFacts = {
        url: base + path,
        method: target.method,
        headers: new Headers({
          ...(key !== undefined && { Authorization: authorizationOf(key) }),
          ...target.headers,
        }),
        calls,
      }
      for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
      await onRequest?.(request)
      const { url, method } = request
      const init = {
        method,
        headers: request.headers,
        signal,
        ...(body !== undefined && { body }),
        ...(credentials && { credentials }),
      }
      const response = await send(url, init).catch((cause) => {
        throw unreachableError(cause)
      })
      await onResponse?.(response, calls)
      return response
    },
  }
}

/**
 * Sends calls as tRPC over HTTP: calls with the same type and credentials in one request.
 *
 * @throws TypeError if `baseUrl` or `path` cannot be part of a URL
 */
export function httpTransport(options: HttpOptions): Transport {
  const { base, credentials, send } = requester(options)
  const { path = '/trpc' } = options
  if (!PATH.test(path)) throw new TypeError('path: must begin with / and have no query and no fragment')
  return {
    credentials,
    send: async (calls, key, signal) => {
      const names = calls.map(({ path }) => path)
      const inputs = `{${calls.flatMap(({ json }, index) => (json === undefined ? [] : `"${index}":${json}`)).join()}}`
      const target = `${path}/${names.join()}?batch=1`
      const targetWithInput = `${target}&input=${encodeURIComponent(inputs)}`
      const isGet = calls[0]?.type === 'query' && base.length + targetWithInput.length <= MAX_URL_LENGTH
      const headers = {
        // A misspelled field is an error, also where types were not checked.
        Prefer: 'handling=strict',
        ...(calls[0]?.ifEffect !== undefined && { 'If-Effect': `"${calls[0].ifEffect}"` }),
        ...(calls[0]?.group !== undefined && { 'X-Request-Group': calls[0].group }),
        ...(!isGet && { 'Content-Type': 'application/json' }),
      }
      const request: Target = isGet
        ? { path: targetWithInput, method: 'GET', headers, calls: names }
        : { path: target, method: 'POST', headers, calls: names, body: inputs }
      const response = await send(request, key, signal)
      return outcomes(calls, response, await textOf(response))
    },
  }
}

/** The body of a response. @throws ServiceError if it does not arrive completely */
export function textOf(response: Response): Promise<string> {
  return response.text().catch((cause) => {
    throw unreachableError(cause)
  })
}

const BASE_URL_RULE =
  'baseUrl: must be an http or https URL without credentials, query and fragment, such as http://127.0.0.1:3000; on a page also one relative to it, such as /api'
const RELATIVE = /^(?:\.{0,2}\/[^?#]*)?$/
const ABSOLUTE = /^https?:\/\/[^\s/?#@\\]+(?:\/[^\s?#]*)?$/i
const PATH = /^(?:\/[^?#]*)?$/

function isAbsolute(url: string): boolean {
  // React Native has no `canParse`.
  return ABSOLUTE.test(url) && URL.canParse?.(url) !== false
}

/** @throws TypeError that omits the key, unlike the error of `Headers` */
function authorizationOf(key: string): string {
  const trimmed = key.trim()
  if (!/^[\x20-\x7e]*$/.test(trimmed)) throw new TypeError('apiKey: must consist of printable ASCII characters')
  return `Bearer ${trimmed}`
}

function unreachableError(cause: unknown): ServiceError {
  return serviceError('unavailable', { status: 0, message: 'The service cannot be reached', cause })
}

/** What a response says about an error; the cause is the beginning of its body. */
export function factsOf(response: Response, text: string) {
  const retryAfterMs = retryAfter(response.headers.get('Retry-After'))
  return { status: response.status, retryAfterMs, response, cause: new Error(text.slice(0, MAX_EXCERPT_LENGTH)) }
}

/** The error of a body that is neither an answer nor an error of tRPC. */
export function refusal(facts: ReturnType<typeof factsOf>, body: unknown): ServiceError {
  const { message, error } = (body as { message?: unknown; error?: unknown } | null) ?? {}
  const nested = (error ?? {}) as { code?: unknown; message?: unknown }
  const reason = [message, error, nested.message].find((value) => typeof value === 'string') as string | undefined
  // The service refuses a request before tRPC with the status in the body.
  const isOwn = nested.code === facts.status && !OF_RECORDS.has(facts.status) && reason !== undefined
  return isOwn ? answeredError({ ...facts, message: reason }) : foreignError(facts, reason)
}

/** The outcome of each call in a response. */
function outcomes(calls: TransportCall[], response: Response, text: string): Outcome[] {
  const facts = () => factsOf(response, text)
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    // Truncated JSON is a response that did not arrive completely.
    const isTruncated = response.ok && /^application\/json/.test(response.headers.get('Content-Type') ?? '')
    throw isTruncated ? unreachableError(facts().cause) : foreignError(facts())
  }
  return calls.map((_, index) => {
    const answer = (Array.isArray(body) ? body[index] : body) as Partial<Answer> | null | undefined
    if (isResult(answer))
      return { data: answer.result.data, requestId: response.headers.get('X-Request-Id') ?? undefined }
    const shape = answer?.error
    if (isShape(shape)) {
      const { message, data } = shape
      const { retryAfterMs } = facts()
      return { error: answeredError({ status: data.httpStatus, message, shape, retryAfterMs, response }) }
    }
    return { error: refusal(facts(), body) }
  })
}

// The statuses that concern records, which only tRPC reads. A 404 before tRPC means that the path is wrong.
const OF_RECORDS = new Set([404, 409, 412])

interface Answer {
  result: { data: unknown }
  error: ErrorShape
}

function isResult(answer: Partial<Answer> | null | undefined): answer is Answer {
  return typeof answer?.result === 'object' && answer.result !== null
}

function isShape(error: unknown): error is ErrorShape {
  const { message, data } = (error ?? {}) as Partial<ErrorShape>
  return typeof message === 'string' && typeof data?.httpStatus === 'number'
}
