import { type ServiceError, serviceError } from './errors.ts'

// The longest that timers take; a longer one would end at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A timer that may be as long as it likes. */
export function timer(ms: number, run: () => void): () => void {
  if (ms > LONGEST_TIMER_MS) return () => {}
  const started = setTimeout(run, Math.max(0, ms))
  return () => clearTimeout(started)
}

/** The end of a call: its time is over, or its caller does not want it any more. */
export class Ending {
  #error: ServiceError | undefined
  #reject: ((error: ServiceError) => void) | undefined
  #told: (() => void) | undefined
  readonly #ended: Promise<never>
  readonly #stopTimer: () => void
  readonly #signal: AbortSignal | null | undefined

  constructor(timeoutMs: number, signal: AbortSignal | null | undefined) {
    this.#ended = new Promise((_, reject) => {
      this.#reject = reject
    })
    // Whoever waits is told; where nobody does, it is no error.
    this.#ended.catch(() => {})
    this.#stopTimer = timer(timeoutMs, () => this.#end(timedOut()))
    this.#signal = signal
    if (signal?.aborted) this.#abort()
    else signal?.addEventListener('abort', this.#abort)
  }

  get isOver(): boolean {
    return this.#error !== undefined
  }

  /** Told once when the call ends before it is answered. */
  set onEnd(told: () => void) {
    this.#told = told
  }

  /** @throws AbortedError or TimeoutError as soon as the call is over */
  race<T>(work: T | Promise<T>): Promise<T> {
    return Promise.race([this.#ended, work])
  }

  /** Lets go of timer and signal. */
  close(): void {
    this.#stopTimer()
    this.#signal?.removeEventListener('abort', this.#abort)
  }

  #abort = (): void => {
    this.#end(serviceError('aborted', { status: 0, message: 'The call was aborted', cause: this.#signal?.reason }))
  }

  #end(error: ServiceError): void {
    this.#error ??= error
    this.#reject?.(this.#error)
    this.#told?.()
  }
}

/** A pause of several calls, which go on in the same moment. */
export class Pause {
  readonly ms: number
  #waiting = 0
  #over: Promise<void> | undefined
  #stop = () => {}

  constructor(ms: number) {
    this.ms = ms
  }

  /** @throws AbortedError or TimeoutError as soon as the call is over */
  async wait(ending: Ending): Promise<void> {
    this.#over ??= new Promise((resolve) => {
      this.#stop = timer(this.ms, resolve)
    })
    this.#waiting++
    try {
      await ending.race(this.#over)
    } finally {
      if (--this.#waiting === 0) {
        this.#stop()
        this.#over = undefined
      }
    }
  }
}

export function timedOut(): ServiceError {
  return serviceError('timeout', { status: 0, message: 'The service did not answer in time' })
}
