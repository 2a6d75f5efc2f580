import { Busy } from './errors.ts'
import { Turns } from './turns.ts'

const MOST_OF_A_KEY = 100

/** Runs work of one key one after another. Work of different keys does not wait for each other. */
export class KeyedQueue {
  readonly #longestWaitMs: number
  readonly #keys = new Map<string, { turns: Turns; count: number }>()

  constructor(longestWaitMs: number) {
    this.#longestWaitMs = longestWaitMs
  }

  /** @throws Busy when too much work of the key is waiting, or its turn does not come in time */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#keys.get(key) ?? { turns: new Turns(this.#longestWaitMs), count: 0 }
    if (queue.count >= MOST_OF_A_KEY) throw new Busy('Too many writes of the same name are waiting.')
    this.#keys.set(key, queue)
    queue.count++
    try {
      await queue.turns.begin()
      return await work().finally(() => queue.turns.end())
    } finally {
      if (--queue.count === 0) this.#keys.delete(key)
    }
  }
}
