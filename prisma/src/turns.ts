import { Busy } from './errors.ts'

interface Waiting {
  /** Undefined once the wait was given up. */
  begin: (() => void) | undefined
  refuse: (error: Error) => void
}

/** Lets one piece of work begin when the one before it has ended, in the order they came. */
export class Turns {
  readonly #longestWaitMs: number
  #waiting: Waiting[] = []
  #isTaken = false

  constructor(longestWaitMs: number) {
    this.#longestWaitMs = longestWaitMs
  }

  /**
   * Waits for a turn; {@link end} ends it.
   *
   * @throws Busy when it does not come in time
   */
  begin(): Promise<void> | undefined {
    if (this.#isTaken) return this.#wait()
    this.#isTaken = true
    return undefined
  }

  end(): void {
    let next = this.#waiting.shift()
    while (next !== undefined && next.begin === undefined) next = this.#waiting.shift()
    if (next?.begin === undefined) this.#isTaken = false
    else next.begin()
  }

  /** Lets nobody begin who still waits. */
  refuseAll(error: Error): void {
    for (const { refuse } of this.#waiting) refuse(error)
    this.#waiting = []
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = setTimeout(() => waiting.refuse(new Busy('Other writes took too long.')), this.#longestWaitMs)
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
