import { Busy } from './errors.ts'

// Consecutive writes without a pause starve the event loop, so no request is read. After this time they yield to it.
const MAX_RUN_MS = 2

/** Runs one write at a time, or a few, in FIFO order. */
export class WriteQueue {
  readonly #maxWaitMs: number
  /** The writes that may begin now. */
  #free: number
  /** Waiting writes in FIFO order. */
  readonly #waiting = new Set<PromiseWithResolvers<void>>()
  /** Start of the current run of writes without a pause. */
  #runStartMs = 0

  /** @param concurrent how many writes run at a time */
  constructor(maxWaitMs: number, concurrent = 1) {
    this.#maxWaitMs = maxWaitMs
    this.#free = concurrent
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Acquires the queue's lock, which {@link release} releases.
   *
   * @param timeoutMs may be infinite
   * @throws Busy on timeout
   */
  acquire(timeoutMs = this.#maxWaitMs): Promise<void> | undefined {
    if (this.#free === 0) return this.#wait(timeoutMs)
    this.#free--
    this.#runStartMs = performance.now()
    return undefined
  }

  release(): void {
    if (this.#waiting.size > 0 && performance.now() - this.#runStartMs > MAX_RUN_MS) {
      setImmediate(() => {
        this.#runStartMs = performance.now()
        this.#handOver()
      })
    } else this.#handOver()
  }

  /** Rejects all waiting writes. */
  rejectAll(error: Error): void {
    for (const waiting of this.#waiting) waiting.reject(error)
    this.#waiting.clear()
  }

  #handOver(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#free++
      return
    }
    this.#waiting.delete(next)
    next.resolve()
  }

  async #wait(timeoutMs: number): Promise<void> {
    const waiting = Promise.withResolvers<void>()
    this.#waiting.add(waiting)
    const expire = () => {
      if (this.#waiting.delete(waiting)) waiting.reject(new Busy('The wait for other writes timed out.'))
    }
    const timer = Number.isFinite(timeoutMs) ? setTimeout(expire, timeoutMs) : undefined
    await waiting.promise.finally(() => clearTimeout(timer))
  }
}
