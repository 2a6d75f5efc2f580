import { SEPARATE_REQUEST } from '../separate-request.ts'
import { Deadline } from './deadline.ts'
import { isServiceError, type ServiceError } from './errors.ts'
import { type Outcome, Queue, type Settled, type Transport } from './queue.ts'
import { randomKey } from './random-key.ts'

/** The timeouts of a call, in milliseconds. */
interface Timeouts {
  /** The timeout of a call, including all attempts. Default: 30,000. */
  timeoutMs?: number | undefined
  /** The timeout of one attempt. Default: 10,000. */
  attemptTimeoutMs?: number | undefined
  /**
   * How long after its start a call may be retried. Default: 2,000; 0 disables retries. A response with `Retry-After` is
   * retried after that time, within `timeoutMs`.
   */
  retryForMs?: number | undefined
}

/** The options of a call. */
export interface CallOptions extends Timeouts {
  /** Aborts the call with an `AbortedError`. A call that has not been sent yet is not sent. */
  signal?: AbortSignal | null | undefined
  /**
   * For a write that repeats a failed call: the `idempotencyKey` of its error. An `idempotency_key` in the input takes
   * precedence. Default: a new key for each call.
   */
  idempotencyKey?: string | undefined
  /** For a write: the `effect` of its preview. The write does exactly that, or fails with a `VersionMismatchError`. */
  ifEffect?: string | undefined
  /** For a write: the UUID of the requests that belong together, so that they can be undone together. */
  group?: string | undefined
}

export interface CallerOptions extends Timeouts {
  /**
   * The maximum number of retries per second, for all calls together. It prevents many clients from overloading a
   * recovering service. Default: 20.
   */
  retriesPerSecond?: number | undefined
  /** The upper limit for the wait of a `Retry-After`, in milliseconds. Default: 60,000. */
  longestRetryAfterMs?: number | undefined
  /**
   * Whether to send the calls of one tick in one request if their type, credentials and timeouts are the same. Default:
   * true.
   */
  batch?: boolean | undefined
  /** The maximum number of calls in one request: at most the `maxCalls` of the server. Default: 50. */
  maxCalls?: number | undefined
  /** The maximum size of the calls of one request, in bytes: at most the `bodyLimit` of the server. Default: 100,000. */
  bodyLimit?: number | undefined
  /**
   * Called when the service rejects the credentials. If it returns true, or a promise of true, the rejected calls are sent
   * once more with the new credentials.
   */
  onUnauthorized?: (() => unknown) | undefined
  /** Checks each answer. @throws ContractError if it does not match the contract */
  check?: ((path: string, answer: unknown) => void) | undefined
}

const requestIds = new WeakMap<object, string>()

/** The id of the request that an answer belongs to, if the server sent one. Calls sent in one request have one id. */
export function requestIdOf(answer: object): string | undefined {
  return requestIds.get(answer)
}

export type Caller = (
  type: 'query' | 'mutation',
  path: string,
  input?: unknown,
  options?: CallOptions,
) => Promise<unknown>

/** Makes calls over a transport, with timeouts and with retries where they are safe and useful. */
export function createCaller(transport: Transport, options: CallerOptions): Caller {
  const { retriesPerSecond = 20, longestRetryAfterMs = 60_000, batch = true, onUnauthorized, check } = options
  const { maxCalls = 50, bodyLimit = 100_000 } = options
  const queue = new Queue(transport, {
    maxCalls: batch ? maxCalls : 1,
    bodyLimit,
    retriesPerSecond,
    longestRetryAfterMs,
  })
  let refreshing: Promise<boolean> | undefined
  const refresh = () => {
    refreshing ??= (async () => (await onUnauthorized?.()) === true)().finally(() => {
      refreshing = undefined
    })
    return refreshing
  }

  return async (type, path, given, own = {}) => {
    const { timeoutMs = 30_000, attemptTimeoutMs = 10_000, retryForMs = 2_000 } = { ...options, ...defined(own) }
    const key = type === 'mutation' ? keyOf(given, own) : undefined
    const input = key === undefined ? given : { ...(given as object), idempotency_key: key }
    const json = JSON.stringify(input)
    const startMs = performance.now()
    const deadline = new Deadline(timeoutMs, own.signal)
    const { ifEffect, group } = own
    let isUnbatched = ifEffect !== undefined || hasRecords(input)
    let sendBy = Number.POSITIVE_INFINITY
    let last: ServiceError | undefined
    let isRefreshed = false
    try {
      for (let retries = 0; ; retries++) {
        const credentials = await deadline.race(transport.credentials?.())
        const sent = {
          type,
          path,
          input,
          json,
          ifEffect,
          group,
          credentials,
          isUnbatched,
          retries,
          sendBy,
          timeoutMs,
          attemptTimeoutMs,
          deadline,
        }
        const settled: Settled = await deadline.race(queue.add(sent))
        if (settled === 'unsent') throw last
        const outcome: Outcome = settled
        if ('data' in outcome) {
          const { data, requestId } = outcome
          check?.(path, data)
          if (requestId !== undefined && typeof data === 'object' && data !== null) requestIds.set(data, requestId)
          return data
        }
        last = outcome.error
        if (last.reason === SEPARATE_REQUEST && !isUnbatched) {
          isUnbatched = true
          // It has not run: this is no retry.
          retries--
          continue
        }
        if (last.status === 401 && !isRefreshed) {
          isRefreshed = true
          // Another call may have renewed them meanwhile.
          const current = await deadline.race(transport.credentials?.())
          if (current === credentials && !(await deadline.race(refresh()))) throw last
          // The first attempt with these credentials, and no retry: the budget does not delay it.
          retries = -1
          continue
        }
        if (retryForMs === 0 || !isTransient(last)) throw last
        sendBy = startMs + (last.retryAfterMs === undefined ? Math.min(retryForMs, timeoutMs) : timeoutMs)
        if (performance.now() + settled.pause.ms > sendBy) throw last
        await settled.pause.wait(deadline)
      }
    } catch (error) {
      if (key !== undefined && isServiceError(error)) error.idempotencyKey = key
      throw error
    } finally {
      deadline.close()
    }
  }
}

/** Whether a later attempt may succeed. */
export function isTransient({ code }: ServiceError): boolean {
  return code === 'unavailable' || code === 'rate_limited' || code === 'timeout'
}

function keyOf(input: unknown, { idempotencyKey }: CallOptions): string {
  return (input as { idempotency_key?: string } | undefined)?.idempotency_key ?? idempotencyKey ?? randomKey()
}

// The service limits the total number of records in the lists of a request.
function hasRecords(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false
  return Object.values(input).some((value) => (Array.isArray(value) ? typeof value[0] === 'object' : hasRecords(value)))
}

function defined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>
}
