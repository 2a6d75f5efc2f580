/** Entries of callers, taken by turns of the callers, however many entries one of them has. */
export class FairQueue<Entry> {
  // In the order of their turns.
  readonly #callers = new Map<string, Entry[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(caller: string, entry: Entry): void {
    const entries = this.#callers.get(caller)
    if (entries === undefined) this.#callers.set(caller, [entry])
    else entries.push(entry)
    this.#size++
  }

  /** The oldest entry of the caller whose turn it is. */
  take(): Entry | undefined {
    for (const [caller, entries] of this.#callers) {
      const entry = entries.shift()
      this.#callers.delete(caller)
      if (entries.length > 0) this.#callers.set(caller, entries)
      this.#size--
      return entry
    }
    return undefined
  }

  /** The newest entry of the caller that has most; of several, of the one whose turn is last. */
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
