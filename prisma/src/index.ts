import { databaseFile } from './database-file.ts'
import { migrate } from './migrate.ts'
import { openSqlite } from './sqlite-database.ts'
import type { Tables } from './tables.ts'

export type * from '../generated/client.ts'
export { isBusy, UniqueViolation } from './errors.ts'
export type { Changes, Columns, Entity, Kind, NewRow, RecordTable, Table, Where } from './table.ts'
export type { Tables } from './tables.ts'

export interface Database {
  /** Reads see the last committed state, never the inside of a write. To write here is refused. */
  read: Tables
  /**
   * Runs `work` in one transaction; writes run one after another. What it returns is returned once it is on disk; when
   * it throws, nothing it wrote remains. A write started inside another one waits for it in vain: pass `tx` on.
   *
   * @throws What `work` throws, and an error that {@link isBusy} knows when the turn does not come or the work does not
   * end within the {@link Limits}.
   */
  write<T>(work: (tx: Tables) => Promise<T>): Promise<T>
  /** Throws when the database does not answer. */
  ping(): Promise<void>
  /** Lets go of the file; a write that is still open leaves nothing. */
  close(): Promise<void>
}

/** How long a write may take before it fails as busy, in ms. */
export interface Limits {
  /** Waiting for the writes before it; 10,000. */
  turnMs: number
  /** Waiting for another process's write; 5,000. */
  lockWaitMs: number
  /** Its own work; 30,000. */
  writeMs: number
}

export interface Options extends Partial<Limits> {
  /** How the tables are reached: by prepared statements of our own, or through Prisma alone; `prepared`. */
  access?: 'prepared' | 'prisma'
}

/**
 * Opens the database, after bringing it up to the newest migration.
 *
 * @param url `file:` and a path, relative to the working directory; the file and its folder are made when absent.
 * @throws Error that says what to do when the URL is of another kind, the file cannot be opened, or its migration
 * history is not the one of this package.
 */
export async function createDatabase(url: string, options: Options = {}): Promise<Database> {
  const { access = 'prepared', turnMs = 10_000, lockWaitMs = 5_000, writeMs = 30_000 } = options
  const file = databaseFile(url)
  await migrate(file)
  const limits = { turnMs, lockWaitMs, writeMs }
  if (access === 'prepared') return openSqlite(file, limits)
  // Prisma's client takes memory and time to load, which only who uses it should pay.
  const { openPrisma } = await import('./prisma-database.ts')
  return openPrisma(file, limits)
}
