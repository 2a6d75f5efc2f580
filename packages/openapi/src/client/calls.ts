import { Ending } from './ending.ts'
import { isServiceError, type ServiceError } from './errors.ts'
import { type Outcome, Queue, type Settled, type Transport } from './queue.ts'

/** The times of a call, in milliseconds. */
interface Times {
  /** Longest time of a call, all its attempts together; 30,000 when absent. */
  timeoutMs?: number | undefined
  /** Longest time of one attempt; 10,000 when absent. */
  attemptTimeoutMs?: number | undefined
  /**
   * How long after its start a call may still be repeated; 2,000 when absent, 0 for never. A service that answers with
   * `Retry-After` is asked again after that time even so, while the call's time lasts.
   */
  retryForMs?: number | undefined
}

/** What a call may be given beside its input. */
export interface CallOptions extends Times {
  /** Ends the call with an `AbortedError`; where it has not been sent yet, it is not sent. */
  signal?: AbortSignal | null | undefined
  /**
   * Of a write: the `idempotencyKey` of the error of an earlier call, which this one repeats. Each call has a key of its
   * own when absent.
   */
  idempotencyKey?: string | undefined
}

export interface CallerOptions extends Times {
  /**
   * Most requests a second that repeat calls, of all calls together, so that many clients cannot keep a service down; 20
   * when absent.
   */
  retriesPerSecond?: number | undefined
  /** The longest wait that a `Retry-After` is followed for, in milliseconds; 60,000 when absent. */
  longestRetryAfterMs?: number | undefined
  /**
   * Whether the calls of one tick travel in one request where type and credentials are the same; true when absent. Calls
   * with other times travel apart.
   */
  batch?: boolean | undefined
  /**
   * Told when the service refuses the credentials: time to log in. Where it returns true, or a promise of it, there are
   * new ones, and what was refused is sent once more with them.
   */
  onUnauthorized?: (() => unknown) | undefined
  /** Given each answer. @throws ContractError where it breaks the contract */
  check?: ((path: string, answer: unknown) => void) | undefined
}

export type Caller = (
  type: 'query' | 'mutation',
  path: string,
  input?: unknown,
  options?: CallOptions,
) => Promise<unknown>

/** Makes calls over a transport: each in its time, and repeated where that is safe and may help. */
export function createCaller(transport: Transport, options: CallerOptions): Caller {
  const { retriesPerSecond = 20, longestRetryAfterMs = 60_000, batch = true, onUnauthorized, check } = options
  const queue = new Queue(transport, { batch, retriesPerSecond, longestRetryAfterMs })
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
    const ending = new Ending(timeoutMs, own.signal)
    const isAlone = hasRecords(input)
    let sendBy = Number.POSITIVE_INFINITY
    let last: ServiceError | undefined
    let isRefreshed = false
    try {
      for (let repeats = 0; ; repeats++) {
        const credentials = await ending.race(transport.credentials?.())
        const sent = {
          type,
          path,
          input,
          json,
          credentials,
          isAlone,
          repeats,
          sendBy,
          timeoutMs,
          attemptTimeoutMs,
          ending,
        }
        const settled: Settled = await ending.race(queue.add(sent))
        if (settled === 'unsent') throw last
        const outcome: Outcome = settled
        if ('data' in outcome) {
          check?.(path, outcome.data)
          return outcome.data
        }
        last = outcome.error
        if (last.status === 401 && !isRefreshed) {
          isRefreshed = true
          // Others may have had them renewed meanwhile.
          const current = await ending.race(transport.credentials?.())
          if (current === credentials && !(await ending.race(refresh()))) throw last
          sendBy = startMs + timeoutMs
          continue
        }
        if (retryForMs === 0 || !isPassing(last)) throw last
        sendBy = startMs + (last.retryAfterMs === undefined ? Math.min(retryForMs, timeoutMs) : timeoutMs)
        if (performance.now() + settled.pause.ms > sendBy) throw last
        await settled.pause.wait(ending)
      }
    } catch (error) {
      if (key !== undefined && isServiceError(error)) error.idempotencyKey = key
      throw error
    } finally {
      ending.close()
    }
  }
}

function isPassing({ code }: ServiceError): boolean {
  return code === 'unavailable' || code === 'rate_limited' || code === 'timeout'
}

function keyOf(input: unknown, { idempotencyKey }: CallOptions): string {
  return idempotencyKey ?? (input as { idempotency_key?: string } | undefined)?.idempotency_key ?? randomKey()
}

// What a service counts over all calls of a request.
function hasRecords(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false
  return Object.values(input).some((value) => Array.isArray(value) && typeof value[0] === 'object')
}

function defined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>
}

/** An idempotency key. */
// Not crypto.randomUUID, which browsers have on secure origins alone; React Native has no crypto.
export function randomKey(): string {
  const bytes = new Uint8Array(16)
  if (globalThis.crypto === undefined) for (const index of bytes.keys()) bytes[index] = Math.random() * 256
  else crypto.getRandomValues(bytes)
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
