import type { AppRouter } from '@resource/contract'
import type { Operation, TRPCClientError, TRPCLink } from '@trpc/client'
import { observable, observableToPromise } from '@trpc/server/observable'
import { RateLimitedError, type ServiceError, TimeoutError, toServiceError, UnavailableError } from './errors.ts'

export interface AttemptOptions {
  /** Longest time of a call, all its attempts together, in milliseconds; 30,000 when absent. */
  timeoutMs?: number
  /** Longest time of one attempt, in milliseconds; 10,000 when absent. */
  attemptTimeoutMs?: number
  /**
   * How long after its start a call may still be repeated, in milliseconds; 2,000 when absent, 0 for never. A service
   * that answers with `Retry-After` is asked again after that time even so, while the call's time lasts.
   */
  retryForMs?: number
  /** Most repeats a second, of all calls together, so that many clients cannot keep a service down; 20 when absent. */
  retriesPerSecond?: number
}

const BASE_MS = 50
const LONGEST_WAIT_MS = 3_000

/**
 * Gives each call its time, and repeats what is safe to repeat while the service cannot be had: reads, and writes
 * because each carries an idempotency key of its own. Waits grow and are random, and are never shorter than
 * `Retry-After`.
 */
export function attemptsLink(options: AttemptOptions = {}): TRPCLink<AppRouter> {
  const { timeoutMs = 30_000, attemptTimeoutMs = 10_000, retryForMs = 2_000, retriesPerSecond = 20 } = options
  const turn = turns(retriesPerSecond)
  return () =>
    ({ op, next }) =>
      observable((observer) => {
        const abort = new AbortController()
        const own = op.context as AttemptOptions
        const patience = own.retryForMs ?? retryForMs
        const signal = anySignal(op.signal, abort.signal, AbortSignal.timeout(own.timeoutMs ?? timeoutMs))
        const input = op.type === 'mutation' && patience > 0 ? withKey(op.input) : op.input
        const attempt = async () => {
          const limit = AbortSignal.timeout(own.attemptTimeoutMs ?? attemptTimeoutMs)
          const current = anySignal(signal, limit)
          try {
            return await observableToPromise(next({ ...op, input, signal: current } as Operation))
          } catch (error) {
            throw toServiceError(error as TRPCClientError<AppRouter>, signal.aborted ? signal : current)
          }
        }
        run(attempt, patience, signal, turn).then(
          (result) => {
            observer.next(result)
            observer.complete()
          },
          (error: ServiceError) => observer.error(error),
        )
        return () => abort.abort()
      })
}

async function run<T>(
  attempt: () => Promise<T>,
  patience: number,
  signal: AbortSignal,
  turn: () => number,
): Promise<T> {
  const end = Date.now() + patience
  for (let count = 0; ; count++) {
    try {
      return await attempt()
    } catch (error) {
      if (patience === 0 || signal.aborted || !isPassing(error)) throw error
      const backoff = Math.random() * Math.min(LONGEST_WAIT_MS, BASE_MS * 2 ** count)
      const wait = Math.max(backoff, turn(), error.retryAfterMs ?? 0)
      if (error.retryAfterMs === undefined && Date.now() + wait > end) throw error
      if (!(await pause(wait, signal))) throw error
    }
  }
}

function isPassing(error: unknown): error is ServiceError {
  return error instanceof UnavailableError || error instanceof RateLimitedError || error instanceof TimeoutError
}

/** Hands out turns, so many a second, and says how many milliseconds to wait for one. */
function turns(perSecond: number): () => number {
  let next = 0
  return () => {
    const now = Date.now()
    next = Math.max(next, now - 1000) + 1000 / perSecond
    return Math.max(0, next - now)
  }
}

/** Waits; false as soon as the call's time is over. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve(!signal.aborted)
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}

function anySignal(...signals: (AbortSignal | null | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal != null))
}

function withKey(input: unknown): unknown {
  return { idempotency_key: randomKey(), ...(input as object) }
}

// Not crypto.randomUUID, which browsers have on secure origins alone.
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
