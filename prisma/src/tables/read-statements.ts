import { columnTypes } from './column-types.ts'
import type { Declaration } from './declarations.ts'
import { InternedSql } from './interned-sql.ts'
import { afterPrefix, likePattern, searchedPart, searchedText, trigramQuery } from './search.ts'
import { names, numeric, quote, type Statement } from './sql.ts'
import type { Columns, Contains, Kind, Order, PageQuery, Range, SummaryQuery, Where } from './types.ts'

const comparisons: [key: 'lt' | 'lte' | 'gt' | 'gte', test: string][] = [
  ['lt', ' < ?'],
  ['lte', ' <= ?'],
  ['gt', ' > ?'],
  ['gte', ' >= ?'],
]

// Common page sizes. PostgreSQL reuses a generic plan only if it estimates it no more expensive than a custom plan. With a
// LIMIT parameter it never does: it would plan every page again, which takes two thirds of the query's time.
const PAGE_SIZES = new Set([10, 20, 25, 50, 100, 200, 250, 500, 1000])

/**
 * The rows that a page reads: its own, also those with the same value as its last one, or all that match a filter or have
 * an order.
 */
type Read = 'page' | 'ties' | 'all'

const MAX_READS = 10_000

// Searches have one or two words, as a rule.
const MAX_INTERNED_PARTS = 2

/** The statements that read one table. */
export class ReadStatements<Row> {
  /** The date columns. */
  readonly dates: string[]
  /** The boolean columns, which SQLite stores as numbers; empty for PostgreSQL. */
  readonly bools: string[]
  protected readonly isRemote: boolean
  readonly #kinds: Columns<Row>
  protected readonly table: string
  readonly #search: readonly (keyof Row)[]
  /** SQLite's full-text index of the search columns. */
  readonly #searchIndex: string
  protected readonly key: string
  protected readonly columns: string
  readonly #from: string
  readonly #select = new InternedSql('SELECT ')
  readonly #ranges = new InternedSql('SELECT * FROM (')
  readonly #count: InternedSql
  readonly #quoted: Record<string, string>
  /** What each text of {@link page} reads on SQLite. The planner does not see the values, so it does not change. */
  #reads = new Map<string, Read>()

  /**
   * @param isRemote whether the statements are for PostgreSQL, not SQLite
   */
  constructor({ name, key, columns, search }: Declaration<Row>, isRemote: boolean) {
    this.isRemote = isRemote
    const kinds = Object.entries<Kind>(columns).map(([name, kind]) => ({ name, kind }))
    this.dates = kinds.filter(({ kind }) => kind.startsWith('date')).map(({ name }) => name)
    this.bools = isRemote ? [] : kinds.filter(({ kind }) => kind.startsWith('bool')).map(({ name }) => name)
    this.#kinds = columns
    this.table = quote(name)
    this.#search = search
    this.#searchIndex = quote(`${name}_search`)
    this.key = names(key)
    this.columns = names(Object.keys(columns))
    this.#from = ` FROM ${this.table}`
    this.#count = new InternedSql(`SELECT count(*) AS "total"${this.#from}`)
    this.#quoted = Object.fromEntries(kinds.map(({ name }) => [name, quote(name)]))
  }

  /** @param columns all by default */
  find(where: Where<Row>, columns?: readonly (keyof Row)[]): Statement {
    const values: unknown[] = []
    return { text: this.#conditions(this.#selectOf(columns), where, values).append(' LIMIT 1').text, values }
  }

  /** @param range a keyset range, in addition to `where` */
  page(query: PageQuery<Row>, range: Where<Row> = {}): Statement {
    const { columns, where, order } = query
    const values: unknown[] = []
    const select = this.#selectOf(columns)
    // The range first: of two bounds on one column, SQLite seeks by the first.
    const ranged = this.#conditions(select, range, values)
    // The plus keeps SQLite from reading all candidates by id and sorting them: it walks the index of the order instead.
    const rows = this.#conditions(ranged, where, values, select, '+"id"')
    return this.#limited(query, this.#ordered(rows, order), values)
  }

  /** What a text of {@link page} reads on SQLite, if {@link setRead} was called with it. */
  readOf(text: string): Read | undefined {
    return this.#reads.get(text)
  }

  /** @param steps SQLite's query plan, such as `SEARCH items USING INDEX items_price_id_idx (price<?)` */
  setRead(text: string, steps: string[]): Read {
    const [, tests] = / WHERE (.*) ORDER BY /s.exec(text) ?? []
    const served = steps.flatMap((step) => /^SEARCH .*\((.+)\)$/.exec(step)?.[1]?.split(' AND ') ?? [])
    const isServed = served.length === (tests?.split(' AND ').length ?? 0)
    const sorts = steps.some((step) => step.startsWith('USE TEMP B-TREE FOR ORDER BY'))
    const sortsTies = steps.some((step) => step.startsWith('USE TEMP B-TREE FOR'))
    const read = !isServed || sorts ? 'all' : sortsTies ? 'ties' : 'page'
    if (this.#reads.size === MAX_READS) this.#reads = new Map()
    this.#reads.set(text, read)
    return read
  }

  /** Counts the rows that have the value of a page's last row in the sort column, up to a limit. */
  ties(
    { where, order: { column, descending }, skip = 0, take }: PageQuery<Row>,
    range: Where<Row>,
    limit: number,
  ): Statement {
    const values: unknown[] = []
    const name = this.name(column)
    const all = `SELECT 1${this.#from}`
    const matching = (start: string) => {
      const select = new InternedSql(start)
      return this.#conditions(this.#conditions(select, range, values), where, values, select).text
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
    const filter = starts ? { [order.column]: where[order.column] } : {}
    const ranged = this.#conditions(all, range, values)
    const window = this.#ordered(this.#conditions(ranged, filter as Where<Row>, values, all), order)
    values.push(size)
    const from = window.append(' LIMIT ?) AS "window"')
    const rows = this.#conditions(from, where, values, from, null)
    // SQLite returns the rows of the subquery in its order, and would sort all of them again, not only up to the limit.
    return this.#limited(query, this.isRemote ? this.#ordered(rows, order) : rows, values)
  }

  /** A page that SQLite reads from the full-text index; for few candidates. */
  pageOfCandidates(query: PageQuery<Row>, range: Where<Row>, match: string): Statement {
    const { columns, where, order } = query
    const values: unknown[] = [match]
    const candidates = `(SELECT "rowid" AS "candidate" FROM ${this.#searchIndex} WHERE ${this.#searchIndex} MATCH ?)`
    // The left table of a CROSS JOIN is the outer loop.
    const from = this.#listed(columns).append(` FROM ${candidates} CROSS JOIN ${this.table} ON "id" = "candidate"`)
    const rows = this.#conditions(this.#conditions(from, where, values, from, null), range, values, from)
    return this.#limited(query, this.#ordered(rows, order), values)
  }

  /**
   * A page of a search that SQLite reads by the index of a filter, without the full-text index.
   *
   * @param filter a filter that few rows pass
   */
  pageOfFiltered(query: PageQuery<Row>, range: Where<Row>, filter: keyof Row): Statement {
    const { columns, where, order } = query
    const values: unknown[] = []
    const select = this.#selectOf(columns)
    const { [filter]: selective, ...others } = where
    const few = this.#conditions(select, { [filter]: selective } as Where<Row>, values, select, null)
    // The plus keeps SQLite from using the indexes of the other filters, and that of the order.
    const rest = this.#conditions(few, others as Where<Row>, values, select, null, '+')
    const rows = this.#conditions(rest, range, values, select, null, '+')
    return this.#limited(query, this.#ordered(rows, order, '+'), values)
  }

  /** Counts the rows that pass each filter, up to a limit, in columns of the same names. */
  countEach(filters: [column: keyof Row, filter: Where<Row>][], limit: number): Statement {
    const values: unknown[] = []
    const counts = filters.map(([column, filter]) => {
      const rows = this.filtered(`SELECT 1${this.#from}`, filter, values)
      values.push(limit)
      return `(SELECT count(*) FROM (${rows} LIMIT ?)) AS ${this.name(column)}`
    })
    return { text: `SELECT ${counts.join(', ')}`, values }
  }

  /** The conditions other than searches, one by one. */
  filtersIn(where: Where<Row>): [column: keyof Row, filter: Where<Row>][] {
    const columns = Object.keys(where) as (keyof Row & string)[]
    return columns
      .filter((column) => where[column] !== undefined && !isSearch(where[column]))
      .map((column) => [column, { [column]: where[column] } as Where<Row>])
  }

  /** Counts the first rows that SQLite's full-text index returns, up to a limit, with the largest of their ids. */
  countCandidates(match: string, limit: number): Statement {
    const candidates = `SELECT "rowid" AS "candidate" FROM ${this.#searchIndex} WHERE ${this.#searchIndex} MATCH ? LIMIT ?`
    return {
      text: `SELECT count(*) AS "total", max("candidate") AS "last" FROM (${candidates})`,
      values: [match, limit],
    }
  }

  /** Whether conditions search for words. */
  searches(where: Where<Row>): boolean {
    for (const column in where) if (isSearch(where[column])) return true
    return false
  }

  /** The query of SQLite's full-text index for all rows that may match; empty if it cannot be used. */
  matchOf(where: Where<Row>): string {
    const indexed = searchesIn(where).filter(({ columns }) => this.#isIndexed(columns))
    return trigramQuery(indexed.flatMap(({ parts }) => parts))
  }

  summarize({ where, by, of, limit }: SummaryQuery<Row>): Statement {
    const values: unknown[] = []
    const number = of === undefined ? undefined : this.name(of)
    const mean = this.isRemote ? `avg(${number})::float8` : `avg(${number})`
    const columns = [
      `${by === undefined ? 'NULL' : this.name(by)} AS "value"`,
      'count(*) AS "count"',
      `${number === undefined ? 'NULL' : `min(${number})`} AS "minimum"`,
      `${number === undefined ? 'NULL' : mean} AS "mean"`,
      `${number === undefined ? 'NULL' : `max(${number})`} AS "maximum"`,
    ]
    const rows = this.filtered(`SELECT ${columns.join(', ')}${this.#from}`, where, values)
    const groups = by === undefined ? '' : ` GROUP BY ${this.name(by)} ORDER BY 2 DESC, 1 ASC NULLS FIRST`
    values.push(limit)
    return { text: `${rows}${groups} LIMIT ?`, values }
  }

  /** @param locks whether PostgreSQL locks the rows */
  idsAndVersions(where: Where<Row>, limit: number, locks: boolean): Statement {
    const values: unknown[] = []
    const rows = this.filtered(`SELECT "id", "version"${this.#from}`, where, values)
    values.push(limit)
    return { text: `${rows} ORDER BY "id" LIMIT ?${locks && this.isRemote ? ' FOR UPDATE' : ''}`, values }
  }

  /** A page from several keyset ranges in one statement, which saves round trips. */
  pageOfRanges(query: PageQuery<Row>, ranges: readonly Where<Row>[]): Statement {
    const values: unknown[] = []
    // Texts of searches are not interned: see #conditions.
    const start = this.searches(query.where) ? new InternedSql(this.#ranges.text) : this.#ranges
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
    return { text: this.#conditions(this.#count, where, values).text, values }
  }

  /** @param columns all by default */
  #selectOf(columns?: readonly (keyof Row)[]): InternedSql {
    return this.#listed(columns).append(this.#from)
  }

  #listed(columns?: readonly (keyof Row)[]): InternedSql {
    if (columns === undefined) return this.#select.append(this.columns)
    let sql = this.#select
    for (const column of columns) {
      if (sql !== this.#select) sql = sql.append(', ')
      sql = sql.append(this.name(column))
    }
    return sql
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
      .append(this.name(column))
      .append(descending ? ' DESC' : ' ASC')
    if (column === 'id') return sql
    // SQLite sorts null below every value, PostgreSQL above. Without nulls the clause is omitted: it would not match the
    // order of PostgreSQL's index and cause a sort.
    if (!this.#kinds[column].endsWith('?')) return sql.append(', "id"')
    return sql.append(descending ? ' NULLS LAST, "id"' : ' NULLS FIRST, "id"')
  }

  /**
   * Appends the conditions to `rows`, and their values to `values`.
   *
   * @param all the text without conditions, if `rows` may have some already
   * @param searchedId the id that SQLite looks up among the matches of the full-text index; null omits this test
   * @param prefix a plus keeps SQLite from using an index for the conditions
   */
  #conditions(
    rows: InternedSql,
    where: Where<Row>,
    values: unknown[],
    all = rows,
    searchedId: string | null = '"id"',
    prefix: '' | '+' = '',
  ): InternedSql {
    let sql = rows
    let isFirst = rows === all
    let searches = false
    const addTest = (tested: string, test: string) => {
      sql = sql
        .append(isFirst ? ' WHERE ' : ' AND ')
        .append(tested)
        .append(test)
      isFirst = false
    }
    const add = (column: keyof Row, test: string) => addTest(prefix + this.name(column), test)
    for (const column in where) {
      const condition = where[column]
      if (condition === undefined) continue
      if (condition === null) add(column, ' IS NULL')
      else if (typeof condition !== 'object' || condition instanceof Date) {
        add(column, ' = ?')
        values.push(condition)
      } else if ('not' in condition) add(column, ' IS NOT NULL')
      else {
        for (const [key, test] of comparisons) {
          const bound = (condition as Record<string, unknown>)[key]
          if (bound === undefined) continue
          if (this.isRemote && isBeyondInt(bound) && this.#kinds[column].includes('int')) {
            add(column, `${test}::bigint`)
            values.push(wholeBound(key, bound))
            continue
          }
          add(column, test)
          values.push(bound)
        }
        const { in: list, startsWith: prefix, contains } = condition as Range<unknown>
        if (contains !== undefined) searches = true
        if (list !== undefined) this.#addList(column, list, values, add)
        if (prefix !== undefined) addPrefix(column, prefix, values, add)
      }
    }
    if (!searches) return sql
    const found = searchesIn(where)
    if (found.flatMap(({ parts }) => parts).length > MAX_INTERNED_PARTS) {
      // Not interned: the number of words would multiply the texts.
      sql = new InternedSql(sql.text)
    }
    for (const { columns, parts } of found) this.#addSearch(columns, parts, values, addTest)
    if (this.isRemote || searchedId === null) return sql
    const match = this.matchOf(where)
    if (match === '') return sql
    addTest(searchedId, ` IN (SELECT "rowid" FROM ${this.#searchIndex} WHERE ${this.#searchIndex} MATCH ?)`)
    values.push(match)
    return sql
  }

  #addSearch(
    columns: readonly string[],
    parts: readonly string[],
    values: unknown[],
    addTest: (tested: string, test: string) => void,
  ): void {
    const isIndexed = this.#isIndexed(columns)
    const isWhole = isIndexed && columns.length === this.#search.length
    const indexed = searchedText(this.#search.map(String))
    const searched = isWhole ? indexed : searchedText(columns)
    for (const part of parts) {
      if (!this.isRemote) {
        addTest(`instr(${searched}, ?)`, ' > 0')
        values.push(part)
        continue
      }
      // PostgreSQL's index is on the text of all search columns.
      for (const text of isIndexed && !isWhole ? [indexed, searched] : [searched]) {
        addTest(`(${text})`, ' LIKE ?')
        values.push(likePattern(part))
      }
    }
  }

  #isIndexed(columns: readonly string[]): boolean {
    return columns.every((column) => this.#search.includes(column as keyof Row))
  }

  // A list is passed as one value, so the text does not depend on its length. Both engines look its values up in an index.
  #addList(
    column: keyof Row,
    list: readonly unknown[],
    values: unknown[],
    add: (column: keyof Row, test: string) => void,
  ): void {
    if (this.isRemote) {
      add(column, ` = ANY(?::${columnTypes[this.#kinds[column]]}[])`)
      values.push(list)
    } else {
      add(column, ' IN (SELECT value FROM json_each(?))')
      values.push(JSON.stringify(list.map(numeric)))
    }
  }

  /** For rare statements, whose text is not kept. */
  protected filtered(rows: string, where: Where<Row>, values: unknown[]): string {
    return this.#conditions(new InternedSql(rows), where, values).text
  }

  protected name(column: keyof Row): string {
    return this.#quoted[String(column)] ?? quote(String(column))
  }
}

/** The searches among conditions: the columns, and the parts of the searched text that a match has. */
function searchesIn(where: object): { columns: readonly string[]; parts: string[] }[] {
  return Object.entries(where as Record<string, unknown>).flatMap(([column, condition]) => {
    const { contains = [] } = isRange(condition) ? condition : {}
    return [contains].flat().map(({ words, columns }: Contains) => ({
      columns: [...new Set(columns ?? [column])],
      parts: [...new Set(words)].map(searchedPart),
    }))
  })
}

const LARGEST_INT = 2 ** 31

/** Whether PostgreSQL would not accept a bound as an `int`. */
function isBeyondInt(bound: unknown): bound is number {
  return typeof bound === 'number' && !(Number.isInteger(bound) && Math.abs(bound) < LARGEST_INT)
}

/** A whole bound that the same integers satisfy. */
function wholeBound(key: string, bound: number): number {
  const whole = key === 'gte' || key === 'lt' ? Math.ceil(bound) : Math.floor(bound)
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, whole))
}

function isSearch(condition: unknown): boolean {
  return isRange(condition) && condition.contains !== undefined
}

function isRange(condition: unknown): condition is Range<unknown> {
  return typeof condition === 'object' && condition !== null && !(condition instanceof Date)
}

// A range of code points, which every index on the column serves.
function addPrefix<Column>(
  column: Column,
  prefix: string,
  values: unknown[],
  add: (column: Column, test: string) => void,
): void {
  add(column, ' >= ?')
  values.push(prefix)
  const end = afterPrefix(prefix)
  if (end === undefined) return
  add(column, ' < ?')
  values.push(end)
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
