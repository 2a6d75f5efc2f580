import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import Sqlite from 'better-sqlite3'
import { whenUnlocked } from './lock.ts'
import {
  type AppliedMigration,
  failedMigration,
  foreignDatabase,
  type Migration,
  messageOf,
  pending,
  readMigrations,
} from './migration-history.ts'

/** How long a start waits for the migrations of another process. */
const LONGEST_LOCK_WAIT_MS = 30_000

const HISTORY = fileURLToPath(new URL('../migrations/sqlite', import.meta.url))

/**
 * Brings a SQLite file up to the newest migration, making the file and its folder when absent. The history is
 * recorded as `prisma migrate deploy` records it, so either can follow the other. Any number of processes may start at once.
 *
 * @param file Absolute path of the database file.
 * @param folder The migration history: one folder per migration, applied in the order of their names.
 * @returns The names of the migrations applied by this call.
 * @throws Error that names the migration and what to do, when one fails (it then leaves nothing) or when the file's
 * history is not a beginning of the folder's.
 */
export async function migrate(file: string, folder = HISTORY): Promise<string[]> {
  const migrations = readMigrations(folder)
  const database = open(file)
  try {
    await switchToWal(database)
    // A migration that rebuilds a table drops the old one, which would take the rows that refer to it along. SQLite
    // ignores this switch inside a transaction; applyNext checks the references instead.
    database.pragma('foreign_keys = OFF')
    const next = database.transaction(() => applyNext(database, migrations))
    const applied: string[] = []
    for (;;) {
      const name = await whenUnlocked(LONGEST_LOCK_WAIT_MS, isBusy, () => next.immediate())
      if (name === undefined) return applied
      applied.push(name)
    }
  } finally {
    database.close()
  }
}

/**
 * The names of the migrations that a database with tables still lacks; it is only read.
 *
 * @throws Error as {@link migrate} does when the history is not a beginning of this package's
 */
export function pendingMigrations(database: Sqlite.Database): string[] {
  return pending(appliedMigrations(database), readMigrations(HISTORY)).map(({ name }) => name)
}

function open(file: string): Sqlite.Database {
  try {
    mkdirSync(dirname(file), { recursive: true })
    return new Sqlite(file, { timeout: 0 })
  } catch (error) {
    throw new Error(`The database file ${file} cannot be opened: ${messageOf(error)}.`, { cause: error })
  }
}

async function switchToWal(database: Sqlite.Database): Promise<void> {
  try {
    await whenUnlocked(LONGEST_LOCK_WAIT_MS, isBusy, () => database.pragma('journal_mode = WAL'))
  } catch (error) {
    throw new Error(`The database file ${database.name} cannot be used: ${messageOf(error)}.`, { cause: error })
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')
}

/** Applies the first pending migration; undefined when there is none. Runs under the write lock. */
function applyNext(database: Sqlite.Database, migrations: Migration[]): string | undefined {
  const [migration] = pending(appliedMigrations(database), migrations)
  if (migration === undefined) return undefined

  const startedAt = Date.now()
  try {
    database.exec(migration.sql)
    const dangling = database.pragma('foreign_key_check') as { table: string }[]
    if (dangling[0] !== undefined) throw new Error(`rows of ${dangling[0].table} refer to rows that do not exist`)
  } catch (error) {
    throw failedMigration(migration.name, error)
  }
  database
    .prepare(
      `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, started_at, applied_steps_count)
       VALUES (?, ?, ?, ?, ?, 1)`,
    )
    .run(randomUUID(), migration.checksum, Date.now(), migration.name, startedAt)
  return migration.name
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

/** As Prisma's schema engine makes it. */
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
