import type { ErrorShape } from '../contract.ts'
import { answeredError, retryAfter, type ServiceError, serviceError } from './errors.ts'
import type { Outcome, Sent, Transport } from './queue.ts'
import { keepingMark } from './read-your-writes.ts'

/** A request before it is sent. */
export interface RequestFacts {
  url: string
  method: 'GET' | 'POST'
  /** May be changed. */
  headers: Headers
  /** `users.get` of each call it carries. */
  calls: string[]
}

export interface HttpOptions {
  /** Where the service is, below whatever path: `http://127.0.0.1:3000`. */
  baseUrl: string
  /** An API key, or a token of the identity provider; a function is asked for it at each call. */
  apiKey?: string | (() => string | undefined | Promise<string | undefined>) | undefined
  /** Sent with every request, in place of the client's own of the same name. */
  headers?: Record<string, string> | undefined
  /** The platform's own when absent. */
  fetch?: typeof globalThis.fetch | undefined
  /** As `fetch` takes it: `include` for a browser on another origin to keep the service's cookie. */
  credentials?: 'include' | 'omit' | 'same-origin' | undefined
  /** Told of each request before it is sent. What it throws goes to the callers. */
  onRequest?: ((request: RequestFacts) => void | Promise<void>) | undefined
  /** Told of each response, for its headers and status; its body is the client's. */
  onResponse?: ((response: Response, calls: string[]) => void | Promise<void>) | undefined
}

// As long a URL as every proxy lets through; a longer query goes by POST.
const LONGEST_URL = 4000
const FIRST_BYTES = 200

/** tRPC over HTTP: calls of one type and one caller in one request. */
export function httpTransport(options: HttpOptions): Transport {
  const { baseUrl, apiKey, headers = {}, credentials, onRequest, onResponse } = options
  const send = keepingMark(options.fetch ?? ((...request) => globalThis.fetch(...request)))
  const endpoint = `${baseUrl.replace(/\/$/, '')}/trpc`
  return {
    credentials: apiKey === undefined ? undefined : async () => (typeof apiKey === 'function' ? apiKey() : apiKey),
    send: async (calls, key, signal) => {
      const names = calls.map(({ path }) => path)
      const inputs = `{${calls.flatMap(({ json }, index) => (json === undefined ? [] : `"${index}":${json}`)).join()}}`
      const target = `${endpoint}/${names.join()}?batch=1`
      const long = `${target}&input=${encodeURIComponent(inputs)}`
      const isGet = calls[0]?.type === 'query' && long.length <= LONGEST_URL
      const request: RequestFacts = {
        url: isGet ? long : target,
        method: isGet ? 'GET' : 'POST',
        headers: new Headers(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        calls: names,
      }
      if (!isGet) request.headers.set('Content-Type', 'application/json')
      for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
      await onRequest?.(request)
      const { url, method } = request
      const init = {
        method,
        headers: request.headers,
        signal,
        ...(!isGet && { body: inputs }),
        ...(credentials && { credentials }),
      }
      const response = await send(url, init).catch((cause) => {
        throw unreachable(cause)
      })
      await onResponse?.(response, names)
      const text = await response.text().catch((cause) => {
        throw unreachable(cause)
      })
      return outcomes(calls, response, text)
    },
  }
}

function unreachable(cause: unknown): ServiceError {
  return serviceError('unavailable', { status: 0, message: 'The service cannot be reached', cause })
}

/** What the service said of each call. */
function outcomes(calls: Sent[], response: Response, text: string): Outcome[] {
  const { status } = response
  const retryAfterMs = retryAfter(response.headers.get('Retry-After'))
  const foreign = (message: string, cause?: Error) => answeredError({ status, message, retryAfterMs, cause, response })
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    const cause = new Error(text.slice(0, FIRST_BYTES))
    // JSON that breaks off is an answer that did not arrive.
    const isCut = response.ok && /^application\/json/.test(response.headers.get('Content-Type') ?? '')
    if (isCut) throw unreachable(cause)
    throw foreign(`The answer is not the service's, with status ${status}`, cause)
  }
  return calls.map((_, index) => {
    const answer = (Array.isArray(body) ? body[index] : body) as Partial<Answer> | null | undefined
    if (isResult(answer)) return { data: answer.result.data }
    const shape = answer?.error
    if (!isShape(shape)) {
      const said = (body as { message?: unknown; error?: unknown } | null) ?? {}
      const words = [said.message, said.error].find((word) => typeof word === 'string') as string | undefined
      return {
        error: foreign(
          words ?? `The answer is not the service's, with status ${status}`,
          new Error(text.slice(0, FIRST_BYTES)),
        ),
      }
    }
    const { message, data } = shape
    return { error: answeredError({ status: data.httpStatus, message, shape, retryAfterMs, response }) }
  })
}

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
