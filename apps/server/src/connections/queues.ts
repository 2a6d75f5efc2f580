/** Where a member stands in a line, if it does. */
export class Place<Member> {
  readonly member: Member
  before: Place<Member> | undefined
  after: Place<Member> | undefined

  constructor(member: Member) {
    this.member = member
  }
}

/**
 * A queue that any member can leave in constant time.
 *
 * Not a Set: V8 makes a Set that is added to and deleted from anew now and then, and the old table points to the new one.
 * Once one of them is in the old generation, each is kept by the one before, with its members, until all of memory is
 * collected. Here what has left points to nothing.
 */
export class Line<Member> {
  size = 0
  first: Place<Member> | undefined
  #last: Place<Member> | undefined

  add(place: Place<Member>): void {
    place.before = this.#last
    if (this.#last === undefined) this.first = place
    else this.#last.after = place
    this.#last = place
    this.size++
  }

  /** @param place one that is in this line */
  remove(place: Place<Member>): void {
    const { before, after } = place
    if (before === undefined) this.first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    place.before = undefined
    place.after = undefined
    this.size--
  }

  /** The first first. The one at hand may leave meanwhile. */
  *[Symbol.iterator](): Generator<Member> {
    for (let place = this.first; place !== undefined; ) {
      const { member, after } = place
      yield member
      place = after
    }
  }
}

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
