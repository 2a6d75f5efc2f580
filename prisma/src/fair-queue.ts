interface Line<Entry> {
  entries: Entry[]
  cost: number
}

/**
 * A queue that is fair between callers: the next entry is one of the caller that has cost least, however many entries each has.
 * Callers of equal cost take turns.
 */
export class FairQueue<Entry> {
  /** Of equal cost, in the order in which their turns come. Includes callers without entries that have cost more than others. */
  readonly #lines = new Map<string, Line<Entry>>()
  /** The cost with which a new caller begins: that of the caller whose turn came last. */
  #startCost = 0
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
      line = { entries: [], cost: this.#startCost }
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
    let next: [string, Line<Entry>] | undefined
    for (const each of this.#lines) {
      const [caller, line] = each
      if (line.entries.length === 0) {
        if (line.cost <= this.#startCost) this.#lines.delete(caller)
      } else if (line.cost < (next?.[1].cost ?? Number.POSITIVE_INFINITY) && mayRun(caller)) next = each
    }
    if (next === undefined) return undefined
    const [caller, line] = next
    this.#startCost = line.cost
    line.cost += cost
    this.#lines.delete(caller)
    this.#lines.set(caller, line)
    return this.#removed(line.entries.shift())
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
    let most: Entry[] = []
    for (const { entries } of this.#lines.values()) if (entries.length >= most.length) most = entries
    return this.#removed(most.pop())
  }

  #removed(entry: Entry | undefined): Entry | undefined {
    if (entry !== undefined) this.#size--
    // Without entries nobody waits for a turn, so that earlier costs no longer matter.
    if (this.#size === 0) this.#lines.clear()
    return entry
  }
}
