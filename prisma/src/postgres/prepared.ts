import type pg from 'pg'
import { type Executor, sqlTables } from '../sql-table.ts'
import type { Access } from './access.ts'
import { PreparedStatements } from './prepared-statements.ts'
import { inTransaction } from './transaction.ts'

/**
 * The tables by statements of our own.
 *
 * @param keepsStatements whether consecutive queries of a connection reach the same one of PostgreSQL, which then knows
 * by name what it has run before
 */
export function openPreparedAccess(pool: pg.Pool, writeMs: number, keepsStatements: boolean): Access {
  const statements = new PreparedStatements(pool, keepsStatements)
  return {
    read: sqlTables(statements),
    transaction: (work, lock) =>
      inTransaction(pool, writeMs, lock, (client) => new PreparedStatements(client, keepsStatements), work),
    single: (work) => work(sqlTables(writingOnce(statements))),
    close: async () => {},
  }
}

/**
 * @throws Error before a second statement that writes, which would be a transaction of its own, and before one that may
 * have to be undone
 */
function writingOnce(statements: Executor): Executor {
  let hasWritten = false
  const beforeWrite = () => {
    if (hasWritten) throw new Error('A write that was said to be single writes twice.')
    hasWritten = true
  }
  return {
    isRemote: true,
    all: (statement) => {
      if (!statement.text.startsWith('SELECT')) beforeWrite()
      return statements.all(statement)
    },
    run: (statement) => {
      beforeWrite()
      return statements.run(statement)
    },
    insert: (insertion, rows, ...rest) => {
      if (rows.length > 1) throw new Error('A write that was said to be single stores several rows.')
      beforeWrite()
      return statements.insert(insertion, rows, ...rest)
    },
  }
}
