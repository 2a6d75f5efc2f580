import { columnTypes } from './column-types.ts'
import type { Changes, Columns, Kind, Order, PageQuery, Where } from './table.ts'
import type { Declaration } from './tables.ts'
import { TextTree } from './text-tree.ts'

/** SQL with `?` for each value. Queries of one shape have one text. */
export interface Statement {
  text: string
  values: unknown[]
}

/** How rows of a table are inserted: `text` takes the values of one, in the order of `columns`. */
export interface Insertion {
  text: string
  table: string
  columns: { name: string; kind: Kind }[]
  /** Whether the engine gives the row an id. */
  hasId: boolean
  /** The columns, other than the id, whose values together at most one row has: the key, and each unique column. */
  unique: string[][]
}

const comparisons: [key: 'lt' | 'lte' | 'gt' | 'gte', test: string][] = [
  ['lt', ' < ?'],
  ['lte', ' <= ?'],
  ['gt', ' > ?'],
  ['gte', ' >= ?'],
]

// Sizes that pages have. PostgreSQL keeps the plan of a statement only if it is as cheap as one for today's values, and
// never believes that of a LIMIT which it does not see: it would plan each page anew, two thirds of its time for it.
const PAGE_SIZES = new Set([10, 20, 25, 50, 100, 200, 250, 500, 1000])

/** How the columns of a row begin that are about its past. */
export const BEFORE = 'before '

// Where the clock was set back, the stored time is the later one.
const LATER = 'WHEN "updated_at" > ? THEN "updated_at"'

/** The statements of one table. */
export class SqlText<Row> {
  readonly insertion: Insertion
  /** The columns that hold dates. */
  readonly dates: string[]
  /** The columns whose numbers are booleans: SQLite has none. */
  readonly bools: string[]
  readonly #isRemote: boolean
  readonly #kinds: Columns<Row>
  readonly #table: string
  readonly #key: string
  readonly #columns: string
  readonly #before: string
  readonly #from: string
  readonly #select = new TextTree('SELECT ')
  readonly #ranges = new TextTree('SELECT * FROM (')
  readonly #count: TextTree
  readonly #quoted: Record<string, string>

  /** @param isRemote whether PostgreSQL reads them, rather than SQLite */
  constructor({ name, key, unique, columns }: Declaration<Row>, isRemote: boolean) {
    this.#isRemote = isRemote
    const kinds = Object.entries<Kind>(columns).map(([name, kind]) => ({ name, kind }))
    const inserted = kinds.filter(({ name }) => name !== 'id')
    const places = inserted.map(() => '?').join(', ')
    this.insertion = {
      text: `INSERT INTO ${quote(name)} (${names(inserted.map(({ name }) => name))}) VALUES (${places})`,
      table: name,
      columns: inserted,
      hasId: 'id' in columns,
      unique: [key, ...unique.map((column) => [column])]
        .map((set) => set.map(String))
        .filter(([first]) => first !== 'id'),
    }
    this.dates = kinds.filter(({ kind }) => kind.startsWith('date')).map(({ name }) => name)
    this.bools = isRemote ? [] : kinds.filter(({ kind }) => kind.startsWith('bool')).map(({ name }) => name)
    this.#kinds = columns
    this.#table = quote(name)
    this.#key = names(key)
    this.#columns = names(Object.keys(columns))
    this.#before = kinds.map(({ name }) => `${quote(name)} AS ${quote(BEFORE + name)}`).join(', ')
    this.#from = ` FROM ${this.#table}`
    this.#count = new TextTree(`SELECT count(*) AS "total"${this.#from}`)
    this.#quoted = Object.fromEntries(kinds.map(({ name }) => [name, quote(name)]))
  }

  /** @param columns all when absent */
  find(where: Where<Row>, columns?: readonly (keyof Row)[]): Statement {
    const values: unknown[] = []
    return { text: this.#conditions(this.#selectOf(columns), where, values).and(' LIMIT 1').text, values }
  }

  /** @param range what is read of what lies beyond a cursor */
  page({ columns, where, order, skip = 0, take }: PageQuery<Row>, range: Where<Row> = {}): Statement {
    const values: unknown[] = []
    const select = this.#selectOf(columns)
    const rows = this.#conditions(this.#conditions(select, where, values), range, values, select)
    const limited = limitedTo(take, where, this.#ordered(rows, order), values)
    if (skip === 0) return { text: limited.text, values }
    values.push(skip)
    return { text: limited.and(' OFFSET ?').text, values }
  }

  /** A page of several ranges in one statement, where that costs less than to stop at the first that fills it. */
  pageOfRanges(query: PageQuery<Row>, ranges: readonly Where<Row>[]): Statement {
    const values: unknown[] = []
    let rows = this.#ranges
    for (const range of ranges) {
      const part = this.page(query, range)
      rows = (rows === this.#ranges ? rows : rows.and(' UNION ALL ')).and('(').and(part.text).and(')')
      values.push(...part.values)
    }
    const ordered = this.#ordered(rows.and(') AS "ranges"'), query.order)
    return { text: limitedTo(query.take, query.where, ordered, values).text, values }
  }

  /** @param range holds beside `where` */
  count(where: Where<Row>, range: Where<Row> = {}): Statement {
    const values: unknown[] = []
    const rows = this.#conditions(this.#count, where, values)
    return { text: this.#conditions(rows, range, values, this.#count).text, values }
  }

  /** An update of a row that is known to be there and to become another. */
  update(id: number, changes: Changes<Row>): Statement {
    const values: unknown[] = []
    let assignments = ''
    for (const [column, value] of Object.entries(changes)) {
      if (value === undefined) continue
      values.push(value)
      if (column !== 'updated_at') assignments += `${quote(column)} = ?, `
      else {
        assignments += `"updated_at" = CASE ${LATER} ELSE ? END, `
        values.push(value)
      }
    }
    values.push(id)
    return { text: `UPDATE ${this.#table} SET ${assignments}"version" = "version" + 1 WHERE "id" = ?`, values }
  }

  /**
   * An update that gives the row it wrote, and under {@link BEFORE} and its name each value that it had. Locked, that
   * is the row which the update finds, and not an older one of the statement's beginning. Where the row has all values
   * already, it keeps its version and its `updated_at`.
   */
  updateReturning(id: number, versions: number[] | undefined, changes: Changes<Row>): Statement {
    const set = Object.entries(changes).filter(([column, value]) => value !== undefined && column !== 'updated_at')
    const written = set.map(([, value]) => value)
    const isSame = set.map(([column]) => `${quote(column)} IS NOT DISTINCT FROM ?`).join(' AND ') || 'TRUE'
    const assignments = set.map(([column]) => `${quote(column)} = ?, `).join('')
    const values: unknown[] = [id, ...written]
    const { updated_at: time } = changes as { updated_at?: unknown }
    let updatedAt = ''
    if (time !== undefined) {
      updatedAt = `"updated_at" = CASE WHEN ${isSame} THEN "updated_at" ${LATER} ELSE ? END, `
      values.push(...written, time, time)
    }
    values.push(...written)
    const version = `"version" = CASE WHEN ${isSame} THEN "version" ELSE "version" + 1 END`
    const which = ofVersion(id, versions, values, this.#isRemote)
    const stored = `SELECT ${this.#before} FROM ${this.#table} WHERE "id" = ? FOR UPDATE`
    return {
      text: `WITH "stored" AS (${stored}) UPDATE ${this.#table} SET ${assignments}${updatedAt}${version} FROM "stored"${which} RETURNING ${this.#columns}, "stored".*`,
      values,
    }
  }

  deleteReturning(id: number, versions: number[] | undefined): Statement {
    const values: unknown[] = []
    return {
      text: `DELETE FROM ${this.#table}${ofVersion(id, versions, values, this.#isRemote)} RETURNING ${this.#columns}`,
      values,
    }
  }

  deleteAll(where: Where<Row>): Statement {
    const values: unknown[] = []
    return { text: this.#which(`DELETE FROM ${this.#table}`, where, values), values }
  }

  deleteSome(where: Where<Row>, limit: number): Statement {
    const values: unknown[] = []
    const some = `${this.#which(`SELECT ${this.#key} FROM ${this.#table}`, where, values)} LIMIT ?`
    values.push(limit)
    return { text: `DELETE FROM ${this.#table} WHERE (${this.#key}) IN (${some})`, values }
  }

  /**
   * The rows that a delete of so many removes. On PostgreSQL they are locked.
   *
   * @param columns what is read of them
   */
  chosen(where: Where<Row>, limit: number, columns = this.#columns): Statement {
    const values: unknown[] = []
    const text = `${this.#which(`SELECT ${columns} FROM ${this.#table}`, where, values)} LIMIT ?`
    values.push(limit)
    // Nobody else writes meanwhile on SQLite.
    return { text: this.#isRemote ? `${text} FOR UPDATE` : text, values }
  }

  deleteSomeReturning(where: Where<Row>, limit: number): Statement {
    const { text: some, values } = this.chosen(where, limit, '"id"')
    // Without the word PostgreSQL may read the rows more than once, and others each time.
    const text = `WITH "chosen" AS MATERIALIZED (${some}) DELETE FROM ${this.#table} WHERE "id" IN (SELECT "id" FROM "chosen")`
    return { text: `${text} RETURNING ${this.#columns}`, values }
  }

  /** @param columns all when absent */
  #selectOf(columns?: readonly (keyof Row)[]): TextTree {
    const listed = columns === undefined ? this.#select.and(this.#columns) : this.#listed(columns)
    return listed.and(this.#from)
  }

  #listed(columns: readonly (keyof Row)[]): TextTree {
    let tree = this.#select
    for (const column of columns) {
      if (tree !== this.#select) tree = tree.and(', ')
      tree = tree.and(this.#name(column))
    }
    return tree
  }

  #ordered(rows: TextTree, { column, descending }: Order<Row>): TextTree {
    const tree = rows
      .and(' ORDER BY ')
      .and(this.#name(column))
      .and(descending ? ' DESC' : ' ASC')
    if (column === 'id') return tree
    // SQLite has null below every value, PostgreSQL above it. Where there is none, PostgreSQL would take the mention of
    // it for an order that its index does not have, and sort.
    if (!this.#kinds[column].endsWith('?')) return tree.and(', "id"')
    return tree.and(descending ? ' NULLS LAST, "id"' : ' NULLS FIRST, "id"')
  }

  /**
   * `rows` with the conditions after it; their values are appended.
   *
   * @param all what they are rows of, where `rows` may have conditions already
   */
  #conditions(rows: TextTree, where: Where<Row>, values: unknown[], all = rows): TextTree {
    let tree = rows
    const add = (column: keyof Row, test: string) => {
      tree = tree
        .and(tree === all ? ' WHERE ' : ' AND ')
        .and(this.#name(column))
        .and(test)
    }
    for (const column in where) {
      const wanted = where[column]
      if (wanted === undefined) continue
      if (wanted === null) add(column, ' IS NULL')
      else if (typeof wanted !== 'object' || wanted instanceof Date) {
        add(column, ' = ?')
        values.push(wanted)
      } else if ('not' in wanted) add(column, ' IS NOT NULL')
      else {
        for (const [key, test] of comparisons) {
          const bound = (wanted as Record<string, unknown>)[key]
          if (bound === undefined) continue
          add(column, test)
          values.push(bound)
        }
        const list = (wanted as { in?: readonly unknown[] }).in
        if (list !== undefined) this.#addList(column, list, values, add)
      }
    }
    return tree
  }

  // A list as one value leaves the text the same, however long the list is. Both engines look its values up in an index.
  #addList(
    column: keyof Row,
    list: readonly unknown[],
    values: unknown[],
    add: (column: keyof Row, test: string) => void,
  ): void {
    if (this.#isRemote) {
      add(column, ` = ANY(?::${columnTypes[this.#kinds[column]]}[])`)
      values.push(list)
    } else {
      add(column, ' IN (SELECT value FROM json_each(?))')
      values.push(JSON.stringify(list.map(numeric)))
    }
  }

  /** For statements that are rare, and whose text need not be kept. */
  #which(rows: string, where: Where<Row>, values: unknown[]): string {
    return this.#conditions(new TextTree(rows), where, values).text
  }

  #name(column: keyof Row): string {
    return this.#quoted[String(column)] ?? quote(String(column))
  }
}

function limitedTo(take: number, filters: object, rows: TextTree, values: unknown[]): TextTree {
  // One row more than a page has tells whether another page follows. Where there are filters, the index that serves them
  // best depends on their values, and PostgreSQL does well to plan for these.
  if (PAGE_SIZES.has(take - 1) && Object.values(filters).every((filter) => filter === undefined)) {
    return rows.and(` LIMIT ${take}`)
  }
  values.push(take)
  return rows.and(' LIMIT ?')
}

// A list as one value leaves the text the same, however long the list is.
function ofVersion(id: number, versions: number[] | undefined, values: unknown[], asArray: boolean): string {
  values.push(id)
  if (versions === undefined) return ' WHERE "id" = ?'
  if (asArray) {
    values.push(versions)
    return ' WHERE "id" = ? AND "version" = ANY(?::int[])'
  }
  values.push(...versions)
  return ` WHERE "id" = ? AND "version" IN (${versions.map(() => '?').join(', ') || 'NULL'})`
}

/** A value as SQLite has it, which has neither dates nor booleans. */
export function numeric(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value)
  return value instanceof Date ? value.getTime() : value
}

function names(columns: readonly PropertyKey[]): string {
  return columns.map(String).map(quote).join(', ')
}

export function quote(name: string): string {
  return `"${name}"`
}
