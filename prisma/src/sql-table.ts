import { setImmediate } from 'node:timers/promises'
import { readRanges } from './ranges.ts'
import { type Told, withEntries } from './sql-entries.ts'
import { BEFORE, type Insertion, SqlText, type Statement } from './sql-text.ts'
import type {
  Change,
  Changes,
  Columns,
  Entering,
  Entity,
  Kind,
  NewRow,
  PageQuery,
  RecordTable,
  Where,
} from './table.ts'
import { mapTables, type Tables } from './tables.ts'

type Stored = Record<string, unknown>
type Awaitable<T> = T | Promise<T>

/** Runs SQL with `?` for each value on one connection. Dates go in as they are and may come back as milliseconds. */
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

const texts = mapTables((declaration) => new SqlText(declaration))

/** Every table, through an executor. */
export function sqlTables(executor: Executor): Tables {
  return mapTables(({ columns }, name) => new SqlTable(columns, texts[name], executor)) as unknown as Tables
}

class SqlTable<Row extends Entity> implements RecordTable<Row> {
  readonly columns: Columns<Row>
  readonly #text: SqlText<Row>
  readonly #executor: Executor
  readonly #entering: Entering | undefined

  constructor(columns: Columns<Row>, text: SqlText<Row>, executor: Executor, entering?: Entering) {
    this.columns = columns
    this.#text = text
    this.#executor = executor
    this.#entering = entering
  }

  get entering(): RecordTable<Row>['entering'] {
    if (!this.#executor.isRemote) return undefined
    return (entering) => new SqlTable(this.columns, this.#text, this.#executor, entering)
  }

  async find<Column extends keyof Row = keyof Row>(
    where: Where<Row>,
    columns?: readonly Column[],
  ): Promise<Pick<Row, Column> | undefined> {
    const rows = this.#rows(this.#text.find(where, columns))
    return (rows instanceof Promise ? await rows : rows)[0]
  }

  async page<Column extends keyof Row = keyof Row>(query: PageQuery<Row, Column>): Promise<Pick<Row, Column>[]> {
    const { beyond } = query
    if (beyond === undefined) return this.#rows(this.#text.page(query))
    if (this.#executor.isRemote && beyond.length > 1) return this.#rows(this.#text.pageOfRanges(query, beyond))
    return readRanges(beyond, query.take, (range, take) => this.#rows(this.#text.page({ ...query, take }, range)))
  }

  async count(where: Where<Row>): Promise<number> {
    const [row] = (await this.#executor.all(this.#text.count(where))) as [{ total: number | string }]
    return Number(row.total)
  }

  async insert(row: NewRow<Row>): Promise<Row> {
    return (await this.insertMany([row]))[0] as Row
  }

  async insertMany(rows: NewRow<Row>[]): Promise<Row[]> {
    const { insertion } = this.#text
    const values = rows.map((row) => insertion.columns.map(({ name }) => storedValue(row, name)))
    const ids = await this.#insert(values)
    return values.map((values, index) => this.#inserted(ids[index] as number, values))
  }

  async update(id: number, versions: number[] | undefined, changes: Changes<Row>): Promise<Change<Row> | undefined> {
    if (this.#executor.isRemote) {
      const update = this.#text.updateReturning(id, versions, changes)
      const [row] = await this.#executor.all(this.#entered(update, { before: BEFORE, after: '', changes }))
      return row === undefined ? undefined : this.#change(row as Stored)
    }
    // Nobody else writes meanwhile.
    const before = await this.find({ id } as Where<Row>)
    const written = await this.#executor.run(this.#text.update(id, versions, changes))
    return before === undefined || written === 0 ? undefined : { before, after: changed(before, changes) }
  }

  async delete(id: number, versions: number[] | undefined): Promise<Row | undefined> {
    return (await this.#rows(this.#entered(this.#text.deleteReturning(id, versions), { before: '' })))[0]
  }

  async deleteAll(where: Where<Row>): Promise<number> {
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
    const lock = this.#executor.isRemote ? ' FOR UPDATE' : ''
    return this.#rows(this.#entered(this.#text.deleteSomeReturning(where, most, lock), { before: '' }))
  }

  /** A statement that gives the rows it writes, with the entries that tell of them. */
  #entered(statement: Statement, told: Told): Statement {
    if (this.#entering === undefined) return statement
    return withEntries(statement, this.columns as Record<string, Kind>, this.#entering, told)
  }

  // So many at once, for a statement must end within its time.
  async #deleteEntered(where: Where<Row>): Promise<number> {
    const some = this.#text.deleteSomeReturning(where, ROWS_ENTERED_AT_ONCE, ' FOR UPDATE')
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
    if (dates.length > 0) for (const row of rows) this.#revive(row, dates)
    return rows as Row[]
  }

  #revive(row: Stored, dates = this.#text.dates): Row {
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
    return { before: this.#revive(before), after: this.#revive(after) }
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
