import type pg from 'pg'
import type { Executor } from '../tables/executor.ts'
import { WriteTimeout, withDeadline } from '../tables/guarded.ts'
import { fromPostgres, fromSentWrite } from './errors.ts'
import { PreparedStatements, StatementNames } from './statements.ts'

// Explicit, because the database or the role may have a different default level.
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'

/** Prepared statements on the connections of a pool: each its own transaction, or several in one. */
export function openPrepared(pool: pg.Pool, writeTimeoutMs: number) {
  const names = new StatementNames()
  return {
    executor: new PreparedStatements(pool, names),
    /**
     * Runs work in a transaction, once. Afterwards its connection returns to the pool, or is closed if its state is uncertain.
     *
     * @param lock id of an advisory lock (64 bits), held until the end of the transaction
     * @throws Conflict when the transaction conflicts with another one; WriteTimeout when the work takes too long
     */
    transaction: async <T>(work: (executor: Executor) => Promise<T>, lock: bigint | undefined): Promise<T> => {
      const client = await pool.connect().catch((error) => {
        throw fromPostgres(error)
      })
      let isReusable = true
      try {
        const statements = new PreparedStatements(client, names)
        const result = await withDeadline(statements, writeTimeoutMs, async (executor) => {
          await client.query(lock === undefined ? BEGIN : `${BEGIN}; SELECT pg_advisory_xact_lock(${lock})`)
          return work(executor)
        })
        await client.query({ text: 'COMMIT' }).catch((error) => {
          throw fromSentWrite(error)
        })
        return result
      } catch (error) {
        isReusable = !(error instanceof WriteTimeout) && (await isRolledBack(client))
        throw fromPostgres(error)
      } finally {
        client.release(!isReusable)
      }
    },
  }
}

function isRolledBack(client: pg.PoolClient): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  )
}
