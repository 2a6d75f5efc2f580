import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type Sqlite from 'better-sqlite3'
import {
  type AppliedMigration,
  failedMigration,
  foreignDatabase,
  type Migration,
  pending,
  readMigrations,
} from '../migration-history.ts'
import { searchKey } from '../tables/search.ts'
import { quote } from '../tables/sql.ts'
import { type Rebuild, ROWS_PER_STEP, rebuildsIn, rebuiltRows } from '../text-rebuild.ts'
import { retryWhileLocked } from './lock.ts'
import { isBusy, isDiskFault, MAX_LOCK_WAIT_MS, openSynced, unusable } from './open.ts'

const HISTORY = fileURLToPath(new URL('../../migrations/sqlite', import.meta.url))

/**
 * Applies all pending migrations to a SQLite file, and creates the file and its folder if missing. The history is recorded in
 * the format of `prisma migrate deploy`, so both can be used on the same database. Any number of processes may start at
 * once. Commits that earlier processes left in the write-ahead log are synced to disk first.
 *
 * @param file absolute path of the database file
 * @param folder the migration history: one folder per migration, applied in the order of their names
 * @param opened runs before the file is closed: until then no other program can replace it
 * @returns the names of the migrations applied by this call
 * @throws Error that names the migration and a remedy when a migration fails (it is rolled back), or when the database
 * has another one that is not compatible; Error with a remedy when the file cannot be used or the disk is full
 */
export async function migrate(
  file: string,
  folder = HISTORY,
  opened: () => Promise<void> = async () => {},
): Promise<string[]> {
  const migrations = readMigrations(folder)
  const database = await openSynced(file)
  try {
    // A migration that rebuilds a table drops the old one, which would cascade to the rows that reference it. SQLite ignores
    // this pragma inside a transaction. applyMigration checks the references instead.
    database.pragma('foreign_keys = OFF')
    // For the migration that fills the search keys: SQLite's own lower() changes ASCII letters only.
    database.function('lower', { deterministic: true }, (text) => (typeof text === 'string' ? searchKey(text) : text))
    const next = database.transaction(() => pending(appliedMigrations(database), migrations)[0])
    const apply = database.transaction((migration: Migration) => {
      // Another process may have applied it.
      if (next()?.name !== migration.name) return false
      applyMigration(database, migration)
      return true
    })
    const applied: string[] = []
    for (;;) {
      const migration = await retryWhileLocked(MAX_LOCK_WAIT_MS, isBusy, () => next.immediate())
      if (migration === undefined) break
      for (const rebuild of rebuildsIn(migration.sql)) {
        await rebuildText(database, rebuild).catch((error) => {
          throw isDiskFault(error) || isBusy(error) ? error : failedMigration(migration.name, error)
        })
      }
      const isApplied = await retryWhileLocked(MAX_LOCK_WAIT_MS, isBusy, () => apply.immediate(migration))
      if (isApplied) applied.push(migration.name)
    }
    await opened()
    return applied
  } catch (error) {
    throw isDiskFault(error) ? unusable(file, 'used', error) : error
  } finally {
    database.close()
  }
}

/**
 * The names of the pending migrations of a database with tables, which is not modified.
 *
 * @throws Error as in {@link migrate} when the database has another migration that is not compatible
 */
export function pendingMigrations(database: Sqlite.Database): string[] {
  return pending(appliedMigrations(database), readMigrations(HISTORY)).map(({ name }) => name)
}

async function rebuildText(database: Sqlite.Database, { table, columns }: Rebuild): Promise<void> {
  const names = columns.map(quote)
  const select = database.prepare<[number], Record<string, unknown> & { id: number }>(
    `SELECT "id", "version", ${names.join(', ')} FROM ${quote(table)} WHERE "id" > ? ORDER BY "id" LIMIT ${ROWS_PER_STEP}`,
  )
  const update = database.prepare(
    `UPDATE ${quote(table)} SET ${names.map((name) => `${name} = ?`).join(', ')}, "version" = "version" + ? WHERE "id" = ?`,
  )
  const step = database.transaction((after: number) => {
    const rows = select.all(after)
    for (const { id, values, added } of rebuiltRows(rows, columns)) update.run(...values, added, id)
    return rows.at(-1)?.id
  })
  let last: number | undefined = 0
  while (last !== undefined) {
    const after: number = last
    last = await retryWhileLocked(MAX_LOCK_WAIT_MS, isBusy, () => step.immediate(after))
  }
}

/** Runs under the write lock. */
function applyMigration(database: Sqlite.Database, migration: Migration): void {
  const startedAt = Date.now()
  try {
    database.exec(migration.sql)
    const violations = database.pragma('foreign_key_check') as { table: string }[]
    if (violations[0] !== undefined) throw new Error(`rows of ${violations[0].table} refer to rows that do not exist`)
  } catch (error) {
    throw isDiskFault(error) ? error : failedMigration(migration.name, error)
  }
  database
    .prepare(
      `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, started_at, applied_steps_count)
       VALUES (?, ?, ?, ?, ?, 1)`,
    )
    .run(randomUUID(), migration.checksum, Date.now(), migration.name, startedAt)
}

function appliedMigrations(database: Sqlite.Database): AppliedMigration[] {
  const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all()
  if (tables.length > 0 && !tables.includes('_prisma_migrations')) {
    throw foreignDatabase(`file ${database.name}`, tables, 'Name another file.')
  }
  database.exec(migrationsTable)
  return database
    .prepare<[], AppliedMigration>(
      `SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
    )
    .all()
}

/** As Prisma's schema engine creates it. */
const migrationsTable = `
CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id"                    TEXT PRIMARY KEY NOT NULL,
    "checksum"              TEXT NOT NULL,
    "finished_at"           DATETIME,
    "migration_name"        TEXT NOT NULL,
    "logs"                  TEXT,
    "rolled_back_at"        DATETIME,
    "started_at"            DATETIME NOT NULL DEFAULT current_timestamp,
    "applied_steps_count"   INTEGER UNSIGNED NOT NULL DEFAULT 0
)`
