import { connect } from './connection.ts'
import type { Database, Limits } from './database.ts'
import { fromPrisma } from './prisma-error.ts'
import { prismaTables } from './prisma-table.ts'
import { ROWS_REMOVED_AT_ONCE } from './sql-table.ts'

/** A SQLite file through Prisma alone: a client for reads, and one where writes take turns. */
export async function openPrisma(file: string, { turnMs, writeMs, lockWaitMs }: Limits): Promise<Database> {
  const writer = connect(file, { lockWaitMs })
  const reader = connect(file, { readonly: true })
  await Promise.all([writer.$connect(), reader.$connect()])
  const read = prismaTables(reader)

  return {
    read,
    recent: () => read,
    write: (work) =>
      writer
        .$transaction((tx) => work(prismaTables(tx, ROWS_REMOVED_AT_ONCE)), { maxWait: turnMs, timeout: writeMs })
        .catch((error: unknown) => {
          throw fromPrisma(error)
        }),
    ping: async () => {
      await reader.$queryRaw`SELECT 1 FROM sqlite_schema LIMIT 1`
    },
    close: async () => {
      // The writer last: only a connection that may write folds the write-ahead log back into the file.
      await reader.$disconnect()
      await writer.$disconnect()
    },
  }
}
