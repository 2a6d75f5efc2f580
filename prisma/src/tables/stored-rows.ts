import type { Awaitable, Executor } from './executor.ts'
import type { Statement } from './sql.ts'
import type { SqlText } from './statements.ts'
import type { Columns, Entity } from './types.ts'

type Stored = Record<string, unknown>

// On SQLite larger reads run in the background.
const MAX_ROWS = 50_000
// Without an index for filter and order, a page reads all rows. Of so many it takes a few milliseconds.
export const MAX_SCANNED = 5_000

/** The rows of a table as its statements return them. */
export abstract class StoredRows<Row extends Entity> {
  readonly columns: Columns<Row>
  protected readonly text: SqlText<Row>
  protected readonly executor: Executor

  constructor(columns: Columns<Row>, text: SqlText<Row>, executor: Executor) {
    this.columns = columns
    this.text = text
    this.executor = executor
  }

  /** Wraps an operation, for example to measure it. */
  protected abstract wrapped<T>(operation: string, run: () => Promise<T>): Promise<T>

  protected get background(): Pick<Executor, 'all'> {
    return this.executor.background ?? this.executor
  }

  /**
   * For a statement that may read the whole table.
   *
   * @param max the number of rows that take a few milliseconds
   */
  protected async forAllRows(max = MAX_ROWS): Promise<Pick<Executor, 'all'>> {
    const { isRemote, background } = this.executor
    if (isRemote || background === undefined || !('id' in this.columns))
      return isRemote ? this.background : this.executor
    const order = { column: 'id', descending: true } as const
    const [last] = await this.rows(this.text.page({ columns: ['id'], where: {}, order, take: 1 }))
    return last === undefined || last.id <= max ? this.executor : this.background
  }

  // SQLite returns its rows synchronously; awaiting them would be slower.
  protected rows(statement: Statement, executor: Pick<Executor, 'all'> = this.executor): Awaitable<Row[]> {
    const rows = executor.all(statement) as Awaitable<Stored[]>
    return rows instanceof Promise ? rows.then((rows) => this.#decoded(rows)) : this.#decoded(rows)
  }

  #decoded(rows: Stored[]): Row[] {
    const [first] = rows
    if (first === undefined) return []
    const dates = this.text.dates.filter((column) => column in first)
    if (dates.length > 0) for (const row of rows) this.decodeDates(row, dates)
    for (const column of this.text.bools) {
      if (column in first) for (const row of rows) if (typeof row[column] === 'number') row[column] = row[column] === 1
    }
    return rows as Row[]
  }

  protected decodeDates(row: Stored, dates = this.text.dates): Row {
    for (const column of dates) {
      const value = row[column]
      if (typeof value === 'number') row[column] = new Date(value)
    }
    return row as Row
  }
}
