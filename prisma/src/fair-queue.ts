interface Line<Entry> {
  entries: Entry[]
  cost: number
  /** When its turn came, as a number that grows. */
  turn: number
}

/**
 * A queue that is fair between callers: the next entry is one of the caller that has cost least, however many entries each has.
 * Callers of equal cost take turns.
 */
export class FairQueue<Entry> {
  /** Includes callers without entries that have cost more than others. */
  readonly #lines = new Map<string, Line<Entry>>()
  /** The cost with which a new caller begins: that of the caller whose turn came last. */
  #startCost = 0
  #turn = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The number of entries of a caller. */
  sizeOf(caller: string): number {
    return this.#lines.get(caller)?.entries.length ?? 0
  }

  /** @param isFirst whether the entry goes before the caller's other entries */
  add(caller: string, entry: Entry, isFirst = false): void {
    let line = this.#lines.get(caller)
    if (line === undefined) {
      line = { entries: [], cost: this.#startCost, turn: ++this.#turn }
      this.#lines.set(caller, line)
    }
    if (isFirst) line.entries.unshift(entry)
    else line.entries.push(entry)
    this.#size++
  }

  /**
   * Removes the oldest entry of the next caller.
   *
   * @param mayRun whether a caller's entry may be taken; all by default
   * @param cost of the entry; {@link charge} adds to it
   */
  take(mayRun: (caller: string) => boolean = () => true, cost = 1): Entry | undefined {
    if (this.#size === 0) return undefined
    let next: Line<Entry> | undefined
    for (const [caller, line] of this.#lines) {
      if (line.entries.length === 0) {
        if (line.cost <= this.#startCost) this.#lines.delete(caller)
      } else if ((next === undefined || isBefore(line, next)) && mayRun(caller)) next = line
    }
    if (next === undefined) return undefined
    this.#startCost = next.cost
    next.cost += cost
    next.turn = ++this.#turn
    return this.#removed(next.entries.shift())
  }

  /** Removes an entry that need not be taken any more. */
  remove(caller: string, entry: Entry): void {
    const entries = this.#lines.get(caller)?.entries ?? []
    const at = entries.indexOf(entry)
    if (at >= 0) this.#removed(entries.splice(at, 1)[0])
  }

  /** Adds to the cost of a caller whose entry was taken. */
  charge(caller: string, cost: number): void {
    const line = this.#lines.get(caller)
    if (line !== undefined) line.cost += cost
  }

  /** Removes the newest entry of the caller with the most entries; of several such callers, of the last one in order. */
  drop(): Entry | undefined {
    let most: Line<Entry> | undefined
    for (const line of this.#lines.values()) {
      const more = line.entries.length - (most?.entries.length ?? 0)
      if (more > 0 || (more === 0 && most !== undefined && isBefore(most, line))) most = line
    }
    return this.#removed(most?.entries.pop())
  }

  /** Whether with one more entry no other caller would have more than this one. */
  wouldHaveMost(caller: string): boolean {
    const size = this.sizeOf(caller) + 1
    for (const { entries } of this.#lines.values()) if (entries.length > size) return false
    return true
  }

  #removed(entry: Entry | undefined): Entry | undefined {
    if (entry !== undefined) this.#size--
    // Without entries nobody waits for a turn, so that earlier costs no longer matter.
    if (this.#size === 0) this.#lines.clear()
    return entry
  }
}

function isBefore(one: Line<unknown>, other: Line<unknown>): boolean {
  return one.cost < other.cost || (one.cost === other.cost && one.turn < other.turn)
}
