import type pg from 'pg'
import { fromPostgres } from '../postgres-errors.ts'
import type { Executor } from '../sql-table.ts'
import type { Statement } from '../sql-text.ts'
import { insertionBy } from './insertion.ts'
import { numbered } from './numbered.ts'
import { type Answer, PreparedQuery } from './prepared-query.ts'

/** Runs statements on a connection, or each on any one of a pool. */
export class PreparedStatements implements Executor {
  readonly isRemote = true
  readonly namesRow = true
  readonly insert = insertionBy((statement) => this.all(statement))
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
