import type pg from 'pg'
import { fromPostgres } from '../postgres-errors.ts'
import type { Executor } from '../sql-table.ts'
import type { Statement } from '../sql-text.ts'
import { insertWith } from './insertion.ts'
import { numberParameters } from './numbered-parameters.ts'
import { PreparedQuery, type QueryResult } from './prepared-query.ts'

/** Runs statements on one connection, or each on any connection of a pool. */
export class PreparedStatements implements Executor {
  readonly isRemote = true
  readonly namesRow = true
  readonly insert = insertWith((statement) => this.all(statement))
  readonly #connection: pg.Pool | pg.PoolClient
  readonly #usesNames: boolean

  /** @param usesNames whether statements are prepared by name, so that the connection can reuse them */
  constructor(connection: pg.Pool | pg.PoolClient, usesNames: boolean) {
    this.#connection = connection
    this.#usesNames = usesNames
  }

  async all(statement: Statement): Promise<Record<string, unknown>[]> {
    return (await this.#query(statement)).rows
  }

  async run(statement: Statement): Promise<number> {
    return (await this.#query(statement)).count
  }

  async #query({ text, values }: Statement): Promise<QueryResult> {
    const { name, sql } = numberParameters(text)
    const query = new PreparedQuery((this.#usesNames && name) || '', sql, values)
    try {
      return await new Promise((resolve, reject) => {
        const settle = (error: unknown, result?: QueryResult) =>
          result === undefined ? reject(error) : resolve(result)
        // The driver's types do not allow a callback with a Submittable.
        this.#connection.query(query as never, settle as never)
      })
    } catch (error) {
      throw fromPostgres(error) ?? error
    }
  }
}
