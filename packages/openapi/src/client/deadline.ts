import { type ServiceError, serviceError } from './errors.ts'

// The longest delay that timers support; a longer one would fire at once.
const MAX_TIMER_MS = 2 ** 31 - 1

/** A timer of any length: one longer than timers support never fires. Returns a function that stops it. */
export function timer(ms: number, run: () => void): () => void {
  if (ms > MAX_TIMER_MS) return () => {}
  const handle = setTimeout(run, Math.max(0, ms))
  return () => clearTimeout(handle)
}

/** Ends a call when its timeout has passed or its signal aborts. */
export class Deadline {
  #error: ServiceError | undefined
  #reject: ((error: ServiceError) => void) | undefined
  #onEnd: (() => void) | undefined
  readonly #ended: Promise<never>
  readonly #stopTimer: () => void
  readonly #signal: AbortSignal | null | undefined

  constructor(timeoutMs: number, signal: AbortSignal | null | undefined) {
    this.#ended = new Promise((_, reject) => {
      this.#reject = reject
    })
    // Without this handler, the rejection is unhandled if no `race` is running.
    this.#ended.catch(() => {})
    this.#stopTimer = timer(timeoutMs, () => this.#end(timedOut()))
    this.#signal = signal
    if (signal?.aborted) this.#abort()
    else signal?.addEventListener('abort', this.#abort)
  }

  get isOver(): boolean {
    return this.#error !== undefined
  }

  /** Called once if the call ends before its answer arrives. */
  set onEnd(listener: () => void) {
    this.#onEnd = listener
  }

  /** @throws AbortedError or TimeoutError when the call ends */
  race<T>(work: T | Promise<T>): Promise<T> {
    return Promise.race([this.#ended, work])
  }

  /** Releases the timer and the signal. */
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
    this.#onEnd?.()
  }
}

/** A pause that several calls share, so that they continue at the same time. */
export class Pause {
  readonly ms: number
  #waiting = 0
  #over: Promise<void> | undefined
  #stop = () => {}

  constructor(ms: number) {
    this.ms = ms
  }

  /** @throws AbortedError or TimeoutError when the call ends */
  async wait(deadline: Deadline): Promise<void> {
    this.#over ??= new Promise((resolve) => {
      this.#stop = timer(this.ms, resolve)
    })
    this.#waiting++
    try {
      await deadline.race(this.#over)
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
