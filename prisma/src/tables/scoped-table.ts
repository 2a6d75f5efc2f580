import { OutsideScope } from '../errors.ts'
import { createPacer } from '../pacer.ts'
import { atLaterIndex, type Written } from './row-writes.ts'
import type { ScopedRow as Row, Scope } from './scope.ts'
import { type AnyWrite, refuseReferences, type ScopedReference } from './scoped-references.ts'
import type { Changes, Columns, PageQuery, RecordTable, SummaryQuery, Where, WrittenRows } from './types.ts'
import { within } from './within.ts'

/** What a scoped table has to do with others. */
export interface Related {
  references: readonly ScopedReference[]
  /** @throws ReferenceViolation if deleting rows would also delete rows outside a scope */
  refuseCascades: (ids: number[]) => Promise<void>
}

// Looking up so many ids takes SQLite a millisecond.
const CHUNK = 1_000
const BY_ID = { column: 'id', descending: false } as const

/** A table of which only a scope exists: for every read, and for what writes can name, refer to, delete and result in. */
export class ScopedTable implements RecordTable<Row> {
  readonly columns: Columns<Row>
  readonly #all: RecordTable<Row>
  readonly #scope: Scope | undefined
  readonly #related: Related

  /** @param scope undefined if all rows exist, but other tables have scopes */
  constructor(all: RecordTable<Row>, scope: Scope | undefined, related: Related) {
    this.columns = all.columns
    this.#all = all
    this.#scope = scope
    this.#related = related
  }

  get searchLimit(): number | undefined {
    return this.#all.searchLimit
  }

  find<Column extends keyof Row>(where: Where<Row>, columns?: readonly Column[]) {
    return this.#all.find(this.#within(where), columns)
  }

  page<Column extends keyof Row>(query: PageQuery<Row, Column>) {
    return this.#all.page({ ...query, where: this.#within(query.where) })
  }

  count(where: Where<Row>) {
    return this.#all.count(this.#within(where))
  }

  summarize(query: SummaryQuery<Row>) {
    return this.#all.summarize({ ...query, where: this.#within(query.where) })
  }

  lock(where: Where<Row>, limit: number, use?: 'delete') {
    return this.#all.lock(this.#within(where), limit, use)
  }

  deleteAll(where: Where<Row>, limit?: number) {
    return this.#all.deleteAll(this.#within(where), limit)
  }

  async lockFor(rows: readonly (AnyWrite | { change: Changes<Row> })[]): Promise<void> {
    const visible = await this.#visible(idsIn(rows))
    await this.#all.lockFor(rows.filter((row) => !('id' in row) || visible.has(row.id)))
  }

  write<W extends readonly AnyWrite[] | []>(rows: W): Promise<WrittenRows<W, Row>>
  async write(rows: readonly AnyWrite[]): Promise<unknown> {
    const locked = await this.#locked(rows)
    const kept = rows.flatMap((row, index) => ('id' in row && !locked.has(row.id) ? [] : [{ row, index }]))
    await refuseReferences(this.#related.references, kept, locked)
    await this.#related.refuseCascades(kept.flatMap(({ row }) => ('delete' in row ? [row.id] : [])))
    const written: (Written<Row> | undefined)[] = await this.#all.write(kept.map(({ row }) => row)).catch((error) => {
      const { index } = error as { index?: number }
      throw index === undefined ? error : atLaterIndex(error, (kept[index]?.index ?? index) - index)
    })
    const results: (Written<Row> | undefined)[] = rows.map(() => undefined)
    for (const [at, { index }] of kept.entries()) {
      const { after } = written[at] ?? {}
      const outside = after && this.#scope?.outside(after)
      if (outside !== undefined) throw new OutsideScope([outside], { index })
      results[index] = written[at]
    }
    return results
  }

  #within(where: Where<Row>): Where<Row> {
    return this.#scope === undefined ? where : within(where, this.#scope.where)
  }

  /** Locks the rows to write that exist, as every write does. The transaction of another caller must not wait for any others. */
  async #locked(rows: readonly AnyWrite[]): Promise<Map<number, Row>> {
    const ids = idsIn(rows)
    if (ids.length === 0) return new Map()
    await this.lockFor(rows)
    const columns = ['id', 'version', ...this.#related.references.map(({ column }) => column)]
    const use = rows.some((row) => 'delete' in row) ? 'delete' : undefined
    const stored = await inChunks(ids, async (some) => {
      const found = await this.lock({ id: { in: some } }, some.length, use)
      const where = { id: { in: found.map(({ id }) => id) } }
      return this.#all.page({ columns, where, order: BY_ID, take: some.length })
    })
    return new Map(stored.map((row) => [row.id as number, row as Row]))
  }

  async #visible(ids: number[]): Promise<Set<number>> {
    if (ids.length === 0 || this.#scope === undefined) return new Set(ids)
    const found = await inChunks(ids, (some) =>
      this.page({ columns: ['id'], where: { id: { in: some } }, order: BY_ID, take: some.length }),
    )
    return new Set(found.map(({ id }) => id as number))
  }
}

/** Reads the rows with some ids, in their order. On SQLite other requests are served in between. */
async function inChunks<T>(ids: readonly number[], read: (some: number[]) => Promise<T[]>): Promise<T[]> {
  const ordered = [...new Set(ids)].toSorted((a, b) => a - b)
  const rows: T[] = []
  const pace = createPacer()
  for (let first = 0; first < ordered.length; first += CHUNK) {
    await pace()
    for (const row of await read(ordered.slice(first, first + CHUNK))) rows.push(row)
  }
  return rows
}

function idsIn(rows: readonly object[]): number[] {
  return rows.flatMap((row) => ('id' in row && typeof row.id === 'number' ? [row.id] : []))
}
