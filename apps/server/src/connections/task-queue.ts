import { LinkedQueue, QueueNode } from '@resource/database'

/** Runs tasks in FIFO order, a few per event-loop iteration, so that thousands of tasks do not delay other work. */
export class TaskQueue {
  readonly #maxPerIteration: number
  readonly #waiting = new LinkedQueue<() => void>()
  #ran = 0

  /** @param maxPerIteration tasks per event-loop iteration */
  constructor(maxPerIteration: number) {
    this.#maxPerIteration = maxPerIteration
  }

  /** The number of waiting tasks. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Runs a task: synchronously if this iteration has capacity left, otherwise in a later iteration. */
  run(task: () => void): void {
    if (this.#ran === this.#maxPerIteration) {
      this.#waiting.add(new QueueNode(task))
      return
    }
    if (this.#ran++ === 0) setImmediate(() => this.#next())
    task()
  }

  #next(): void {
    this.#ran = 0
    for (let left = Math.min(this.#maxPerIteration, this.#waiting.size); left > 0; left--) {
      const node = this.#waiting.first as QueueNode<() => void>
      this.#waiting.remove(node)
      this.run(node.member)
    }
  }
}
