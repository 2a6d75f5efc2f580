import type pg from 'pg'
import type { Executor } from '../tables/executor.ts'
import { WriteTimeout, withDeadline } from '../tables/guarded.ts'
import { fromPostgres } from './errors.ts'
import { PreparedStatements, StatementNames } from './statements.ts'

// Explicit, because the database or the role may have a different default level.
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'

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

/**
 * Runs work in a transaction on one connection of the pool. Afterwards the connection returns to the pool, or is closed if its
 * state is uncertain.
 *
 * @param timeoutMs after this time the transaction is rolled back and fails as busy
 * @param lock id of an advisory lock, held until the end of the transaction
 * @param open returns an executor for a connection
 */
async function inTransaction<T>(
  pool: pg.Pool,
  timeoutMs: number,
  lock: bigint | undefined,
  open: (client: pg.PoolClient) => Executor,
  work: (executor: Executor) => Promise<T>,
): Promise<T> {
  const client = await connect(pool)
  let isReusable = true
  try {
    const result = await withDeadline(open(client), timeoutMs, async (executor) => {
      await client.query(lock === undefined ? BEGIN : `${BEGIN}; SELECT pg_advisory_xact_lock(${lock})`)
      return work(executor)
    })
    await client.query({ text: 'COMMIT' })
    return result
  } catch (error) {
    isReusable = !(error instanceof WriteTimeout) && (await isRolledBack(client))
    throw fromPostgres(error) ?? error
  } finally {
    client.release(!isReusable)
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw fromPostgres(error) ?? error
  }
}

function isRolledBack(client: pg.PoolClient): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  )
}
