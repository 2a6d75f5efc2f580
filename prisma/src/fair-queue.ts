/** A queue that is fair between callers: it serves them round-robin, however many entries each has. */
export class FairQueue<Entry> {
  // In round-robin order.
  readonly #callers = new Map<string, Entry[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** @param isFirst whether the entry goes before the caller's other entries */
  add(caller: string, entry: Entry, isFirst = false): void {
    const entries = this.#callers.get(caller)
    if (entries === undefined) this.#callers.set(caller, [entry])
    else if (isFirst) entries.unshift(entry)
    else entries.push(entry)
    this.#size++
  }

  /**
   * Removes the oldest entry of the next caller.
   *
   * @param mayRun whether a caller's entry may be taken; all by default
   */
  take(mayRun: (caller: string) => boolean = () => true): Entry | undefined {
    for (const [caller, entries] of this.#callers) {
      if (!mayRun(caller)) continue
      const entry = entries.shift()
      this.#callers.delete(caller)
      if (entries.length > 0) this.#callers.set(caller, entries)
      this.#size--
      return entry
    }
    return undefined
  }

  /** Removes the newest entry of the caller with the most entries; of several such callers, of the last one in order. */
  drop(): Entry | undefined {
    let most: [string, Entry[]] | undefined
    for (const caller of this.#callers) if (caller[1].length >= (most?.[1].length ?? 0)) most = caller
    if (most === undefined) return undefined
    const [caller, entries] = most
    const entry = entries.pop()
    if (entries.length === 0) this.#callers.delete(caller)
    this.#size--
    return entry
  }
}
