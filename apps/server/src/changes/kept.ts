import { type Entry, type Filter, isWanted } from './entry.ts'
import { type Position, START } from './position.ts'

const MAX_ENTRIES = 10_000
const MAX_SIZE = 16 * 1024 * 1024

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
    this.#entries.push(...entries)
    for (const { size } of entries) this.#size += size
    let dropped = 0
    while (this.#entries.length - dropped > MAX_ENTRIES || this.#size > MAX_SIZE) {
      const entry = this.#entries[dropped++]
      if (entry === undefined) break
      this.#size -= entry.size
      this.#floor = { id: entry.id, at: entry.at }
    }
    this.#entries.splice(0, dropped)
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
      if (isWanted(entry, filter)) entries.push(entry)
      to = entry
    }
    return { entries, to }
  }
}
