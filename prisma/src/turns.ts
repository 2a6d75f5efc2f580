import { Busy } from './errors.ts'

interface Waiting {
  /** Undefined once the wait was given up. */
  begin: (() => void) | undefined
  refuse: (error: Error) => void
}

// Work that follows work at once lets nothing else be done, no request be read: after so long it must wait for that.
const LONGEST_RUN_MS = 2

/** Lets one piece of work begin when the one before it has ended, in the order they came. */
export class Turns {
  readonly #longestWaitMs: number
  #waiting: Waiting[] = []
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
    if (this.#waiting.length > 0 && performance.now() - this.#begunMs > LONGEST_RUN_MS) {
      setImmediate(() => {
        this.#begunMs = performance.now()
        this.#handOver()
      })
    } else this.#handOver()
  }

  /** Lets nobody begin who still waits. */
  refuseAll(error: Error): void {
    for (const { refuse } of this.#waiting) refuse(error)
    this.#waiting = []
  }

  #handOver(): void {
    let next = this.#waiting.shift()
    while (next !== undefined && next.begin === undefined) next = this.#waiting.shift()
    if (next?.begin === undefined) this.#isTaken = false
    else next.begin()
  }

  #wait(longestMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const tooLate = () => waiting.refuse(new Busy('Other writes took too long.'))
      const giveUp = Number.isFinite(longestMs) ? setTimeout(tooLate, longestMs) : undefined
      const waiting: Waiting = {
        begin: () => {
          clearTimeout(giveUp)
          resolve()
        },
        refuse: (error) => {
          clearTimeout(giveUp)
          waiting.begin = undefined
          reject(error)
        },
      }
      this.#waiting.push(waiting)
    })
  }
}
