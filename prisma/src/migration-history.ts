import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Migration {
  name: string
  sql: string
  /** SHA-256 of the SQL, as Prisma records it. */
  checksum: string
}

/**
 * Whether earlier versions of the service may run on a database with this migration. They lack its SQL, so they read it from its
 * name, which `prisma migrate deploy` records too.
 */
export function isCompatible(name: string): boolean {
  return /^\d+_compatible_/.test(name)
}

/** A row of `_prisma_migrations` that is not rolled back. */
export interface AppliedMigration {
  migration_name: string
  checksum: string
  finished_at: unknown
}

/** The migrations of a folder in the order of their names, which is the order of application. */
export function readMigrations(folder: string): Migration[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return entries
    .map(({ name }) => {
      const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * The migrations that a database lacks. It may have others if they are compatible with earlier versions of the service: those
 * with names such as `0016_compatible_add_isbn`.
 *
 * @throws Error that names the migration and a remedy, when another applied migration is not one of `migrations`
 */
export function pending(applied: AppliedMigration[], migrations: Migration[]): Migration[] {
  for (const row of applied) assertUnchanged(row, migrations)
  const done = new Set(applied.map((row) => row.migration_name))
  return migrations.filter(({ name }) => !done.has(name))
}

/** The error for a database that has tables but no migration history. */
export function foreignDatabase(database: string, tables: unknown[], remedy: string): Error {
  return new Error(
    `The database ${database} has tables (${tables.join(', ')}) but no migration history: it belongs to another program. ${remedy}`,
  )
}

/** The error for a migration that failed and was rolled back. */
export function failedMigration(name: string, cause: unknown): Error {
  return new Error(
    `Migration ${name} failed and was rolled back: ${messageOf(cause)}. Correct its migration.sql or the data, then start again.`,
    { cause },
  )
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function assertUnchanged(applied: AppliedMigration, migrations: Migration[]): void {
  const name = applied.migration_name
  if (applied.finished_at === null) {
    throw new Error(
      `Migration ${name} failed halfway. Restore the database from a backup, or repair it and run "prisma migrate resolve --rolled-back ${name}".`,
    )
  }
  const migration = migrations.find((migration) => migration.name === name)
  if (migration === undefined) {
    if (isCompatible(name)) return
    throw new Error(
      `Migration ${name} was applied to the database but is missing here: the database is newer than this program, and the migration is not compatible with earlier versions. Start the version that added the migration, or restore an older backup.`,
    )
  }
  if (migration.checksum !== applied.checksum) {
    throw new Error(
      `Migration ${name} was edited after it was applied to the database. Restore its migration.sql as committed and put the change into a new migration.`,
    )
  }
}
