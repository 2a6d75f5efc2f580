import { Recent } from '../recent.ts'
import { type Access, Conditions, MATCH } from './conditions.ts'
import type { Declaration } from './declarations.ts'
import { InternedSql } from './interned-sql.ts'
import { isSearch, searches } from './search.ts'
import { names, quote, type Statement } from './sql.ts'
import type { Columns, Kind, Order, PageQuery, SummaryQuery, Where } from './types.ts'
import { scopeIn, within } from './within.ts'

// Common page sizes. PostgreSQL reuses a generic plan only if it estimates it no more expensive than a custom plan. With a
// LIMIT parameter it never does: it would plan every page again, which takes two thirds of the query's time.
const PAGE_SIZES = new Set([10, 20, 25, 50, 100, 200, 250, 500, 1000])

// PostgreSQL's generic plan is for ten values of an array. It would plan a shorter one each time, which takes longer than to read ten.
const PLANNED_IDS = 10

/** What a page of SQLite reads: its own rows, also those with the same value as its last one, or more. */
export type PageRead = 'page' | 'ties' | 'more'

/**
 * How PostgreSQL locks a row: `UPDATE` for its deletion or a unique value, `NO KEY UPDATE` for other changes, which may wait for each
 * other after both have created a record that refers to it; `KEY SHARE`: it is not deleted.
 */
export type LockMode = 'UPDATE' | 'NO KEY UPDATE' | 'KEY SHARE'

/** The statements that read one table. */
export class ReadStatements<Row> {
  /** The date columns. */
  readonly dates: string[]
  /** The boolean columns, which SQLite stores as numbers; empty for PostgreSQL. */
  readonly bools: string[]
  /** What each text of {@link page} reads. SQLite's planner does not see the values, so it does not change. */
  readonly pageReads = new Recent<string, PageRead>(5_000)
  protected readonly isRemote: boolean
  protected readonly conditions: Conditions<Row>
  protected readonly table: string
  protected readonly key: string
  protected readonly columns: string
  readonly #kinds: Columns<Row>
  readonly #indexed: ReadonlySet<keyof Row>
  readonly #from: string
  readonly #select = new InternedSql('SELECT ')
  /** The SQL of lists of columns: most reads have the same list, by its identity. */
  readonly #lists = new WeakMap<readonly (keyof Row)[], string>()
  readonly #ranges = new InternedSql('SELECT * FROM (')
  readonly #count: InternedSql

  /** @param isRemote whether the statements are for PostgreSQL, not SQLite */
  constructor(declaration: Declaration<Row>, isRemote: boolean) {
    const { name, key, columns, indexed } = declaration
    this.isRemote = isRemote
    const kinds = Object.entries<Kind>(columns).map(([name, kind]) => ({ name, kind }))
    this.dates = kinds.filter(({ kind }) => kind.startsWith('date')).map(({ name }) => name)
    this.bools = isRemote ? [] : kinds.filter(({ kind }) => kind.startsWith('bool')).map(({ name }) => name)
    this.conditions = new Conditions(declaration, isRemote)
    this.table = quote(name)
    this.key = names(key)
    this.columns = names(Object.keys(columns))
    this.#kinds = columns
    this.#indexed = new Set(indexed)
    this.#from = ` FROM ${this.table}`
    this.#count = new InternedSql(`SELECT count(*) AS "total"${this.#from}`)
  }

  /** @param columns all by default */
  find(where: Where<Row>, columns?: readonly (keyof Row)[]): Statement {
    const values: unknown[] = []
    return { text: this.conditions.append(this.#selectOf(columns), where, values).append(' LIMIT 1').text, values }
  }

  /** For PostgreSQL. @param columns all by default */
  withIds(ids: number[], columns?: readonly (keyof Row)[]): Statement {
    if (ids.length === 1) return this.find({ id: ids[0] } as Where<Row>, columns)
    const values: unknown[] = []
    const repeated = Array(Math.max(0, PLANNED_IDS - ids.length)).fill(ids[0])
    const where = { id: { in: ids.concat(repeated) } } as object as Where<Row>
    return { text: this.conditions.append(this.#selectOf(columns), where, values).text, values }
  }

  /**
   * @param range a keyset range, in addition to `where`
   * @param by the only way in which SQLite may find the rows; its own choice by default
   */
  page(query: PageQuery<Row>, range: Where<Row> = {}, by?: Access<Row>): Statement {
    const { columns, where, order } = query
    const values: unknown[] = []
    const select = this.#selectOf(columns)
    const isInOrder = by === undefined || by === order.column
    // The range first: of two bounds on one column, SQLite seeks by the first.
    const ranged = this.conditions.append(select, range, values, select, isInOrder ? undefined : by)
    const rows = this.conditions.append(ranged, where, values, select, by)
    return this.#limited(query, this.#ordered(rows, order, isInOrder ? '' : '+'), values)
  }

  /** Counts the rows that have the value of a page's last row in the sort column, up to a limit. */
  ties(
    { where, order: { column, descending }, skip = 0, take }: PageQuery<Row>,
    range: Where<Row>,
    limit: number,
  ): Statement {
    const values: unknown[] = []
    const name = this.conditions.name(column)
    const all = `SELECT 1${this.#from}`
    const matching = (start: string) => {
      const select = new InternedSql(start)
      return this.conditions.append(this.conditions.append(select, range, values), where, values, select).text
    }
    const rows = matching(all)
    const last = matching(`SELECT ${name}${this.#from}`)
    values.push(skip + take - 1, limit)
    const tie = `${name} IS (${last} ORDER BY ${name}${descending ? ' DESC' : ''} LIMIT 1 OFFSET ?)`
    return {
      text: `SELECT count(*) AS "total" FROM (${rows}${rows === all ? ' WHERE' : ' AND'} ${tie} LIMIT ?)`,
      values,
    }
  }

  /**
   * A page of the matches among the next rows in sort order only.
   *
   * @param size the number of these rows
   */
  pageInWindow(query: PageQuery<Row>, range: Where<Row>, size: number): Statement {
    const { columns, where, order } = query
    const values: unknown[] = []
    const all = this.#listed(columns).append(' FROM (SELECT *').append(this.#from)
    // On SQLite the window starts where the filter of its order does. On PostgreSQL it is a documented number of rows.
    const starts = !this.isRemote && !isSearch(where[order.column])
    const filter = (starts ? { [order.column]: where[order.column] } : {}) as Where<Row>
    const scope = scopeIn(where)
    const conditions = scope === undefined ? filter : within(filter, scope)
    const window = this.#ordered(
      this.conditions.append(this.conditions.append(all, range, values), conditions, values, all),
      order,
    )
    values.push(size)
    const from = window.append(' LIMIT ?) AS "window"')
    const rows = this.conditions.append(from, where, values, from, order.column)
    // SQLite returns the rows of the subquery in its order, and would sort all of them again, not only up to the limit.
    return this.#limited(query, this.isRemote ? this.#ordered(rows, order) : rows, values)
  }

  /** The ways in which an index of SQLite finds the rows of some of the conditions. */
  accesses(where: Where<Row>): Access<Row>[] {
    const columns = Object.keys(where) as (keyof Row & string)[]
    const filters = columns.filter(
      (column) => this.#indexed.has(column) && where[column] !== undefined && !isSearch(where[column]),
    )
    return this.conditions.matchOf(where) === '' ? filters : [MATCH, ...filters]
  }

  /** Counts the rows that each access finds, up to a limit, in columns named `0`, `1` and so on. */
  countEach(where: Where<Row>, accesses: Access<Row>[], limit: number): Statement {
    const values: unknown[] = []
    const counts = accesses.map((by, index) => {
      const found = by === MATCH ? this.#matches(where, values) : this.#filtered(by, where, values)
      values.push(limit)
      return `(SELECT count(*) FROM (${found} LIMIT ?)) AS "${index}"`
    })
    return { text: `SELECT ${counts.join(', ')}`, values }
  }

  summarize({ where, by, of, limit }: SummaryQuery<Row>): Statement {
    const values: unknown[] = []
    const number = of === undefined ? undefined : this.conditions.name(of)
    const group = by === undefined ? 'NULL' : this.conditions.name(by)
    const mean = this.isRemote ? `avg(${number})::float8` : `avg(${number})`
    const columns = [
      `${group} AS "value"`,
      'count(*) AS "count"',
      `${number === undefined ? 'NULL' : `min(${number})`} AS "minimum"`,
      `${number === undefined ? 'NULL' : mean} AS "mean"`,
      `${number === undefined ? 'NULL' : `max(${number})`} AS "maximum"`,
    ]
    const rows = this.filtered(`SELECT ${columns.join(', ')}${this.#from}`, where, values)
    const groups = by === undefined ? '' : ` GROUP BY ${group} ORDER BY 2 DESC, 1 ASC NULLS FIRST`
    values.push(limit)
    return { text: `${rows}${groups} LIMIT ?`, values }
  }

  /** @param mode how PostgreSQL locks the rows, if it does */
  idsAndVersions(where: Where<Row>, limit: number, mode?: LockMode): Statement {
    const values: unknown[] = []
    const rows = this.filtered(`SELECT "id", "version"${this.#from}`, where, values)
    values.push(limit)
    return { text: `${rows} ORDER BY "id" LIMIT ?${mode && this.isRemote ? ` FOR ${mode}` : ''}`, values }
  }

  /** A page from several keyset ranges in one statement, which saves round trips. */
  pageOfRanges(query: PageQuery<Row>, ranges: readonly Where<Row>[]): Statement {
    const values: unknown[] = []
    // Texts of searches are not interned: see Conditions.
    const start = searches(query.where) ? new InternedSql(this.#ranges.text) : this.#ranges
    let rows = start
    for (const range of ranges) {
      const part = this.page(query, range)
      rows = (rows === start ? rows : rows.append(' UNION ALL ')).append('(').append(part.text).append(')')
      values.push(...part.values)
    }
    const ordered = this.#ordered(rows.append(') AS "ranges"'), query.order)
    return { text: limitedTo(query.take, query.where, ordered, values).text, values }
  }

  count(where: Where<Row>): Statement {
    const values: unknown[] = []
    return { text: this.conditions.append(this.#count, where, values).text, values }
  }

  /** For rare statements, whose text is not kept. */
  protected filtered(rows: string, where: Where<Row>, values: unknown[]): string {
    return this.conditions.append(new InternedSql(rows), where, values).text
  }

  #matches(where: Where<Row>, values: unknown[]): string {
    values.push(this.conditions.matchOf(where))
    return this.conditions.matches
  }

  #filtered(column: keyof Row, where: Where<Row>, values: unknown[]): string {
    return this.filtered(`SELECT 1${this.#from}`, { [column]: where[column] } as Where<Row>, values)
  }

  /** @param columns all by default */
  #selectOf(columns?: readonly (keyof Row)[]): InternedSql {
    return this.#listed(columns).append(this.#from)
  }

  #listed(columns?: readonly (keyof Row)[]): InternedSql {
    if (columns === undefined) return this.#select.append(this.columns)
    let list = this.#lists.get(columns)
    if (list === undefined) {
      list = columns.map((column) => this.conditions.name(column)).join(', ')
      this.#lists.set(columns, list)
    }
    return this.#select.append(list)
  }

  #limited({ where, skip = 0, take }: PageQuery<Row>, rows: InternedSql, values: unknown[]): Statement {
    const limited = limitedTo(take, where, rows, values)
    if (skip === 0) return { text: limited.text, values }
    values.push(skip)
    return { text: limited.append(' OFFSET ?').text, values }
  }

  /** @param prefix a plus keeps SQLite from using an index for the order */
  #ordered(rows: InternedSql, { column, descending }: Order<Row>, prefix: '' | '+' = ''): InternedSql {
    const sql = rows
      .append(` ORDER BY ${prefix}`)
      .append(this.conditions.name(column))
      .append(descending ? ' DESC' : ' ASC')
    if (column === 'id') return sql
    // SQLite sorts null below every value, PostgreSQL above. Without nulls the clause is omitted: it would not match the
    // order of PostgreSQL's index and cause a sort.
    if (!this.#kinds[column].endsWith('?')) return sql.append(', "id"')
    return sql.append(descending ? ' NULLS LAST, "id"' : ' NULLS FIRST, "id"')
  }
}

function limitedTo(take: number, filters: object, rows: InternedSql, values: unknown[]): InternedSql {
  // `take` is the page size plus one, to detect a next page. With filters the best index depends on their values, so
  // PostgreSQL should plan for the values.
  if (PAGE_SIZES.has(take - 1) && Object.values(filters).every((filter) => filter === undefined)) {
    return rows.append(` LIMIT ${take}`)
  }
  values.push(take)
  return rows.append(' LIMIT ?')
}
