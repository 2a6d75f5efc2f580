import type pg from 'pg'
import type { Executor } from '../tables/executor.ts'
import { PreparedStatements, StatementNames } from './statements.ts'
import { inTransaction } from './transaction.ts'

/** Prepared statements on the connections of a pool: each its own transaction, or several in one. */
export function openPrepared(pool: pg.Pool, writeTimeoutMs: number) {
  const names = new StatementNames()
  return {
    executor: new PreparedStatements(pool, names),
    /**
     * Runs `work` in one transaction, once.
     *
     * @param lock id of an advisory lock (64 bits), held until the end of the transaction
     * @throws Conflict when the transaction conflicts with another one
     */
    transaction: <T>(work: (executor: Executor) => Promise<T>, lock: bigint | undefined): Promise<T> =>
      inTransaction(pool, writeTimeoutMs, lock, (client) => new PreparedStatements(client, names), work),
  }
}
