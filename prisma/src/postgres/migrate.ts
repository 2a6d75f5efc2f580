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
import { quote } from '../tables/sql.ts'
import { type Rebuild, ROWS_PER_STEP, rebuildsIn, rebuiltRows } from '../text-rebuild.ts'
import { buildIndex, concurrentIndexIn } from './concurrent-index.ts'
import { connect, exclusively, inTransaction, openReports } from './migration-session.ts'
import { assertMayMigrate, type Rights, readRights } from './privileges.ts'
import type { PostgresUrl } from './url.ts'

// The session that holds the lock is idle during the build of an index. PostgreSQL would end it after a minute.
const KEEP_ALIVE_MS = 10_000
const BUILD_POLL_MS = 1_000

const HISTORY = fileURLToPath(new URL('../../migrations/postgresql', import.meta.url))

interface MigrationOptions {
  /** The migration history: one folder per migration, applied in the order of their names. */
  folder?: string
  /** Called with the sessions whose locks a migration waits for. */
  onWarning?: ((message: string) => void) | undefined
  /** Whether to accept databases that are not PostgreSQL. */
  allowUntested?: boolean | undefined
}

/**
 * Applies all pending migrations to the schema of a PostgreSQL database that the URL names. The history is recorded in the format of
 * `prisma migrate deploy`, so both can be used on the same database. Any number of processes may start at once.
 *
 * @param waitMs how long to wait for an unreachable server
 * @returns the names of the migrations applied by this call
 * @throws Error that names the migration and a remedy when a migration fails (it is rolled back), or when the database
 * has another one that is not compatible; Error with the reason when the database cannot be used
 */
export async function migratePostgres(
  url: PostgresUrl,
  waitMs: number,
  { folder = HISTORY, onWarning = () => {}, allowUntested = false }: MigrationOptions = {},
): Promise<string[]> {
  const migrations = readMigrations(folder)
  const client = await connect(url, performance.now() + waitMs, allowUntested)
  let warned = ''
  const warn = (message: string) => {
    if (message !== warned) onWarning(message)
    warned = message
  }
  const reports = openReports(url, warn)
  const next = () => firstPending(client, url, migrations)
  const run = async ({ name, sql }: Migration, lockTimeoutMs: number) => {
    const pid = await pidOf(client)
    await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`)
    const timer = setTimeout(reports.report, lockTimeoutMs / 2, pid, name)
    await client.query(sql).finally(() => clearTimeout(timer))
    return true
  }
  const build = async ({ name, sql }: Migration, index: string, schema: string) => {
    const builder = await connect(url, performance.now(), true)
    const pid = await pidOf(builder)
    const timer = setInterval(() => {
      reports.report(pid, name)
      // Unlike SELECT it needs no snapshot, for which the build would wait.
      client.query('SHOW lock_timeout').catch(() => {})
    }, KEEP_ALIVE_MS)
    try {
      return await buildIndex(builder, schema, index, sql)
    } finally {
      clearInterval(timer)
      await builder.end()
    }
  }
  try {
    // Without the lock: another process may build an index for hours.
    const isUpToDate = await inTransaction(client, async () => (await next()).migration === undefined).catch(
      () => false,
    )
    const applied: string[] = []
    while (!isUpToDate) {
      const { migration } = await exclusively(client, next, warn)
      if (migration === undefined) break
      for (const rebuild of rebuildsIn(migration.sql)) {
        await rebuildText(client, rebuild).catch((error) => {
          throw failedMigration(migration.name, error)
        })
      }
      let isBuilding = false
      const work = async (lockTimeoutMs: number) => {
        const { migration: first, rights } = await next()
        // Another process may have applied it.
        if (first?.name !== migration.name) return false
        if (!rights.schemaExists) await client.query(`CREATE SCHEMA ${rights.schema}`)
        await client.query(migrationsTable)
        const startedAt = new Date()
        const index = concurrentIndexIn(migration.sql)
        const running = index === undefined ? run(migration, lockTimeoutMs) : build(migration, index, rights.schema)
        const isRun = await running.catch((error) => {
          throw failedMigration(migration.name, error)
        })
        isBuilding = !isRun
        if (isBuilding) return false
        await record(client, migration, startedAt)
        return true
      }
      if (await exclusively(client, work, warn)) applied.push(migration.name)
      else if (isBuilding) await sleep(BUILD_POLL_MS)
    }
    return applied
  } finally {
    await reports.close()
    await client.end()
  }
}

async function firstPending(
  client: pg.Client,
  url: PostgresUrl,
  migrations: Migration[],
): Promise<{ migration?: Migration | undefined; rights: Rights }> {
  const rights = await readRights(client, url)
  const [migration] = pending(await appliedMigrations(client, url.label, rights), migrations)
  if (migration !== undefined) assertMayMigrate(url.label, migration.name, rights)
  return { migration, rights }
}

async function rebuildText(client: pg.Client, { table, columns }: Rebuild): Promise<void> {
  const names = columns.map(quote)
  const select = `SELECT "id", "version", ${names.join(', ')} FROM ${quote(table)} WHERE "id" > $1 ORDER BY "id" LIMIT ${ROWS_PER_STEP}`
  const set = names.map((name) => `${name} = "new".${name}`).join(', ')
  const arrays = ['int', 'int', 'int', ...columns.map(() => 'text')].map((type, index) => `$${index + 1}::${type}[]`)
  // Not a row that another process has written since it was read.
  const update = `UPDATE ${quote(table)} AS "old" SET ${set}, "version" = "old"."version" + "new"."added"
    FROM unnest(${arrays.join(', ')}) AS "new" ("id", "version", "added", ${names.join(', ')})
    WHERE "old"."id" = "new"."id" AND "old"."version" = "new"."version"`
  let last: unknown = 0
  while (last !== undefined) {
    last = await inTransaction(client, async () => {
      const { rows } = await client.query(select, [last])
      const rebuilt = rebuiltRows(rows, columns)
      const texts = columns.map((_, index) => rebuilt.map(({ values }) => values[index]))
      const numbers = (['id', 'version', 'added'] as const).map((name) => rebuilt.map((row) => row[name]))
      if (rebuilt.length > 0) await client.query(update, [...numbers, ...texts])
      return rows.at(-1)?.id
    })
  }
}

async function pidOf(client: pg.Client): Promise<number> {
  return (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid
}

async function record(client: pg.Client, { name, checksum }: Migration, startedAt: Date): Promise<void> {
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, started_at, applied_steps_count)
     VALUES ($1, $2, $3, $4, $5, 1)`,
    [randomUUID(), checksum, new Date(), name, startedAt],
  )
}

async function appliedMigrations(client: pg.Client, label: string, { tables }: Rights) {
  if (!tables.includes('_prisma_migrations')) {
    if (tables.length > 0)
      throw foreignDatabase(label, tables, 'Name another database, or another schema with ?schema=.')
    return []
  }
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
