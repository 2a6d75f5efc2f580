import Sqlite from 'better-sqlite3'
import { pendingMigrations } from './migrate.ts'

/** The result of checking a SQLite file. */
export interface Inspection {
  /** Descriptions of the damage; empty for an intact file. */
  damage: string[]
  /** Why this program cannot serve the file: its tables or migration history are different. Null if they match. */
  mismatch: string | null
  /** The migrations that the next start applies. */
  pending: string[]
  /** The number of rows per table. */
  rows: Record<string, number>
}

/** Checks a whole database, in the snapshot of its open transaction. */
export function inspect(database: Sqlite.Database): Inspection {
  const inspection: Inspection = { damage: [], mismatch: null, pending: [], rows: {} }
  try {
    inspection.damage = [...integrityErrors(database), ...danglingReferences(database)]
    if (inspection.damage.length === 0) inspection.rows = rowCounts(database)
  } catch (error) {
    if (!isDamage(error)) throw error
    inspection.damage = [error.message]
  }
  if (inspection.damage.length > 0) return inspection
  try {
    if (Object.keys(inspection.rows).length === 0) throw new Error('The file has no tables.')
    inspection.pending = pendingMigrations(database)
    delete inspection.rows._prisma_migrations
  } catch (error) {
    inspection.mismatch = (error as Error).message
  }
  return inspection
}

/** Whether an error means that a file is not a database, or a damaged one. */
export function isDamage(error: unknown): error is Error {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
}

function integrityErrors(database: Sqlite.Database): string[] {
  const lines = database.prepare<[], string>('PRAGMA integrity_check').pluck().all()
  return lines.filter((line) => line !== 'ok')
}

function danglingReferences(database: Sqlite.Database): string[] {
  const rows = database.pragma('foreign_key_check') as { table: string; parent: string }[]
  const byTables = Map.groupBy(rows, ({ table, parent }) => `of ${table} refer to rows of ${parent} that do not exist`)
  return [...byTables].map(([what, { length }]) => `${length} rows ${what}`)
}

function rowCounts(database: Sqlite.Database): Record<string, number> {
  // Without the tables of the search indexes.
  const names = database
    .prepare<[], string>(
      `SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .pluck()
    .all()
  const count = (name: string) => database.prepare<[], number>(`SELECT count(*) FROM "${name}"`).pluck().get() ?? 0
  return Object.fromEntries(names.map((name) => [name, count(name)]))
}
