import { createHash } from 'node:crypto'
import pg from 'pg'
import { Conflict } from '../errors.ts'
import { Recent } from '../recent.ts'
import type { Executor, RawResult } from '../tables/executor.ts'
import type { Statement } from '../tables/sql.ts'
import { fromPostgres, fromSentWrite, isStatementLost } from './errors.ts'
import { insertWith } from './insertion.ts'
import { PreparedQuery, parameter, type QueryResult } from './query.ts'

/** A statement as PostgreSQL prepares it. */
interface Prepared {
  sql: string
  /** Follows from the text, so that it means the same in every process. */
  name: string
}

const prepared = new Recent<string, Prepared>(1_000)

// 126 bits. Each execution sends the name.
const NAME_LENGTH = 21

/** How long statements have no names after PostgreSQL did not find one. */
const UNNAMED_MS = 60_000

/** The names of the statements of one pool. */
export class StatementNames {
  #generation = 0
  #unnamedUntil = 0

  of(name: string): string {
    if (this.#generation === 0) return name
    return performance.now() < this.#unnamedUntil ? '' : `${name}${this.#generation}`
  }

  /**
   * Replaces the names after an error for which {@link isStatementLost} is true. The server connection may have been another
   * one: after a while the names are tried again.
   */
  replace(): void {
    this.#generation++
    this.#unnamedUntil = performance.now() + UNNAMED_MS
  }
}

/** Runs statements on one connection in a transaction, or each on any connection of a pool. */
export class PreparedStatements implements Executor {
  readonly isRemote = true
  readonly namesRow = true
  readonly insert = insertWith((statement) => this.all(statement))
  readonly #connection: pg.Pool | pg.PoolClient
  readonly #names: StatementNames

  constructor(connection: pg.Pool | pg.PoolClient, names = new StatementNames()) {
    this.#connection = connection
    this.#names = names
  }

  async all(statement: Statement): Promise<Record<string, unknown>[]> {
    return (await this.#query(statement)).rows
  }

  async run(statement: Statement): Promise<number> {
    return (await this.#query(statement)).count
  }

  async raw({ text, values }: Statement): Promise<RawResult> {
    const query = { text, values: values.map(parameter), rowMode: 'array' as const, types: { getTypeParser } }
    try {
      const { fields, rows, rowCount } = await this.#connection.query(query)
      return { columns: fields.map(({ name, dataTypeID }) => ({ name, type: dataTypeID })), rows, count: rowCount ?? 0 }
    } catch (error) {
      throw fromPostgres(error)
    }
  }

  async #query({ text, values }: Statement): Promise<QueryResult> {
    const { name, sql } = prepared.get(text, numbered)
    // Outside a transaction each statement commits by itself.
    const convert = this.#connection instanceof pg.Pool && !text.startsWith('SELECT') ? fromSentWrite : fromPostgres
    try {
      return await this.#send(new PreparedQuery(this.#names.of(name), sql, values))
    } catch (error) {
      if (!(error instanceof Error && isStatementLost(error))) throw convert(error)
      this.#names.replace()
      // The error has ended the transaction.
      if (!(this.#connection instanceof pg.Pool)) throw new Conflict('A prepared statement was lost.', { cause: error })
    }
    return this.#send(new PreparedQuery('', sql, values)).catch((error) => {
      throw convert(error)
    })
  }

  #send(query: PreparedQuery): Promise<QueryResult> {
    const connection = this.#connection
    return new Promise((resolve, reject) => {
      const settle: Settle = (error, result) => (result === undefined ? reject(error) : resolve(result))
      if (!(connection instanceof pg.Pool)) return submit(connection, query, settle)
      // The pool's own method also listens for errors of the connection, with which its query fails anyway.
      connection.connect((error, client) => {
        // Nothing was sent.
        if (client === undefined) return reject(fromPostgres(error))
        submit(client, query, (error, result) => {
          client.release(error as Error | undefined)
          settle(error, result)
        })
      })
    })
  }
}

type Settle = (error: unknown, result?: QueryResult) => void

function submit(client: pg.PoolClient, query: PreparedQuery, settle: Settle): void {
  try {
    // The driver's types do not allow a callback with a Submittable.
    client.query(query as never, settle as never)
  } catch (error) {
    settle(error)
  }
}

/** Replaces each `?` with `$1`, `$2` and so on. */
function numbered(text: string): Prepared {
  let position = 0
  const sql = text.replace(/\?/g, () => `$${++position}`)
  return { sql, name: createHash('sha256').update(sql).digest('base64url').slice(0, NAME_LENGTH) }
}

/** Keeps timestamps as text, which Prisma expects. */
function getTypeParser(type: number, format?: 'text' | 'binary') {
  return type === pg.types.builtins.TIMESTAMP ? String : pg.types.getTypeParser(type, format)
}
