import type { Declaration } from './declarations.ts'
import { InternedSql } from './interned-sql.ts'
import { type AddTest, addRange } from './range-tests.ts'
import { isRange, likePattern, searchedText, searchesIn, trigramQuery } from './search.ts'
import { quote } from './sql.ts'
import type { Columns, Where } from './types.ts'
import { scopeIn } from './within.ts'

// Searches have one or two words, as a rule.
const MAX_INTERNED_PARTS = 2

/** SQLite's full-text index, as {@link Access}. */
export const MATCH: unique symbol = Symbol('match')

/** How SQLite finds the rows of a statement: by the index of a column, or by the full-text index. */
export type Access<Row> = keyof Row | typeof MATCH

/** The conditions of statements on one table, as SQL. */
export class Conditions<Row> {
  readonly #isRemote: boolean
  readonly #kinds: Columns<Row>
  readonly #search: readonly (keyof Row)[]
  readonly #quoted: Record<string, string>
  /** Selects the ids of the rows that SQLite's full-text index returns for a query. */
  readonly matches: string

  /** @param isRemote whether the statements are for PostgreSQL, not SQLite */
  constructor({ name, columns, search }: Declaration<Row>, isRemote: boolean) {
    const index = quote(`${name}_search`)
    this.#isRemote = isRemote
    this.#kinds = columns
    this.#search = search
    this.#quoted = Object.fromEntries(Object.keys(columns).map((name) => [name, quote(name)]))
    this.matches = `SELECT "rowid" FROM ${index} WHERE ${index} MATCH ?`
  }

  name(column: keyof Row): string {
    return this.#quoted[String(column)] ?? quote(String(column))
  }

  /**
   * Appends the conditions to `rows`, and their values to `values`.
   *
   * @param all the text without conditions, if `rows` may have some already
   * @param by the only way in which SQLite may find the rows; its own choice by default
   */
  append(rows: InternedSql, where: Where<Row>, values: unknown[], all = rows, by?: Access<Row>): InternedSql {
    const sql = this.#append(rows, where, values, all, by)
    const scope = scopeIn(where)
    return scope === undefined ? sql : this.append(sql, withoutSame(scope, where), values, all, by)
  }

  #append(
    rows: InternedSql,
    where: Where<Row>,
    values: unknown[],
    all: InternedSql,
    by: Access<Row> | undefined,
  ): InternedSql {
    let sql = rows
    let isFirst = rows === all
    let searches = false
    const addTest: AddTest = (tested, test) => {
      sql = sql
        .append(isFirst ? ' WHERE ' : ' AND ')
        .append(tested)
        .append(test)
      isFirst = false
    }
    for (const column in where) {
      const condition = where[column]
      if (condition === undefined) continue
      // A plus keeps SQLite from using an index.
      const tested = by === undefined || by === column ? this.name(column) : `+${this.name(column)}`
      if (condition === null) addTest(tested, ' IS NULL')
      else if (!isRange(condition)) {
        addTest(tested, ' = ?')
        values.push(condition)
      } else if ('not' in condition) addTest(tested, ' IS NOT NULL')
      else {
        addRange({ tested, kind: this.#kinds[column], isRemote: this.#isRemote }, condition, values, addTest)
        if (condition.contains !== undefined) searches = true
      }
    }
    if (!searches) return sql
    const found = searchesIn(where)
    if (found.flatMap(({ parts }) => parts).length > MAX_INTERNED_PARTS) {
      // Not interned: the number of words would multiply the texts.
      sql = new InternedSql(sql.text)
    }
    for (const { columns, parts } of found) this.#addSearch(columns, parts, values, addTest)
    const match = this.#isRemote || (by !== undefined && by !== MATCH) ? '' : this.matchOf(where)
    if (match === '') return sql
    addTest('"id"', ` IN (${this.matches})`)
    values.push(match)
    return sql
  }

  /** The query of SQLite's full-text index for all rows that may match; empty if it cannot be used. */
  matchOf(where: Where<Row>): string {
    const indexed = searchesIn(where).filter(({ columns }) => this.#isIndexed(columns))
    return trigramQuery(indexed.flatMap(({ parts }) => parts))
  }

  #addSearch(columns: readonly string[], parts: readonly string[], values: unknown[], addTest: AddTest): void {
    const isIndexed = this.#isIndexed(columns)
    const isWhole = isIndexed && columns.length === this.#search.length
    const indexed = searchedText(this.#search.map(String))
    const searched = isWhole ? indexed : searchedText(columns)
    for (const part of parts) {
      if (!this.#isRemote) {
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
}

/** The conditions of a scope that `where` does not have itself. */
function withoutSame<Row>(scope: Where<Row>, where: Where<Row>): Where<Row> {
  const rest = { ...scope }
  for (const column in rest) if (rest[column] === where[column]) delete rest[column]
  return rest
}
