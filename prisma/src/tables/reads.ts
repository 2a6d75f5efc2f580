import type { Awaitable, Executor } from './executor.ts'
import type { Statement } from './sql.ts'
import type { SqlText } from './statements.ts'
import type { Columns, Entity, PageQuery, Summary, SummaryQuery, Where } from './types.ts'

type Stored = Record<string, unknown>

// On SQLite larger reads run in the background.
const MAX_SKIP = 2_000
const MAX_ROWS = 50_000
// Without an index for filter and order, a page reads all rows. Of so many it takes a few milliseconds.
export const MAX_SCANNED = 5_000
// Rows with the same value, which a page sorts by id, take as long.
const MAX_TIES = 2_000
// A search of SQLite's full-text index returns so few rows in a millisecond, and reads them in a few.
const FEW_CANDIDATES = 1_000
// Reading and sorting these takes less time than a walk through the whole sort order.
const MANY_CANDIDATES = 30_000
// Takes at most some 10 ms.
const WINDOW = 2_000
// Reading these in the background takes some 20 or 40 ms.
const LARGE_WINDOW = 10_000
const FEW_FILTERED = 20_000

/** The reads of a table. */
export abstract class TableReads<Row extends Entity> {
  readonly columns: Columns<Row>
  protected readonly text: SqlText<Row>
  protected readonly executor: Executor

  constructor(columns: Columns<Row>, text: SqlText<Row>, executor: Executor) {
    this.columns = columns
    this.text = text
    this.executor = executor
  }

  find<Column extends keyof Row = keyof Row>(
    where: Where<Row>,
    columns?: readonly Column[],
  ): Promise<Pick<Row, Column> | undefined> {
    return this.wrapped('find', () => this.#find(where, columns))
  }

  page<Column extends keyof Row = keyof Row>(query: PageQuery<Row, Column>): Promise<Pick<Row, Column>[]> {
    return this.wrapped('page', () => this.#page(query))
  }

  get searchLimit(): number | undefined {
    return this.executor.searchLimit
  }

  count(where: Where<Row>): Promise<number> {
    return this.wrapped('count', () => this.#count(where))
  }

  summarize(query: SummaryQuery<Row>): Promise<Summary[]> {
    return this.wrapped('summarize', () => this.#summarize(query))
  }

  /** Wraps an operation, for example to measure it. */
  protected abstract wrapped<T>(operation: string, run: () => Promise<T>): Promise<T>

  async #find<Column extends keyof Row>(
    where: Where<Row>,
    columns?: readonly Column[],
  ): Promise<Pick<Row, Column> | undefined> {
    const rows = this.rows(this.text.find(where, columns))
    return (rows instanceof Promise ? await rows : rows)[0]
  }

  async #page<Column extends keyof Row>(query: PageQuery<Row, Column>): Promise<Pick<Row, Column>[]> {
    const { where, seek, take } = query
    if (seek === undefined) return this.#pageOf(query)
    const { isRemote, searchLimit } = this.executor
    const searches = this.text.searches(where)
    if (isRemote && seek.length > 1 && !(searchLimit !== undefined && searches)) {
      return this.rows(this.text.pageOfRanges(query, seek), searches ? this.#background : this.executor)
    }
    let rows: Pick<Row, Column>[] = []
    for (const range of seek) {
      if (rows.length === take) break
      rows = rows.concat(await this.#pageOf({ ...query, take: take - rows.length }, range))
    }
    return rows
  }

  #pageOf(query: PageQuery<Row>, range: Where<Row> = {}): Awaitable<Row[]> {
    const { where, skip = 0 } = query
    const { isRemote, searchLimit } = this.executor
    if (this.text.searches(where)) {
      if (!isRemote) return this.#search(query, range)
      const isWindow = searchLimit !== undefined
      const page = isWindow ? this.text.pageInWindow(query, range, searchLimit) : this.text.page(query, range)
      return this.rows(page, this.#background)
    }
    const statement = this.text.page(query, range)
    if (skip > MAX_SKIP) return this.rows(statement, this.#background)
    if (isRemote || this.executor.background === undefined) return this.rows(statement)
    const reads = this.text.readOf(statement.text)
    return reads === 'page' ? this.rows(statement) : this.#pageOfMany(query, range, statement)
  }

  /** A page of SQLite for which no index serves all filters and the order, or whose plan is not known yet. */
  async #pageOfMany(query: PageQuery<Row>, range: Where<Row>, statement: Statement): Promise<Row[]> {
    const { where, skip = 0, take } = query
    const reads = this.text.readOf(statement.text) ?? (await this.#explain(statement))
    if (reads === 'page' || (await this.forAllRows(MAX_SCANNED)) === this.executor) return this.rows(statement)
    if (reads === 'ties') {
      const [row] = (await this.executor.all(this.text.ties(query, range, MAX_TIES + 1))) as [{ total: number }]
      if (row.total <= MAX_TIES) return this.rows(statement)
    }
    for (const size of [WINDOW, LARGE_WINDOW]) {
      const rows = await this.rows(this.text.pageInWindow(query, range, size), this.#background)
      if (rows.length === take) return rows
      if (size === WINDOW) {
        const filter = await this.#selectiveFilter(where)
        if (filter !== undefined) return this.rows(this.text.pageOfFiltered(query, range, filter), this.#background)
      }
      if (rows.length + skip === 0) break
    }
    return this.rows(statement, this.#background)
  }

  async #explain(statement: Statement): Promise<'page' | 'ties' | 'all'> {
    const { text, values } = statement
    const steps = await this.executor.all({ text: `EXPLAIN QUERY PLAN ${text}`, values })
    return this.text.setRead(
      text,
      (steps as { detail: string }[]).map(({ detail }) => detail),
    )
  }

  /**
   * A page of a search on SQLite. Rare words have few candidates in the full-text index. Frequent ones soon fill a page in sort
   * order; the ids of the first candidates show how frequent. Selective filters leave few rows to search. Everything else reads
   * all candidates.
   */
  async #search(query: PageQuery<Row>, range: Where<Row>): Promise<Row[]> {
    const match = this.text.matchOf(query.where)
    if (match === '') return this.rows(this.text.page(query, range), this.#background)
    const { skip = 0, take } = query
    // Frequent parts that rarely occur together make even few candidates take long.
    const near = await this.forAllRows()
    const first = await this.#candidates(match, FEW_CANDIDATES, near)
    if (first.total <= FEW_CANDIDATES) return this.rows(this.text.pageOfCandidates(query, range, match), near)
    const inWindow = async (size: number, executor: Pick<Executor, 'all'>) =>
      this.rows(this.text.pageInWindow(query, range, size), executor)
    let isLikely = (LARGE_WINDOW * first.total) / first.last >= skip + take
    if (isLikely) {
      const soon = await inWindow(WINDOW, near)
      if (soon.length === take) return soon
      // In the order of the searched field, or with filters, the matches may come late.
      isLikely = ((skip + soon.length) * LARGE_WINDOW) / WINDOW >= skip + take
    }
    const filter = await this.#selectiveFilter(query.where)
    if (filter !== undefined) return this.rows(this.text.pageOfFiltered(query, range, filter), this.#background)
    if (isLikely) {
      const later = await inWindow(LARGE_WINDOW, this.#background)
      if (later.length === take) return later
    }
    const { total } = await this.#candidates(match, MANY_CANDIDATES, this.#background)
    const statement =
      total > MANY_CANDIDATES ? this.text.page(query, range) : this.text.pageOfCandidates(query, range, match)
    return this.rows(statement, this.#background)
  }

  /** A filter that few rows pass, so that reading them takes less time than the full-text index. */
  async #selectiveFilter(where: Where<Row>): Promise<keyof Row | undefined> {
    const filters = this.text.filtersIn(where)
    if (filters.length === 0) return undefined
    const [counts] = (await this.#background.all(this.text.countEach(filters, FEW_FILTERED + 1))) as [
      Record<keyof Row, number>,
    ]
    const [[column] = []] = filters.toSorted(([a], [b]) => counts[a] - counts[b])
    return column !== undefined && counts[column] <= FEW_FILTERED ? column : undefined
  }

  /** The number of candidates, or more than `limit`, and the largest of their ids. */
  async #candidates(match: string, limit: number, executor: Pick<Executor, 'all'>) {
    const [row] = (await executor.all(this.text.countCandidates(match, limit + 1))) as [{ total: number; last: number }]
    return row
  }

  async #count(where: Where<Row>): Promise<number> {
    const [row] = (await (await this.forAllRows()).all(this.text.count(where))) as [{ total: number | string }]
    return Number(row.total)
  }

  async #summarize(query: SummaryQuery<Row>): Promise<Summary[]> {
    const rows = (await (await this.forAllRows()).all(this.text.summarize(query))) as Summary[]
    const kind = query.by === undefined ? '' : this.columns[query.by]
    return rows.map(({ value, count, ...numbers }) => ({
      value: decoded(kind, value),
      count: Number(count),
      ...numbers,
    }))
  }

  get #background(): Pick<Executor, 'all'> {
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
      return isRemote ? this.#background : this.executor
    const order = { column: 'id', descending: true } as const
    const [last] = await this.rows(this.text.page({ columns: ['id'], where: {}, order, take: 1 }))
    return last === undefined || last.id <= max ? this.executor : this.#background
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

/** A value of a column as the table returns it. */
function decoded(kind: string, value: unknown): unknown {
  if (typeof value !== 'number') return value
  if (kind.startsWith('date')) return new Date(value)
  return kind.startsWith('bool') ? value === 1 : value
}
