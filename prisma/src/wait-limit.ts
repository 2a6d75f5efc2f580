import { LinkedQueue, QueueNode } from './linked-queue.ts'

// Fewer waiting queries are no overload, however slow they are: a burst of a hundred concurrent callers is served.
const BURST_QUEUE = 100
// Under overload this many queries may always wait.
const MIN_QUEUE = 10
// Overload begins when a burst would wait longer than this.
const MAX_WAIT_MS = 250
// The maximum wait under overload, as for the event loop. Objects that wait longer survive V8's young-generation
// collections, and so do the rows of their results. For pages of 1,000 rows that took a third of the CPU (docs/decisions/limits.md).
const OVERLOAD_WAIT_MS = 30
// Overload ends when the queue has been short for this time.
const CALM_MS = 500
// Weight of a sample in the moving average of the time between two waits that end: about the last 32 count.
const WEIGHT = 1 / 32

/**
 * Limits the wait in a queue of queries. Without it, the queue grows under overload until every query times out.
 */
export class WaitLimit {
  /** When each wait began. */
  readonly #waiting = new LinkedQueue<number>()
  #lastEndMs = 0
  #meanIntervalMs = 0
  #isOverloaded = false
  #lastLongMs = 0

  /** @returns the wait of a query, for {@link end} */
  begin(): QueueNode<number> {
    const wait = new QueueNode(performance.now())
    this.#waiting.add(wait)
    return wait
  }

  /** @param isServed whether the query runs now; else it was given up */
  end(wait: QueueNode<number>, isServed: boolean): void {
    if (isServed) {
      this.#meanIntervalMs += (this.stalledMs - this.#meanIntervalMs) * WEIGHT
      this.#lastEndMs = performance.now()
    }
    this.#waiting.remove(wait)
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** For how long queries have waited without one that was served, in milliseconds; 0 if none waits. */
  get stalledMs(): number {
    const { first } = this.#waiting
    return first === undefined ? 0 : performance.now() - Math.max(first.member, this.#lastEndMs)
  }

  /** Whether the wait of a new query would be too long. */
  isOverloaded(): boolean {
    const { size } = this.#waiting
    const nowMs = performance.now()
    if (this.#isOverloaded && nowMs - this.#lastLongMs > CALM_MS) this.#isOverloaded = false
    if (size < MIN_QUEUE) return false
    const isStuck = this.stalledMs > MAX_WAIT_MS
    const expectedMs = size * this.#meanIntervalMs
    if (!isStuck && expectedMs <= OVERLOAD_WAIT_MS) return false
    this.#lastLongMs = nowMs
    if (size >= BURST_QUEUE && (isStuck || expectedMs > MAX_WAIT_MS)) this.#isOverloaded = true
    return this.#isOverloaded
  }
}
