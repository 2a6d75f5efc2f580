import type pg from 'pg'
import { sqlTables } from '../sql-table.ts'
import type { Access } from './database.ts'
import { PreparedStatements } from './prepared-statements.ts'
import { inTransaction } from './transaction.ts'

/**
 * The tables by statements of our own.
 *
 * @param keepsStatements whether consecutive queries of a connection reach the same one of PostgreSQL, which then knows
 * by name what it has run before
 */
export function openPreparedAccess(pool: pg.Pool, writeMs: number, keepsStatements: boolean): Access {
  const tables = (connection: pg.Pool | pg.PoolClient) => sqlTables(new PreparedStatements(connection, keepsStatements))
  return {
    read: tables(pool),
    transaction: (work, lock) => inTransaction(pool, writeMs, lock, (client) => work(tables(client))),
    close: async () => {},
  }
}
