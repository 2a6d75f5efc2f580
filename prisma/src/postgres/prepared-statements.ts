import type pg from 'pg'
import { UniqueViolation } from '../errors.ts'
import { fromPostgres } from '../postgres-errors.ts'
import type { Executor } from '../sql-table.ts'
import type { Insertion, Statement } from '../sql-text.ts'
import { identifying, insertMany, insertOne, sameRow, whatIsStored } from './insertion.ts'
import { numbered } from './numbered.ts'
import { type Answer, PreparedQuery } from './prepared-query.ts'

/** Runs statements on a connection, or each on any one of a pool. */
export class PreparedStatements implements Executor {
  readonly isRemote = true
  readonly #connection: pg.Pool | pg.PoolClient
  readonly #hasNames: boolean

  /** @param hasNames whether a statement goes by a name that the connection knows it by the next time */
  constructor(connection: pg.Pool | pg.PoolClient, hasNames: boolean) {
    this.#connection = connection
    this.#hasNames = hasNames
  }

  async all(statement: Statement): Promise<Record<string, unknown>[]> {
    return (await this.#query(statement)).rows
  }

  async run(statement: Statement): Promise<number> {
    return (await this.#query(statement)).count
  }

  async insert(
    insertion: Insertion,
    rows: unknown[][],
    _first: number,
    complete?: (statement: Statement, answer: string) => Statement,
  ): Promise<number[]> {
    const [first = []] = rows
    if (rows.length === 0) return []
    const answer = whatIsStored(insertion)
    const returning = complete === undefined ? answer : '*'
    const statement =
      rows.length === 1 ? insertOne(insertion, first, returning) : insertMany(insertion, rows, returning)
    const stored = await this.all(complete?.(statement, answer) ?? statement)
    if (stored.length < rows.length) {
      const index = firstMissing(insertion, rows, stored)
      throw new UniqueViolation(await this.#violated(insertion, rows[index] ?? []), { index })
    }
    return stored.map(({ id }) => id as number)
  }

  // PostgreSQL does not name them where it stores nothing.
  async #violated(insertion: Insertion, row: unknown[]): Promise<string[]> {
    const [first = [], ...others] = insertion.unique
    if (others.length === 0) return first
    for (const unique of insertion.unique) {
      if ((await this.all(sameRow(insertion, row, unique))).length > 0) return unique
    }
    return []
  }

  async #query({ text, values }: Statement): Promise<Answer> {
    const { name, sql } = numbered(text)
    const query = new PreparedQuery((this.#hasNames && name) || '', sql, values)
    try {
      return await new Promise((resolve, reject) => {
        const settle = (error: unknown, answer?: Answer) => (answer === undefined ? reject(error) : resolve(answer))
        // The driver's types do not know that a query of one's own may be given with a callback.
        this.#connection.query(query as never, settle as never)
      })
    } catch (error) {
      throw fromPostgres(error) ?? error
    }
  }
}

/** The first row that another one, stored before or given before it, kept from being stored. */
function firstMissing(insertion: Insertion, rows: unknown[][], stored: Record<string, unknown>[]): number {
  const names = identifying(insertion)
  const places = names.map((name) => insertion.columns.findIndex((column) => column.name === name))
  // Rows whose unique values are all null may be several.
  const left = new Map<string, number>()
  for (const row of stored) {
    const values = valuesOf(names.map((name) => row[name]))
    left.set(values, (left.get(values) ?? 0) + 1)
  }
  return rows.findIndex((row) => {
    const values = valuesOf(places.map((place) => row[place]))
    const count = left.get(values) ?? 0
    left.set(values, count - 1)
    return count <= 0
  })
}

function valuesOf(values: unknown[]): string {
  return JSON.stringify(values.map((value) => (value instanceof Date ? value.getTime() : value)))
}
