import type { Awaitable } from './executor.ts'
import type { Entity, Where } from './types.ts'
import { scopeIn } from './within.ts'

// Receiving so many rows takes a millisecond.
const MAX_TOGETHER = 100
// Of PostgreSQL's type for ids. A value beyond it would fail the statement, and with it the reads of others.
const MAX_ID = 2_147_483_647

interface Find<Row> {
  id: number
  resolve: (row: Row | undefined) => void
  reject: (error: unknown) => void
}

type Columns<Row> = readonly (keyof Row)[] | undefined

/**
 * Reads of single rows of a table by id. Those that arrive in one iteration of the event loop share a statement: a statement costs
 * more than the rows it returns. While statements wait, only reads of one caller share one: it waits in the queue of that caller.
 */
export class SharedFinds<Row extends Entity> {
  readonly #read: (ids: number[], columns: Columns<Row>) => Awaitable<Row[]>
  readonly #queuedCaller: () => string
  /** By the caller, and by their list of columns. */
  readonly #waiting = new Map<string, Map<Columns<Row>, Find<Row>[]>>()

  /**
   * @param read returns the rows with these ids, in any order
   * @param queuedCaller as `queuedCaller` of the executor
   */
  constructor(read: (ids: number[], columns: Columns<Row>) => Awaitable<Row[]>, queuedCaller: () => string = () => '') {
    this.#read = read
    this.#queuedCaller = queuedCaller
  }

  /** The id, if a read with this condition and these columns may share a statement with others. */
  static idOf<Row>(where: Where<Row>, columns: Columns<Row>): number | undefined {
    const { id, ...others } = where as { id?: unknown }
    if (Object.keys(others).length > 0 || scopeIn(where) !== undefined) return undefined
    if (typeof id !== 'number' || !(Math.abs(id) <= MAX_ID)) return undefined
    return columns === undefined || columns.includes('id' as keyof Row) ? id : undefined
  }

  find(id: number, columns: Columns<Row>): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      const find = { id, resolve, reject }
      const caller = this.#queuedCaller()
      const waiting = this.#waiting.get(caller) ?? new Map<Columns<Row>, Find<Row>[]>()
      const together = waiting.get(columns)
      if (together !== undefined && together.length < MAX_TOGETHER) {
        together.push(find)
        return
      }
      const first = [find]
      this.#waiting.set(caller, waiting.set(columns, first))
      setImmediate(() => {
        if (waiting.get(columns) === first) waiting.delete(columns)
        if (waiting.size === 0 && this.#waiting.get(caller) === waiting) this.#waiting.delete(caller)
        void this.#send(first, columns)
      })
    })
  }

  async #send(finds: Find<Row>[], columns: Columns<Row>): Promise<void> {
    const ids = finds.map(({ id }) => id)
    try {
      const rows = await this.#read(ids, columns)
      const found = new Map(rows.map((row) => [row.id, row]))
      for (const { id, resolve } of finds) {
        const row = found.get(id)
        // Each gets an object of its own, which it may change.
        resolve(row && { ...row })
      }
    } catch (error) {
      for (const { reject } of finds) reject(error)
    }
  }
}
