import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import {
  type AppliedMigration,
  failedMigration,
  foreignDatabase,
  type Migration,
  pending,
  readMigrations,
} from '../migration-history.ts'
import { isUnreachable, reasonOf, sqlState } from '../postgres-errors.ts'
import { SessionClient } from './session.ts'
import { BEGIN } from './transaction.ts'
import type { PostgresUrl } from './url.ts'

/** How long a start waits while another process migrates. */
const LOCK_TIMEOUT = '30s'
const MIN_ATTEMPT_MS = 1_000
/** The advisory lock of `prisma migrate deploy`. */
const LOCK = 72707369

/**
 * Applies all pending migrations to the schema `public` of a PostgreSQL database. The history is recorded in the format of
 * `prisma migrate deploy`, so both can be used on the same database. Any number of processes may start at once.
 *
 * @param waitMs how long to wait for an unreachable server
 * @param folder the migration history: one folder per migration, applied in the order of their names
 * @returns the names of the migrations applied by this call
 * @throws Error that names the migration and a remedy when a migration fails (it is rolled back), or when the database's
 * history is not a prefix of the folder's; Error with the reason when the database cannot be used
 */
export async function migratePostgres(
  url: PostgresUrl,
  waitMs: number,
  folder = fileURLToPath(new URL('../../migrations/postgresql', import.meta.url)),
): Promise<string[]> {
  const migrations = readMigrations(folder)
  const client = await connect(url, Date.now() + waitMs)
  try {
    const applied: string[] = []
    for (;;) {
      const name = await applyNext(client, url.label, migrations)
      if (name === undefined) return applied
      applied.push(name)
    }
  } finally {
    await client.end()
  }
}

async function connect(url: PostgresUrl, deadline: number): Promise<pg.Client> {
  const { connectionString, label, settings, pgbouncer } = url
  for (;;) {
    try {
      const remainingMs = Math.max(deadline - Date.now(), MIN_ATTEMPT_MS)
      const client = new SessionClient({ connectionString, connectionTimeoutMillis: remainingMs })
      await client.connect()
      await client.useSettings(settings, pgbouncer).catch(async (error) => {
        await client.end()
        throw error
      })
      return client
    } catch (error) {
      if (!isRetryable(error)) {
        throw new Error(`The database ${label} cannot be used: ${reasonOf(error)}.`, { cause: error })
      }
      if (Date.now() >= deadline) {
        throw new Error(
          `The database ${label} cannot be reached: ${reasonOf(error)}. Start PostgreSQL, or correct DATABASE_URL.`,
          { cause: error },
        )
      }
      await sleep(100)
    }
  }
}

// A failed authentication (class 28) is not retried.
function isRetryable(error: unknown): boolean {
  return error instanceof Error && isUnreachable(error) && !sqlState(error).startsWith('28')
}

/** Applies the first pending migration in one transaction, or returns undefined. */
async function applyNext(client: pg.Client, label: string, migrations: Migration[]): Promise<string | undefined> {
  // Settings and lock are local to the transaction: behind PgBouncer the next one may use another connection.
  await client.query(`${BEGIN}; SET LOCAL statement_timeout = 0;
    SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'; SELECT pg_advisory_xact_lock(${LOCK})`)
  try {
    const [migration] = pending(await appliedMigrations(client, label), migrations)
    if (migration !== undefined) await apply(client, migration)
    await client.query('COMMIT')
    return migration?.name
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}

async function apply(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  const startedAt = new Date()
  await client.query(sql).catch((error: unknown) => {
    throw failedMigration(name, error)
  })
  await client.query(
    `INSERT INTO public._prisma_migrations (id, checksum, finished_at, migration_name, started_at, applied_steps_count)
     VALUES ($1, $2, $3, $4, $5, 1)`,
    [randomUUID(), checksum, new Date(), name, startedAt],
  )
}

async function appliedMigrations(client: pg.Client, label: string): Promise<AppliedMigration[]> {
  const { rows: tables } = await client.query<{ tablename: string }>(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
  )
  const names = tables.map(({ tablename }) => tablename)
  if (names.length > 0 && !names.includes('_prisma_migrations')) {
    throw foreignDatabase(label, names, 'Name another database.')
  }
  const { rows: access } = await client.query<{ readonly: string; role: string; database: string }>(
    `SELECT current_setting('default_transaction_read_only') AS readonly, quote_ident(current_user) AS role,
      quote_ident(current_database()) AS database`,
  )
  const [{ readonly, role, database }] = access as [(typeof access)[number]]
  if (readonly === 'on') {
    throw new Error(
      `The database ${label} is read-only: default_transaction_read_only is on. Run: ALTER ROLE ${role} IN DATABASE ${database} SET default_transaction_read_only = off`,
    )
  }
  const { rows: encoding } = await client.query(`SHOW server_encoding`)
  if (encoding[0].server_encoding !== 'UTF8') {
    throw new Error(
      `The database ${label} has the encoding ${encoding[0].server_encoding}. Use a database with the encoding UTF8.`,
    )
  }
  await client.query(migrationsTable)
  const { rows } = await client.query<AppliedMigration>(
    `SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
  )
  return rows
}

/** As Prisma's schema engine creates it. */
const migrationsTable = `
CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                      VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum                VARCHAR(64) NOT NULL,
    finished_at             TIMESTAMPTZ,
    migration_name          VARCHAR(255) NOT NULL,
    logs                    TEXT,
    rolled_back_at          TIMESTAMPTZ,
    started_at              TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count     INTEGER NOT NULL DEFAULT 0
)`
