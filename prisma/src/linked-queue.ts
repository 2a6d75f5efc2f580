/** A node of a LinkedQueue. A node is in at most one queue at a time. */
export class QueueNode<Member> {
  readonly member: Member
  before: QueueNode<Member> | undefined
  after: QueueNode<Member> | undefined

  constructor(member: Member) {
    this.member = member
  }
}

/**
 * A FIFO queue from which any member can be removed in constant time.
 *
 * Not a Set: V8 rebuilds the hash table of a Set with many additions and deletions from time to time, and each old table
 * points to the next. Once one table is in the old generation, it keeps all later tables and their members alive until a
 * full garbage collection. Removed nodes of this queue point to nothing.
 */
export class LinkedQueue<Member> {
  size = 0
  first: QueueNode<Member> | undefined
  #last: QueueNode<Member> | undefined

  add(node: QueueNode<Member>): void {
    node.before = this.#last
    if (this.#last === undefined) this.first = node
    else this.#last.after = node
    this.#last = node
    this.size++
  }

  /** @param node must be in this queue */
  remove(node: QueueNode<Member>): void {
    const { before, after } = node
    if (before === undefined) this.first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    node.before = undefined
    node.after = undefined
    this.size--
  }

  /** Iterates from the oldest to the newest. The current member may be removed during iteration. */
  *[Symbol.iterator](): Generator<Member> {
    for (let node = this.first; node !== undefined; ) {
      const { member, after } = node
      yield member
      node = after
    }
  }
}
