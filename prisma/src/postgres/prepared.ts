import type pg from 'pg'
import type { Driver } from './driver.ts'
import { PreparedStatements, StatementNames } from './prepared-statements.ts'
import { inTransaction } from './transaction.ts'

/** The driver that runs prepared statements of this package. */
export function openPreparedDriver(pool: pg.Pool, writeTimeoutMs: number): Driver {
  const names = new StatementNames()
  return {
    executor: new PreparedStatements(pool, names),
    transaction: (work, lock) =>
      inTransaction(pool, writeTimeoutMs, lock, (client) => new PreparedStatements(client, names), work),
    close: async () => {},
  }
}
