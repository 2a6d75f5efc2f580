import type pg from 'pg'
import { inTime, Late } from '../guarded.ts'
import { fromPostgres } from '../postgres-errors.ts'
import type { Executor } from '../sql-table.ts'

// The database, or the role, may have another level by default.
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'

/**
 * Runs work in a transaction on a connection of its own, which goes back to the pool afterwards, or is closed when it
 * may not be in order.
 *
 * @param longestMs after this the transaction is undone and fails as busy
 * @param lock held until the transaction's end
 * @param open gives the statements on a connection
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  longestMs: number,
  lock: bigint | undefined,
  open: (client: pg.PoolClient) => Executor,
  work: (executor: Executor) => Promise<T>,
): Promise<T> {
  const client = await connect(pool)
  let isInOrder = true
  try {
    const result = await inTime(open(client), longestMs, async (executor) => {
      await client.query(lock === undefined ? BEGIN : `${BEGIN}; SELECT pg_advisory_xact_lock(${lock})`)
      return work(executor)
    })
    await client.query({ text: 'COMMIT' })
    return result
  } catch (error) {
    isInOrder = !(error instanceof Late) && (await isRolledBack(client))
    throw fromPostgres(error) ?? error
  } finally {
    client.release(!isInOrder)
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
