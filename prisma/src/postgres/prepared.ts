import type pg from 'pg'
import type { Driver } from './driver.ts'
import { PreparedStatements } from './prepared-statements.ts'
import { inTransaction } from './transaction.ts'

/**
 * Runs statements of our own.
 *
 * @param keepsStatements whether consecutive queries of a connection reach the same one of PostgreSQL, which then knows
 * by name what it has run before
 */
export function openPreparedAccess(pool: pg.Pool, writeMs: number, keepsStatements: boolean): Driver {
  return {
    executor: new PreparedStatements(pool, keepsStatements),
    transaction: (work, lock) =>
      inTransaction(pool, writeMs, lock, (client) => new PreparedStatements(client, keepsStatements), work),
    close: async () => {},
  }
}
