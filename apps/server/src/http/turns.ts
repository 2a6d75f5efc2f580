import { Line, Place } from './line.ts'

/** Runs tasks in their order, a few in each round of the event loop, so that thousands of them delay nothing else. */
export class Turns {
  readonly #most: number
  readonly #waiting = new Line<() => void>()
  #ran = 0

  /** @param most tasks in a round */
  constructor(most: number) {
    this.#most = most
  }

  /** How many tasks wait. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Runs a task, at once where there is room in this round. */
  run(task: () => void): void {
    if (this.#ran === this.#most) {
      this.#waiting.add(new Place(task))
      return
    }
    if (this.#ran++ === 0) setImmediate(() => this.#next())
    task()
  }

  #next(): void {
    this.#ran = 0
    for (let left = Math.min(this.#most, this.#waiting.size); left > 0; left--) {
      const place = this.#waiting.first as Place<() => void>
      this.#waiting.remove(place)
      this.run(place.member)
    }
  }
}
