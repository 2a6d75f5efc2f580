import { Busy } from './errors.ts'

// Work that follows work at once lets nothing else be done, no request be read: after so long it must wait for that.
const LONGEST_RUN_MS = 2

/** Lets one piece of work begin when the one before it has ended, in the order they came. */
export class Turns {
  readonly #longestWaitMs: number
  /** Those that wait, the first of them first. */
  readonly #waiting = new Set<PromiseWithResolvers<void>>()
  #isTaken = false
  /** When the work that is being done without a pause began. */
  #begunMs = 0

  constructor(longestWaitMs: number) {
    this.#longestWaitMs = longestWaitMs
  }

  /**
   * Waits for a turn; {@link end} ends it.
   *
   * @param longestMs for ever when infinite
   * @throws Busy when it does not come in time
   */
  begin(longestMs = this.#longestWaitMs): Promise<void> | undefined {
    if (this.#isTaken) return this.#wait(longestMs)
    this.#isTaken = true
    this.#begunMs = performance.now()
    return undefined
  }

  end(): void {
    if (this.#waiting.size > 0 && performance.now() - this.#begunMs > LONGEST_RUN_MS) {
      setImmediate(() => {
        this.#begunMs = performance.now()
        this.#handOver()
      })
    } else this.#handOver()
  }

  /** Lets nobody begin who still waits. */
  refuseAll(error: Error): void {
    for (const waiting of this.#waiting) waiting.reject(error)
    this.#waiting.clear()
  }

  #handOver(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#isTaken = false
      return
    }
    this.#waiting.delete(next)
    next.resolve()
  }

  async #wait(longestMs: number): Promise<void> {
    const waiting = Promise.withResolvers<void>()
    this.#waiting.add(waiting)
    const giveUp = () => {
      if (this.#waiting.delete(waiting)) waiting.reject(new Busy('Other writes took too long.'))
    }
    const timer = Number.isFinite(longestMs) ? setTimeout(giveUp, longestMs) : undefined
    await waiting.promise.finally(() => clearTimeout(timer))
  }
}
