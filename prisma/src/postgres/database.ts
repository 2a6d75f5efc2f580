import { setTimeout as sleep } from 'node:timers/promises'
import { PrismaPg } from '@prisma/adapter-pg'
import type { PrismaClient } from '../../generated/client.ts'
import { PrismaClient as PostgresClient } from '../../generated/postgresql/client.ts'
import type { Database } from '../index.ts'
import { isConflict } from './errors.ts'
import { migratePostgres } from './migrate.ts'
import { openPool, type PoolSettings } from './pool.ts'
import { readPostgresUrl } from './url.ts'

const MOST_ATTEMPTS = 5
const LONGEST_PAUSE_MS = 100

/**
 * Opens a PostgreSQL database, after bringing it up to the newest migration.
 *
 * Transactions have PostgreSQL's own isolation, READ COMMITTED. It is enough, because what decides a write is a
 * condition of the write's own statement or a unique index, which PostgreSQL checks against what is committed when the
 * statement gets its turn, and never what was read before.
 *
 * @param url `postgresql://user:password@host:port/database`, with the parameters that `pg` knows; `pgbouncer=true`
 * when PgBouncer stands before it.
 * @throws Error that says what to do when the URL is malformed, the server does not answer within the time to connect,
 * or the migration history is not the one of this package.
 */
export async function openPostgres(url: string, settings: PoolSettings): Promise<Database> {
  const parsed = readPostgresUrl(url)
  await migratePostgres(parsed, settings.connectTimeoutMs ?? 5_000)

  const pool = openPool(parsed, settings)
  // What the service asks of the two engines' clients they have in common.
  const client = new PostgresClient({ adapter: new PrismaPg(pool) }) as unknown as PrismaClient
  return {
    read: client,
    write: (work) => withRetries(() => client.$transaction(work, { maxWait: 10_000, timeout: 30_000 })),
    ping: async () => {
      await pool.query('SELECT 1')
    },
    close: async () => {
      await client.$disconnect()
      await pool.end()
    },
  }
}

// A deadlock has undone the whole transaction, and its work writes nowhere else: it can run again. The pause keeps the
// same ones from meeting in step.
async function withRetries<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction()
    } catch (error) {
      if (attempt === MOST_ATTEMPTS || !isConflict(error)) throw error
      await sleep(Math.random() * LONGEST_PAUSE_MS)
    }
  }
}
