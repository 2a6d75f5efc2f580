import type pg from 'pg'
import type { Driver } from './driver.ts'
import { PreparedStatements } from './prepared-statements.ts'
import { inTransaction } from './transaction.ts'

/**
 * The driver that runs prepared statements of this package.
 *
 * @param keepsStatements whether all queries of a client connection reach the same server connection, so that named prepared
 * statements can be reused; false behind PgBouncer
 */
export function openPreparedDriver(pool: pg.Pool, writeTimeoutMs: number, keepsStatements: boolean): Driver {
  return {
    executor: new PreparedStatements(pool, keepsStatements),
    transaction: (work, lock) =>
      inTransaction(pool, writeTimeoutMs, lock, (client) => new PreparedStatements(client, keepsStatements), work),
    close: async () => {},
  }
}
