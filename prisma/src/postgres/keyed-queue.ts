import { Busy } from '../errors.ts'
import { WriteQueue } from '../write-queue.ts'

const MAX_PER_KEY = 100

/** Serializes work per key; different keys run concurrently. */
export class KeyedQueue {
  readonly #maxWaitMs: number
  readonly #keys = new Map<string, { writes: WriteQueue; count: number }>()

  constructor(maxWaitMs: number) {
    this.#maxWaitMs = maxWaitMs
  }

  /** @throws Busy when the queue of the key is full, or the wait times out */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#keys.get(key) ?? { writes: new WriteQueue(this.#maxWaitMs), count: 0 }
    if (queue.count >= MAX_PER_KEY) throw new Busy('Too many writes with the same lock key are waiting.')
    this.#keys.set(key, queue)
    queue.count++
    try {
      await queue.writes.acquire()
      return await work().finally(() => queue.writes.release())
    } finally {
      if (--queue.count === 0) this.#keys.delete(key)
    }
  }
}
