import { Busy } from './errors.ts'
import { LinkedQueue, QueueNode } from './linked-queue.ts'

// Consecutive work without a pause starves the event loop, so no request is read. After this time it yields to it.
const MAX_RUN_MS = 2

interface Options {
  /** How long work waits for a slot, in ms. */
  maxWaitMs: number
  /** How many may wait; any number by default. */
  maxWaiting?: number
  /** Names the work in errors; default `writes`. */
  what?: string
}

/** Slots for work that runs at the same time. Work beyond their number waits in FIFO order. */
export class Slots {
  readonly #options: Options
  #free: number
  readonly #waiting = new LinkedQueue<PromiseWithResolvers<void>>()
  /** Start of the current run of work without a pause. */
  #runStartMs = 0

  constructor(count: number, options: Options) {
    this.#free = count
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Acquires a slot, which {@link release} releases.
   *
   * @param timeoutMs may be infinite
   * @returns undefined if a slot was free
   * @throws Busy on timeout, or if too many wait
   */
  acquire(timeoutMs = this.#options.maxWaitMs): Promise<void> | undefined {
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

  /** @throws Busy as {@link acquire} does */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.acquire()
    try {
      return await work()
    } finally {
      this.release()
    }
  }

  /** Rejects all work that waits. */
  rejectAll(error: Error): void {
    for (let node = this.#waiting.first; node !== undefined; node = this.#waiting.first) {
      this.#waiting.remove(node)
      node.member.reject(error)
    }
  }

  #handOver(): void {
    const next = this.#waiting.first
    if (next === undefined) {
      this.#free++
      return
    }
    this.#waiting.remove(next)
    next.member.resolve()
  }

  async #wait(timeoutMs: number): Promise<void> {
    const { maxWaiting = Number.POSITIVE_INFINITY, what = 'writes' } = this.#options
    if (this.#waiting.size >= maxWaiting) throw new Busy(`Too many ${what} are waiting.`)
    const node = new QueueNode(Promise.withResolvers<void>())
    this.#waiting.add(node)
    const { promise, reject } = node.member
    const expire = () => {
      this.#waiting.remove(node)
      reject(new Busy(`The wait for other ${what} timed out.`))
    }
    const timer = Number.isFinite(timeoutMs) ? setTimeout(expire, timeoutMs) : undefined
    await promise.finally(() => clearTimeout(timer))
  }
}
