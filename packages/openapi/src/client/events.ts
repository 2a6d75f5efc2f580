import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { type CallerOptions, isTransient } from './calls.ts'
import { Deadline, Pause, timer } from './deadline.ts'
import { answeredError, type FieldFault, foreignError, isServiceError, type ServiceError } from './errors.ts'
import { factsOf, type HttpOptions, refusal, requester, textOf } from './http.ts'

export interface EventStream {
  /** The path and the query of the next attempt. */
  target: () => string
  /** The name of the stream in `onRequest` and `onResponse`. */
  name: string
  signal?: AbortSignal | null | undefined
}

type Options = HttpOptions & Pick<CallerOptions, 'onUnauthorized' | 'longestRetryAfterMs'>

// Servers send a comment every 15 seconds.
const MAX_SILENCE_MS = 45_000
const MAX_PAUSE_MS = 30_000
/** A connection that lasts this long has worked: the pause after it is short again. */
const STEADY_MS = 10_000

/**
 * The Server-Sent Events of a path, from one connection after another. The pauses between attempts grow, and each attempt has
 * the current credentials. A connection without data for 45 seconds counts as lost.
 *
 * @throws ServiceError for a response that another attempt would not change, and when `signal` aborts
 */
export async function* eventStream(
  options: Options,
  { target, name, signal }: EventStream,
): AsyncGenerator<EventSourceMessage, never, undefined> {
  const { onUnauthorized, longestRetryAfterMs = 60_000 } = options
  const { credentials, send } = requester(options)
  const headers = { Accept: 'text/event-stream, application/problem+json' }
  const deadline = new Deadline(Number.POSITIVE_INFINITY, signal)
  let retryMs = 1_000
  let failures = 0
  let isRefreshed = false
  const onRetry = (ms: number) => {
    retryMs = ms
  }
  const open = async (signal: AbortSignal) => {
    const request = { path: target(), method: 'GET' as const, headers, calls: [name] }
    const response = await send(request, await credentials?.(), signal)
    const isStream = /^text\/event-stream\b/.test(response.headers.get('Content-Type') ?? '')
    if (response.ok && isStream && response.body !== null) return response.body
    throw problemOf(response, await textOf(response))
  }
  try {
    for (;;) {
      const startMs = performance.now()
      let requestedMs = 0
      try {
        for await (const event of connection(open, deadline, onRetry)) {
          isRefreshed = false
          yield event
          if (deadline.isOver) break
        }
      } catch (error) {
        if (!isServiceError(error)) throw error
        if (error.status === 401 && !isRefreshed) {
          isRefreshed = true
          if ((await deadline.race(onUnauthorized?.())) === true) continue
        }
        if (!isTransient(error)) throw error
        requestedMs = Math.min(error.retryAfterMs ?? 0, longestRetryAfterMs)
      }
      failures = performance.now() - startMs > STEADY_MS ? 0 : failures + 1
      const backoffMs = Math.min(MAX_PAUSE_MS, retryMs * 2 ** Math.max(0, failures - 1))
      // Random, so that the clients of a service that restarts do not return at the same moment.
      await new Pause(Math.max(requestedMs, backoffMs * (0.5 + Math.random() / 2))).wait(deadline)
    }
  } finally {
    deadline.close()
  }
}

/** The events of one connection, which ends with its reader. */
async function* connection(
  open: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>,
  deadline: Deadline,
  onRetry: (ms: number) => void,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const abort = new AbortController()
  const end = () => abort.abort()
  deadline.onEnd = end
  let stop = timer(MAX_SILENCE_MS, end)
  try {
    const reader = (await deadline.race(open(abort.signal))).getReader()
    const events: EventSourceMessage[] = []
    const parser = createParser({ onEvent: (event) => events.push(event), onRetry })
    const decoder = new TextDecoder()
    for (;;) {
      // Not a race with the deadline: its promise would keep every chunk.
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
      stop()
      if (done) return
      parser.feed(decoder.decode(value, { stream: true }))
      yield* events.splice(0)
      stop = timer(MAX_SILENCE_MS, end)
    }
  } finally {
    stop()
    end()
  }
}

/** The error of a REST response: problem details (RFC 9457), or a refusal before the routes. */
function problemOf(response: Response, text: string): ServiceError {
  const facts = factsOf(response, text)
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return foreignError(facts)
  }
  const { status, code, detail: message, fields = [] } = (body ?? {}) as Partial<Problem>
  if (status !== response.status || typeof message !== 'string') return refusal(facts, body)
  const data = { httpStatus: status, code: 'BAD_REQUEST' as const, fields, reason: code ?? '' }
  return answeredError({ ...facts, message, shape: { message, code: -32600, data } })
}

interface Problem {
  status: number
  code: string
  detail: string
  fields: FieldFault[]
}
