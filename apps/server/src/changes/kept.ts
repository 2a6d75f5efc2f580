import { type Entry, type Filter, wanted } from './entry.ts'
import { type Position, START } from './position.ts'

const MAX_ENTRIES = 10_000
const MAX_SIZE = 16 * 1024 * 1024
/** What remains of a full memory: to drop the oldest entries moves all others, so many are dropped at a time. */
const REST = 0.75

/** Entries, and the last position that was examined. */
export interface Found {
  entries: Entry[]
  to: Position
}

/** The newest entries of the audit log, for all followers of the process. */
export class Kept {
  #entries: Entry[] = []
  #size = 0
  /** The position before the first of them. */
  #floor = START

  /** Drops all, and begins again after a position. */
  clear(floor: Position): void {
    this.#entries = []
    this.#size = 0
    this.#floor = floor
  }

  add(entries: Entry[]): void {
    for (const entry of entries) {
      this.#entries.push(entry)
      this.#size += entry.size
    }
    if (this.#entries.length > MAX_ENTRIES || this.#size > MAX_SIZE) this.#dropOldest()
  }

  /**
   * The next entries after a position that a filter wants, at most `max`, and the last one that was examined. Undefined if
   * entries after the position were dropped.
   */
  after(position: Position, filter: Filter, max: number): Found | undefined {
    const { id } = position
    if (id < this.#floor.id) return undefined
    let [low, high] = [0, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#entries[middle] as Entry).id <= id) low = middle + 1
      else high = middle
    }
    const entries: Entry[] = []
    let to = position
    for (let at = low; at < this.#entries.length && entries.length < max; at++) {
      const entry = this.#entries[at] as Entry
      const found = wanted(entry, filter)
      if (found !== undefined) entries.push(found)
      to = entry
    }
    return { entries, to }
  }

  #dropOldest(): void {
    let dropped = 0
    for (const { id, at, size } of this.#entries) {
      if (this.#entries.length - dropped <= MAX_ENTRIES * REST && this.#size <= MAX_SIZE * REST) break
      dropped++
      this.#size -= size
      this.#floor = { id, at }
    }
    this.#entries.splice(0, dropped)
  }
}
