import { Busy, isBusy } from './errors.ts'
import type { Database, Limits } from './index.ts'
import { whenUnlocked } from './lock.ts'
import { type Executor, sqlTables } from './sql-table.ts'
import type { Insertion, Statement } from './sql-text.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import type { Tables } from './tables.ts'
import { Turns } from './turns.ts'

const BEGIN = { text: 'BEGIN IMMEDIATE', values: [] }
const COMMIT = { text: 'COMMIT', values: [] }
const PING = { text: 'SELECT 1 FROM sqlite_schema LIMIT 1', values: [] }

/** A SQLite file by prepared statements: one connection for reads, one where writes take turns. */
export function openSqlite(file: string, { turnMs, writeMs, lockWaitMs }: Limits): Database {
  const reader = new SqliteConnection(file, { readonly: true })
  const writer = new SqliteConnection(file)
  const turns = new Turns(turnMs)
  const read = sqlTables(reader)

  return {
    read,
    recent: () => read,
    write: async (work) => {
      await turns.begin()
      try {
        await whenUnlocked(lockWaitMs, isBusy, () => writer.run(BEGIN))
        return await inTransaction(writer, writeMs, work)
      } finally {
        turns.end()
      }
    },
    ping: async () => void reader.all(PING),
    close: async () => {
      turns.refuseAll(new Error('The database is closed.'))
      // The writer last: only a connection that may write folds the write-ahead log back into the file.
      reader.close()
      writer.close()
    },
  }
}

async function inTransaction<T>(
  connection: SqliteConnection,
  longestMs: number,
  work: (tx: Tables) => Promise<T>,
): Promise<T> {
  const transaction = new Transaction(connection)
  const { promise: expiry, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Busy('The write took too long and was undone.')), longestMs)
  try {
    const result = await Promise.race([work(sqlTables(transaction)), expiry])
    connection.run(COMMIT)
    return result
  } catch (error) {
    connection.rollback()
    throw error
  } finally {
    clearTimeout(timer)
    transaction.end()
  }
}

/** The connection for as long as a transaction lasts: what comes later must not become part of the next one. */
class Transaction implements Executor {
  readonly isRemote = false
  readonly #connection: SqliteConnection
  #hasEnded = false

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  all(statement: Statement): unknown[] {
    return this.#open().all(statement)
  }

  run(statement: Statement): number {
    return this.#open().run(statement)
  }

  insert(insertion: Insertion, rows: unknown[][], first: number): number[] {
    return this.#open().insert(insertion, rows, first)
  }

  end(): void {
    this.#hasEnded = true
  }

  #open(): SqliteConnection {
    if (this.#hasEnded) throw new Error('The transaction of this write has ended: await every query inside it.')
    return this.#connection
  }
}
