import type { Prisma, PrismaClient } from '../generated/client.ts'
import { connect } from './connection.ts'
import { databaseFile } from './database-file.ts'
import { migrate } from './migrate.ts'

export type * from '../generated/client.ts'
export { isBusy, uniqueViolation } from './errors.ts'

/** What a store works with inside a write; `Database.read` fits where one is asked for. */
export type Transaction = Prisma.TransactionClient

export interface Database {
  /** Reads see the last committed state, never the inside of a write. Transactions belong to `write`. */
  read: PrismaClient
  /**
   * Runs `work` in one transaction; writes run one after another. What it returns is returned once it is on disk; when
   * it throws, nothing it wrote remains. A write started inside another one waits for it in vain: pass `tx` on.
   *
   * @throws What `work` throws, and an error that {@link isBusy} knows when the turn does not come within 10 s or the
   * work takes more than 30 s.
   */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Throws when the database does not answer. */
  ping(): Promise<void>
  /** Lets go of the file; a write that is still open leaves nothing. */
  close(): Promise<void>
}

/**
 * Opens the database, after bringing it up to the newest migration.
 *
 * @param url `file:` and a path, relative to the working directory; the file and its folder are made when absent.
 * @param options `lockWaitMs`: how long a write waits for another process's one, before it fails as busy; 5,000.
 * @throws Error that says what to do when the URL is of another kind, the file cannot be opened, or its migration
 * history is not the one of this package.
 */
export async function createDatabase(url: string, options: { lockWaitMs?: number } = {}): Promise<Database> {
  const file = databaseFile(url)
  await migrate(file)

  const writer = connect(file, options)
  const read = connect(file, { readonly: true })
  await Promise.all([writer.$connect(), read.$connect()])

  return {
    read,
    write: (work) => writer.$transaction(work, { maxWait: 10_000, timeout: 30_000 }),
    ping: async () => {
      await read.$queryRaw`SELECT 1 FROM sqlite_schema LIMIT 1`
    },
    close: async () => {
      // The writer last: only a connection that may write folds the write-ahead log back into the file.
      await read.$disconnect()
      await writer.$disconnect()
    },
  }
}
