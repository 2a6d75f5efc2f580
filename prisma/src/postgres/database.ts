import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Options } from '../database.ts'
import type { Engine } from '../engine.ts'
import { Conflict } from '../errors.ts'
import { readOnly, writingOnce } from '../guarded.ts'
import { KeyedQueue } from '../keyed-queue.ts'
import type { Driver } from './driver.ts'
import { migratePostgres } from './migrate.ts'
import { openPool } from './pool.ts'
import { openPreparedAccess } from './prepared.ts'
import { openReplicas } from './replicas.ts'
import { type PostgresUrl, readPostgresUrl } from './url.ts'

const MOST_ATTEMPTS = 5
const LONGEST_PAUSE_MS = 100

/**
 * Opens a PostgreSQL database, after bringing it up to the newest migration.
 *
 * Transactions have PostgreSQL's own isolation, READ COMMITTED. It is enough, because what decides a write is a
 * condition of the write's own statement or a unique index, which PostgreSQL checks against what is committed when the
 * statement gets its turn, and never what was read before; and writes that must see each other have a name in common.
 *
 * @throws Error that says what to do when the URL is malformed, the server does not answer within the time to connect,
 * or the migration history is not the one of this package.
 */
export async function openPostgres(
  url: string,
  { driver, turnMs, writeMs, ...settings }: Options & Required<Pick<Options, 'driver' | 'turnMs' | 'writeMs'>>,
): Promise<Engine> {
  const parsed = readPostgresUrl(url)
  await migratePostgres(parsed, settings.connectTimeoutMs ?? 5_000)

  const pool = openPool(parsed, settings)
  const openAccess = async (pool: pg.Pool, { pgbouncer }: PostgresUrl) =>
    driver === 'prepared' ? openPreparedAccess(pool, writeMs, !pgbouncer) : prismaAccess(pool, writeMs)
  const { executor, transaction, close } = await openAccess(pool, parsed)
  const read = readOnly(executor)
  // The lock of a name is waited for on a connection: one for each process and name, and not one for each write.
  const names = new KeyedQueue(turnMs)
  const replicas = await openReplicas(parsed, read, settings, openAccess)
  return {
    read,
    replica: replicas.next,
    write: (work, { lockKey, autocommit = false }) => {
      if (autocommit && lockKey === undefined) return withRetries(() => work(writingOnce(executor)))
      if (lockKey === undefined) return withRetries(() => transaction(work, undefined))
      return names.run(lockKey, () => withRetries(() => transaction(work, lockOf(lockKey))))
    },
    connections: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    isCrowded: () => pool.isCrowded() && replicas.areCrowded(),
    ping: () => pool.ping(),
    close: async () => {
      await replicas.close()
      await close()
      await pool.end()
    },
  }
}

// Prisma's client takes memory and time to load, which only who uses it should pay.
async function prismaAccess(pool: pg.Pool, writeMs: number): Promise<Driver> {
  const { openPrismaAccess } = await import('./prisma.ts')
  return openPrismaAccess(pool, writeMs)
}

// A transaction that lost was undone as a whole, and its work writes nowhere else: it can run again. The pause keeps
// the same ones from meeting in step.
async function withRetries<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction()
    } catch (error) {
      if (attempt === MOST_ATTEMPTS || !(error instanceof Conflict)) throw error
      await sleep(Math.random() * LONGEST_PAUSE_MS)
    }
  }
}

/** What PostgreSQL calls a lock: names that share a number would only wait for each other. */
function lockOf(name: string): bigint {
  return createHash('sha256').update(name).digest().readBigInt64BE()
}
