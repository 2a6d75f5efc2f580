import type { Database, Options } from './database.ts'
import { databaseFile } from './database-file.ts'
import { migrate } from './migrate.ts'
import { isPostgresUrl, readPostgresUrl } from './postgres/url.ts'
import { openSqlite } from './sqlite-database.ts'

export type * from '../generated/client.ts'
export type { Database, Limits, Options, ReplicaChange, WriteOptions } from './database.ts'
export { Broken, Full, isBusy, ReferenceViolation, UniqueViolation, Unreachable } from './errors.ts'
export { keysetRanges, type Position } from './keyset.ts'
export { isPostgresUrl } from './postgres/url.ts'
export type {
  Change,
  Changes,
  Columns,
  Entering,
  Entity,
  Kind,
  ListTable,
  NewRow,
  PageQuery,
  Range,
  RecordTable,
  Table,
  Where,
} from './table.ts'
export { declarations, type Tables } from './tables.ts'

/**
 * Opens the database, after bringing it up to the newest migration.
 *
 * @param url `file:` and a path, relative to the working directory; the file and its folder are made when absent. Or
 * `postgresql://user:password@host:port/database`, with the parameters that `pg` knows, and `pgbouncer=true` when
 * PgBouncer stands before it.
 * @throws Error that says what to do when the URL is of another kind, the file cannot be opened, the server does not
 * answer in time, or the migration history is not the one of this package.
 */
export async function createDatabase(url: string, options: Options = {}): Promise<Database> {
  const { access = 'prepared', turnMs = 10_000, lockWaitMs = 5_000, writeMs = 30_000 } = options
  if (isPostgresUrl(url)) {
    const { openPostgres } = await import('./postgres/database.ts')
    return openPostgres(url, { ...options, access, turnMs, writeMs })
  }
  const file = databaseFile(url)
  await migrate(file)
  const limits = { turnMs, lockWaitMs, writeMs }
  if (access === 'prepared') return openSqlite(file, limits, options)
  // Prisma's client takes memory and time to load, which only who uses it should pay.
  const { openPrisma } = await import('./prisma-database.ts')
  return openPrisma(file, limits)
}

/** What may be shown of a database's URL: where it is, and no secret. */
export function databaseLabel(url: string): string {
  return isPostgresUrl(url) ? readPostgresUrl(url).label : url
}
