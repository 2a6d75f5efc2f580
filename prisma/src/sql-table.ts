import { setImmediate } from 'node:timers/promises'
import { keysetRanges, type Position } from './keyset.ts'
import { readRanges } from './ranges.ts'
import { type References, referencesOf, type Siblings } from './references.ts'
import { type Told, withEntries } from './sql-entries.ts'
import { BEFORE, type Insertion, SqlText, type Statement } from './sql-text.ts'
import {
  type Change,
  type Changes,
  type Columns,
  type Entering,
  type Entity,
  isUnchanged,
  type Kind,
  type NewRow,
  type PageQuery,
  type RecordTable,
  type Where,
} from './table.ts'
import { type Declarations, declarations, mapDeclarations } from './tables.ts'

type Stored = Record<string, unknown>
type Awaitable<T> = T | Promise<T>

/** Runs SQL with `?` for each value on one connection. Dates and booleans go in as they are and may come back as numbers. */
export interface Executor {
  /** Whether each statement is a journey to a server: then one does where it can, and nobody here waits for it. */
  readonly isRemote: boolean
  all(statement: Statement): Awaitable<unknown[]>
  /** @returns how many rows were written */
  run(statement: Statement): Awaitable<number>
  /**
   * @param rows the values of each, in the order of the insertion's columns
   * @param first the index of the first of them among all that are stored
   * @param complete what is made of the statement
   * @returns the ids of the rows, in their order
   * @throws UniqueViolation with the index of the first row that cannot be stored
   */
  insert(
    insertion: Insertion,
    rows: unknown[][],
    first: number,
    complete?: (statement: Statement, answer: string) => Statement,
  ): Awaitable<number[]>
}

// On SQLite a few milliseconds, in which nobody else is served.
export const ROWS_REMOVED_AT_ONCE = 500
const ROWS_INSERTED_AT_ONCE = 100
const ROWS_ENTERED_AT_ONCE = 10_000
const ROWS_SKIPPED_AT_ONCE = 2_000
const LONGEST_STEP_MS = 40
const IDS_COUNTED_AT_ONCE = 50_000

/** Every table, through an executor. */
export const sqlTables = sqlTablesOf(declarations)

/** Gives the tables of some declarations, through an executor. */
export function sqlTablesOf<All>(declarations: Declarations<All>): (executor: Executor) => All {
  const textsFor = (isRemote: boolean) => mapDeclarations(declarations, (each) => new SqlText(each, isRemote))
  const references = referencesOf(declarations)
  let local: ReturnType<typeof textsFor> | undefined
  let remote: typeof local
  return (executor) => {
    if (executor.isRemote) remote ??= textsFor(true)
    else local ??= textsFor(false)
    const texts = (executor.isRemote ? remote : local) as ReturnType<typeof textsFor>
    const siblings = () => tables as unknown as Siblings
    const tables = mapDeclarations(
      declarations,
      ({ columns }, name) => new SqlTable(columns, texts[name], executor, references[name], siblings),
    )
    return tables as All
  }
}

class SqlTable<Row extends Entity> implements RecordTable<Row> {
  readonly columns: Columns<Row>
  readonly #text: SqlText<Row>
  readonly #executor: Executor
  readonly #references: References
  readonly #siblings: () => Siblings
  readonly #entering: Entering | undefined

  constructor(
    columns: Columns<Row>,
    text: SqlText<Row>,
    executor: Executor,
    references: References,
    siblings: () => Siblings,
    entering?: Entering,
  ) {
    this.columns = columns
    this.#text = text
    this.#executor = executor
    this.#references = references
    this.#siblings = siblings
    this.#entering = entering
  }

  get entering(): RecordTable<Row>['entering'] {
    if (!this.#executor.isRemote) return undefined
    return (entering) =>
      new SqlTable(this.columns, this.#text, this.#executor, this.#references, this.#siblings, entering)
  }

  async find<Column extends keyof Row = keyof Row>(
    where: Where<Row>,
    columns?: readonly Column[],
  ): Promise<Pick<Row, Column> | undefined> {
    const rows = this.#rows(this.#text.find(where, columns))
    return (rows instanceof Promise ? await rows : rows)[0]
  }

  async page<Column extends keyof Row = keyof Row>(query: PageQuery<Row, Column>): Promise<Pick<Row, Column>[]> {
    const { beyond, skip = 0 } = query
    if (skip > ROWS_SKIPPED_AT_ONCE && !this.#executor.isRemote) return this.#farPage(query)
    if (beyond === undefined) return this.#rows(this.#text.page(query))
    if (this.#executor.isRemote && beyond.length > 1) return this.#rows(this.#text.pageOfRanges(query, beyond))
    return readRanges(beyond, query.take, (range, take) => this.#rows(this.#text.page({ ...query, take }, range)))
  }

  // On SQLite rows are skipped key by key: the longest single statement reads so many.
  async #farPage<Column extends keyof Row>({ skip = 0, ...query }: PageQuery<Row, Column>) {
    const { where, order } = query
    const columns = [...new Set<keyof Row>(['id', order.column])]
    let { beyond } = query
    for (let left = skip; left > 0; await setImmediate()) {
      const take = Math.min(left, ROWS_SKIPPED_AT_ONCE)
      const begun = performance.now()
      const rows = await this.page({ columns, where, order, beyond, take })
      // Where no index has the order, each step sorts all that matches: then one statement costs least.
      if (performance.now() - begun > LONGEST_STEP_MS) return this.#rows(this.#text.page({ ...query, skip }))
      const last = rows[take - 1]
      if (last === undefined) return []
      const position = { id: last.id, key: last[order.column] as Position['key'] }
      beyond = keysetRanges(where, order, this.columns[order.column], position)
      left -= take
    }
    return this.page({ ...query, beyond })
  }

  /** On SQLite a long count is taken in parts, between which others may write: it is exact while nobody does. */
  async count(where: Where<Row>): Promise<number> {
    const largest = this.#executor.isRemote || !('id' in this.columns) ? 0 : await this.#largestId()
    if (largest <= IDS_COUNTED_AT_ONCE) return this.#count(where)
    let total = 0
    for (let first = 0; first < largest; first += IDS_COUNTED_AT_ONCE) {
      if (first > 0) await setImmediate()
      // Rows that come meanwhile have larger ids.
      const isLast = first + IDS_COUNTED_AT_ONCE >= largest
      const ids = { gt: first, lte: isLast ? undefined : first + IDS_COUNTED_AT_ONCE }
      total += await this.#count(where, { id: ids } as Where<Row>)
    }
    return total
  }

  async #largestId(): Promise<number> {
    const order = { column: 'id', descending: true } as const
    return (await this.page({ columns: ['id'], where: {}, order, take: 1 }))[0]?.id ?? 0
  }

  async #count(where: Where<Row>, range?: Where<Row>): Promise<number> {
    const [row] = (await this.#executor.all(this.#text.count(where, range))) as [{ total: number | string }]
    return Number(row.total)
  }

  async insert(row: NewRow<Row>): Promise<Row> {
    return (await this.insertMany([row]))[0] as Row
  }

  async insertMany(rows: NewRow<Row>[]): Promise<Row[]> {
    const { insertion } = this.#text
    const values = rows.map((row) => insertion.columns.map(({ name }) => storedValue(row, name)))
    // On SQLite each row is a statement, and those before the one that fails would be stored.
    if (!this.#executor.isRemote && rows.length > 1) await this.#references.check(rows, this.#siblings())
    try {
      const ids = await this.#insert(values)
      return values.map((values, index) => this.#inserted(ids[index] as number, values))
    } catch (error) {
      throw await this.#references.ofInsert(error, rows, this.#siblings())
    }
  }

  async update(id: number, versions: number[] | undefined, changes: Changes<Row>): Promise<Change<Row> | undefined> {
    try {
      return await this.#update(id, versions, changes)
    } catch (error) {
      throw await this.#references.ofUpdate(error, changes, this.#siblings())
    }
  }

  async #update(id: number, versions: number[] | undefined, changes: Changes<Row>): Promise<Change<Row> | undefined> {
    if (this.#executor.isRemote) {
      const update = this.#text.updateReturning(id, versions, changes)
      const [row] = await this.#executor.all(this.#entered(update, { before: BEFORE, after: '', changes }))
      return row === undefined ? undefined : this.#change(row as Stored)
    }
    // Nobody else writes meanwhile.
    const before = await this.find({ id } as Where<Row>)
    if (before === undefined || versions?.includes(before.version) === false) return undefined
    if (isUnchanged(before, changes)) return { before, after: before }
    await this.#executor.run(this.#text.update(id, changes))
    return { before, after: changed(before, changes) }
  }

  async delete(id: number, versions: number[] | undefined): Promise<Row | undefined> {
    const statement = this.#entered(this.#text.deleteReturning(id, versions), { before: '' })
    return (
      await this.#removing(
        () => this.#rows(statement),
        async () => [id],
      )
    )[0]
  }

  async deleteAll(where: Where<Row>): Promise<number> {
    return this.#removing(
      () => this.#deleteAll(where),
      () => this.#chosen(where, ROWS_REMOVED_AT_ONCE),
    )
  }

  async #deleteAll(where: Where<Row>): Promise<number> {
    if (this.#entering !== undefined) return this.#deleteEntered(where)
    if (this.#executor.isRemote) return this.#executor.run(this.#text.deleteAll(where))
    const some = this.#text.deleteSome(where, ROWS_REMOVED_AT_ONCE)
    for (let total = 0; ; await setImmediate()) {
      const removed = await this.#executor.run(some)
      total += removed
      if (removed < ROWS_REMOVED_AT_ONCE) return total
    }
  }

  async deleteSome(where: Where<Row>, most: number): Promise<Row[]> {
    const statement = this.#entered(this.#text.deleteSomeReturning(where, most), { before: '' })
    return this.#removing(
      () => this.#rows(statement),
      () => this.#chosen(where, most),
    )
  }

  /** @param ids gives those of the rows that are to be removed, for an error to be explained by */
  async #removing<T>(remove: () => Awaitable<T>, ids: () => Promise<number[]>): Promise<T> {
    try {
      return await remove()
    } catch (error) {
      throw await this.#references.ofDelete(error, ids, this.#siblings())
    }
  }

  async #chosen(where: Where<Row>, most: number): Promise<number[]> {
    const rows = (await this.#executor.all(this.#text.chosen(where, most))) as { id: number }[]
    return rows.map(({ id }) => id)
  }

  /** A statement that gives the rows it writes, with the entries that tell of them. */
  #entered(statement: Statement, told: Told): Statement {
    if (this.#entering === undefined) return statement
    return withEntries(statement, this.columns as Record<string, Kind>, this.#entering, told)
  }

  // So many at once, for a statement must end within its time.
  async #deleteEntered(where: Where<Row>): Promise<number> {
    const some = this.#text.deleteSomeReturning(where, ROWS_ENTERED_AT_ONCE)
    const counted = this.#entered(some, { before: '', answer: 'count(*)::int AS "total"' })
    for (let sum = 0; ; ) {
      const [{ total }] = (await this.#executor.all(counted)) as [{ total: number }]
      sum += total
      if (total < ROWS_ENTERED_AT_ONCE) return sum
    }
  }

  // What is at hand is not waited for: that is faster.
  #rows(statement: Statement): Awaitable<Row[]> {
    const rows = this.#executor.all(statement) as Awaitable<Stored[]>
    return rows instanceof Promise ? rows.then((rows) => this.#revived(rows)) : this.#revived(rows)
  }

  #revived(rows: Stored[]): Row[] {
    const [first] = rows
    if (first === undefined) return []
    const dates = this.#text.dates.filter((column) => column in first)
    if (dates.length > 0) for (const row of rows) this.#reviveDates(row, dates)
    for (const column of this.#text.bools) {
      if (column in first) for (const row of rows) if (row[column] !== null) row[column] = row[column] === 1
    }
    return rows as Row[]
  }

  #reviveDates(row: Stored, dates = this.#text.dates): Row {
    for (const column of dates) {
      const value = row[column]
      if (typeof value === 'number') row[column] = new Date(value)
    }
    return row as Row
  }

  #change(row: Stored): Change<Row> {
    const [before, after]: [Stored, Stored] = [{}, {}]
    for (const column in this.columns) {
      before[column] = row[BEFORE + column]
      after[column] = row[column]
    }
    return { before: this.#reviveDates(before), after: this.#reviveDates(after) }
  }

  // Other requests are served in between, as with deleteAll.
  async #insert(values: unknown[][]): Promise<number[]> {
    const { insertion } = this.#text
    if (this.#executor.isRemote || values.length <= ROWS_INSERTED_AT_ONCE) {
      const complete = (statement: Statement, answer: string) => this.#entered(statement, { after: '', answer })
      return this.#executor.insert(insertion, values, 0, this.#entering && complete)
    }
    const ids: number[] = []
    for (let first = 0; first < values.length; first += ROWS_INSERTED_AT_ONCE) {
      if (first > 0) await setImmediate()
      const some = values.slice(first, first + ROWS_INSERTED_AT_ONCE)
      ids.push(...(await this.#executor.insert(insertion, some, first)))
    }
    return ids
  }

  #inserted(id: number, values: unknown[]): Row {
    const row: Record<string, unknown> = 'id' in this.columns ? { id } : {}
    for (const [index, { name }] of this.#text.insertion.columns.entries()) row[name] = values[index]
    return row as Row
  }
}

/** What an update makes of a row, as the statement does it. */
function changed<Row extends Entity>(before: Row, changes: Changes<Row>): Row {
  const after: Row & { updated_at?: Date } = { ...before, version: before.version + 1 }
  const { updated_at: stored } = after
  for (const [column, value] of Object.entries(changes)) {
    if (value !== undefined) Object.assign(after, { [column]: value })
  }
  if (stored !== undefined && after.updated_at !== undefined && after.updated_at < stored) after.updated_at = stored
  return after
}

function storedValue(row: object, column: string): unknown {
  if (column === 'version') return 1
  return (row as Record<string, unknown>)[column] ?? null
}
