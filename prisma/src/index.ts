import type { Database, Options } from './database.ts'
import { databaseFile } from './database-file.ts'
import type { Engine } from './engine.ts'
import { migrate } from './migrate.ts'
import { isPostgresUrl, readPostgresUrl } from './postgres/url.ts'
import { type Executor, sqlTables } from './sql-table.ts'
import { openSqlite } from './sqlite-database.ts'
import type { Tables } from './tables.ts'

export type * from '../generated/client.ts'
export type { AuditContext } from './audit.ts'
export type { Database, Limits, Options, ReplicaChange, WriteOptions } from './database.ts'
export { Broken, Full, isBusy, ReferenceViolation, UniqueViolation, Unreachable } from './errors.ts'
export { keysetRanges, type Position } from './keyset.ts'
export { isPostgresUrl } from './postgres/url.ts'
export type { Around } from './sql-table.ts'
export type {
  Change,
  Changes,
  Columns,
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
export { timestamp } from './timestamp.ts'

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
  const engine = await openEngine(url, options)
  const { around } = options
  const { replica } = engine
  const read = sqlTables(engine.read, { around })
  const known = new Map<Executor, Tables>([[engine.read, read]])
  const tablesOf = (executor: Executor) => {
    let tables = known.get(executor)
    if (tables === undefined) {
      tables = sqlTables(executor, { around })
      known.set(executor, tables)
    }
    return tables
  }
  return {
    ...engine,
    read,
    replica: replica === undefined ? () => read : () => tablesOf(replica()),
    write: (work, options = {}) => {
      const { audit } = options
      const write = () => engine.write((executor) => work(sqlTables(executor, { around, audit })), options)
      return around === undefined ? write() : around('transaction', '', write)
    },
  }
}

async function openEngine(url: string, options: Options): Promise<Engine> {
  const { driver = 'prepared', turnMs = 10_000, lockWaitMs = 5_000, writeMs = 30_000 } = options
  if (isPostgresUrl(url)) {
    const { openPostgres } = await import('./postgres/database.ts')
    return openPostgres(url, { ...options, driver, turnMs, writeMs })
  }
  const file = databaseFile(url)
  await migrate(file)
  const limits = { turnMs, lockWaitMs, writeMs }
  if (driver === 'prepared') return openSqlite(file, limits, options)
  // Prisma's client takes memory and time to load, which only who uses it should pay.
  const { openPrisma } = await import('./prisma-database.ts')
  return openPrisma(file, limits)
}

/** What may be shown of a database's URL: where it is, and no secret. */
export function databaseLabel(url: string): string {
  return isPostgresUrl(url) ? readPostgresUrl(url).label : url
}
