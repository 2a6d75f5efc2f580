import { databaseFile } from './database-file.ts'
import { migrate } from './migrate.ts'
import type { PoolSettings } from './postgres/pool.ts'
import type { ReplicaSettings } from './postgres/replicas.ts'
import { isPostgresUrl, readPostgresUrl } from './postgres/url.ts'
import { openSqlite } from './sqlite-database.ts'
import type { Tables } from './tables.ts'

export type * from '../generated/client.ts'
export { Broken, Full, isBusy, ReferenceViolation, UniqueViolation, Unreachable } from './errors.ts'
export { keysetRanges, type Position } from './keyset.ts'
export type { ReplicaChange } from './postgres/replica.ts'
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

export interface Database {
  /** Reads see the last committed state, never the inside of a write. To write here is refused. */
  read: Tables
  /**
   * For reads that may be a little old: the tables of one replica, each time of the next one, where there are replicas
   * in order, and else `read`. What decides a write, and what must show its caller's own writes, is read from `read`.
   */
  recent(): Tables
  /**
   * Runs `work` in one transaction. What it returns is returned once it is on disk; when it throws, nothing it wrote
   * remains. A write started inside another one waits for it in vain: pass `tx` on.
   *
   * On SQLite writes run one after another. On PostgreSQL they run side by side, and what decides a write must be its
   * own statement: a condition, or a unique index. A write that loses against another one runs again, so `work` must
   * have no effect but through `tx`; and after a statement that failed it can do nothing more.
   *
   * @throws What `work` throws, and an error that {@link isBusy} knows when the turn does not come or the work does not
   * end within the {@link Limits}, or the database cannot be reached.
   */
  write<T>(work: (tx: Tables) => Promise<T>, options?: WriteOptions): Promise<T>
  /** On PostgreSQL: the connections of the pool, and the queries that wait for one. */
  connections?(): { busy: number; idle: number; waiting: number }
  /** On PostgreSQL: whether a query, wherever it is sent, would have to wait for a connection for too long, and so fails. */
  isCrowded?(): boolean
  /** Throws when the database does not answer. */
  ping(): Promise<void>
  /** Lets go of the file or the connections. A write that is still open is undone or, on PostgreSQL, may be waited for. */
  close(): Promise<void>
}

export interface WriteOptions {
  /** A name: writes of one name run one after another on every engine, each seeing what the one before did. */
  alone?: string | undefined
  /**
   * Whether the work writes at most once, by one method of one table other than `insertMany`. On PostgreSQL that statement
   * is the transaction, and the two journeys around it are spared; a second one is refused.
   */
  isSingle?: boolean | undefined
}

/** How long a write may take before it fails as busy, in ms. */
export interface Limits {
  /** Waiting for the writes before it, on PostgreSQL those of the same name; 10,000. */
  turnMs: number
  /** On SQLite, waiting for another process's write; 5,000. */
  lockWaitMs: number
  /** Its own work; 30,000. */
  writeMs: number
}

export interface Options extends Partial<Limits>, PoolSettings, ReplicaSettings {
  /** How the tables are reached: by prepared statements of our own, or through Prisma alone; `prepared`. */
  access?: 'prepared' | 'prisma'
  /**
   * Whether other processes serve the same SQLite file; false when absent. Then a commit waits for the disk in the event
   * loop, so that none of them answers with what a power cut could take back.
   */
  isShared?: boolean
  /** Called when something failed that concerns no caller and is tried again. */
  onWarning?: (message: string, error: unknown) => void
}

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
