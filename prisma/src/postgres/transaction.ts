import type pg from 'pg'
import { Busy } from '../errors.ts'
import { fromPostgres } from './errors.ts'

/**
 * Runs work in a transaction on a connection of its own, which goes back to the pool afterwards, or is closed when it
 * may not be in order.
 *
 * @param longestMs after this the transaction is undone and fails as busy
 * @param lock held until the transaction's end
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  longestMs: number,
  lock: bigint | undefined,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await connect(pool)
  const { promise: expiry, reject } = Promise.withResolvers<never>()
  const late = new Busy('The write took too long and was undone.')
  const timer = setTimeout(() => reject(late), longestMs)
  let isInOrder = true
  try {
    await client.query(lock === undefined ? 'BEGIN' : `BEGIN; SELECT pg_advisory_xact_lock(${lock})`)
    const result = await Promise.race([work(client), expiry])
    await client.query({ text: 'COMMIT' })
    return result
  } catch (error) {
    isInOrder = error !== late && (await isRolledBack(client))
    throw fromPostgres(error) ?? error
  } finally {
    clearTimeout(timer)
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
