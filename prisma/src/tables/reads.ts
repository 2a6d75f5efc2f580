import type { Awaitable } from './executor.ts'
import { pageReadOf, rarestCondition } from './page-access.ts'
import type { PageRead } from './read-statements.ts'
import { searches } from './search.ts'
import { SharedFinds } from './shared-finds.ts'
import type { Statement } from './sql.ts'
import { MAX_SCANNED, StoredRows } from './stored-rows.ts'
import type { Entity, PageQuery, Summary, SummaryQuery, Where } from './types.ts'

// The engines round the last of their 16 digits differently.
const MEAN_DIGITS = 12
// On SQLite larger reads run in the background.
const MAX_SKIP = 2_000
// On PostgreSQL larger pages count as long reads, because receiving them may take tens of milliseconds.
const LARGE_PAGE = 201
// Sorting so many rows with the same value takes a few milliseconds.
const MAX_TIES = 2_000
// Reading and sorting these takes a few milliseconds.
const FEW_CANDIDATES = 1_000

/** The reads of a table. */
export abstract class TableReads<Row extends Entity> extends StoredRows<Row> {
  /** Outside of a transaction on PostgreSQL. */
  readonly #shared =
    this.executor.isRemote && this.executor.background !== undefined
      ? new SharedFinds<Row>(
          (ids, columns) => this.rows(this.text.withIds(ids, columns)),
          () => this.executor.queuedCaller?.() ?? '',
        )
      : undefined

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

  async #find<Column extends keyof Row>(
    where: Where<Row>,
    columns?: readonly Column[],
  ): Promise<Pick<Row, Column> | undefined> {
    const id = this.#shared && SharedFinds.idOf(where, columns)
    if (id !== undefined) return this.#shared?.find(id, columns)
    const rows = this.rows(this.text.find(where, columns))
    return (rows instanceof Promise ? await rows : rows)[0]
  }

  async #page<Column extends keyof Row>(query: PageQuery<Row, Column>): Promise<Pick<Row, Column>[]> {
    const { where, seek, take } = query
    if (seek === undefined) return this.#pageOf(query)
    const { isRemote, searchLimit } = this.executor
    const isSearch = searches(where)
    if (isRemote && seek.length > 1 && !(searchLimit !== undefined && isSearch)) {
      return this.rows(this.text.pageOfRanges(query, seek), isSearch ? this.background : this.executor)
    }
    let rows: Pick<Row, Column>[] = []
    for (const range of seek) {
      if (rows.length === take) break
      rows = rows.concat(await this.#pageOf({ ...query, take: take - rows.length }, range))
    }
    return rows
  }

  #pageOf(query: PageQuery<Row>, range: Where<Row> = {}): Awaitable<Row[]> {
    const { where, skip = 0, take } = query
    const { isRemote, searchLimit, background } = this.executor
    const isSearch = searches(where)
    if (isSearch && !isRemote) return this.#candidatesOrWalk(query, range)
    if (isSearch && searchLimit !== undefined)
      return this.rows(this.text.pageInWindow(query, range, searchLimit), this.background)
    const statement = this.text.page(query, range)
    const isLong = isSearch || skip > MAX_SKIP || (isRemote && take > LARGE_PAGE)
    if (isLong) return this.rows(statement, this.background)
    if (isRemote || background === undefined) return this.rows(statement)
    const read = this.text.pageReads.get(statement.text, () => this.#explain(statement))
    return read === 'page' ? this.rows(statement) : this.#pageOfMany(query, range, statement, read)
  }

  #explain({ text, values }: Statement): PageRead {
    // SQLite returns its rows synchronously.
    const steps = this.executor.all({ text: `EXPLAIN QUERY PLAN ${text}`, values }) as { detail: string }[]
    return pageReadOf(
      text,
      steps.map(({ detail }) => detail),
    )
  }

  /** A page of SQLite for which no index serves all filters and the order. */
  async #pageOfMany(query: PageQuery<Row>, range: Where<Row>, statement: Statement, read: PageRead): Promise<Row[]> {
    if ((await this.forAllRows(MAX_SCANNED)) === this.executor) return this.rows(statement)
    if (read === 'ties') {
      const [row] = (await this.executor.all(this.text.ties(query, range, MAX_TIES + 1))) as [{ total: number }]
      if (row.total <= MAX_TIES) return this.rows(statement)
    }
    return this.#candidatesOrWalk(query, range)
  }

  /**
   * A page of SQLite that reads and sorts its candidates, the rows that fulfill the rarest condition. If these are many, it first
   * walks through half as many rows in sort order: frequent matches soon fill a page, unless they come late in the order.
   */
  async #candidatesOrWalk(query: PageQuery<Row>, range: Where<Row>): Promise<Row[]> {
    const { where, order, take } = query
    const executor = await this.forAllRows(MAX_SCANNED)
    const { by, total } = (await rarestCondition(this.text, where, executor)) ?? { by: order.column, total: 0 }
    if (total > FEW_CANDIDATES) {
      const walked = await this.rows(this.text.pageInWindow(query, range, total >> 1), executor)
      if (walked.length === take) return walked
    }
    return this.rows(this.text.page(query, range, by), executor)
  }

  async #count(where: Where<Row>): Promise<number> {
    const [row] = (await (await this.forAllRows()).all(this.text.count(where))) as [{ total: number | string }]
    return Number(row.total)
  }

  async #summarize(query: SummaryQuery<Row>): Promise<Summary[]> {
    const rows = (await (await this.forAllRows()).all(this.text.summarize(query))) as Summary[]
    const kind = query.by === undefined ? '' : this.columns[query.by]
    return rows.map(({ value, count, mean, ...numbers }) => ({
      value: decoded(kind, value),
      count: Number(count),
      mean: mean === null ? null : Number(mean.toPrecision(MEAN_DIGITS)),
      ...numbers,
    }))
  }
}

/** A value of a column as the table returns it. */
function decoded(kind: string, value: unknown): unknown {
  if (typeof value !== 'number') return value
  if (kind.startsWith('date')) return new Date(value)
  return kind.startsWith('bool') ? value === 1 : value
}
