import { connect } from './connection.ts'
import type { Limits, Options } from './database.ts'
import type { Engine } from './engine.ts'
import { UniqueViolation } from './errors.ts'
import { assertWritable, FileGuard } from './file-guard.ts'
import { fromPrisma } from './prisma-error.ts'
import { prismaStatements } from './prisma-statements.ts'
import type { Executor } from './sql-table.ts'
import { numeric } from './sql-text.ts'
import { SqliteBackground } from './sqlite-background.ts'

/** A SQLite file through Prisma Client: one client for reads, one that serializes writes. */
export async function openPrisma(
  file: string,
  { queueTimeoutMs, writeTimeoutMs, lockTimeoutMs }: Limits,
  options: Options,
): Promise<Engine> {
  const writer = connect(file, { lockTimeoutMs })
  const reader = connect(file, { readonly: true })
  await Promise.all([writer.$connect(), reader.$connect()])
  const background = new SqliteBackground(file)
  const guard = new FileGuard(file, options)

  return {
    read: { ...prismaSqlite(reader), background },
    write: async (work) => {
      guard.check()
      const result = await writer
        .$transaction((tx) => work(prismaSqlite(tx)), { maxWait: queueTimeoutMs, timeout: writeTimeoutMs })
        .catch((error: unknown) => {
          throw fromPrisma(error)
        })
      guard.check()
      return result
    },
    ping: async () => {
      await reader.$queryRaw`SELECT 1 FROM sqlite_schema LIMIT 1`
      guard.ping()
      await assertWritable(file)
    },
    close: () =>
      guard.close(async () => {
        // The writer last: only a writable connection checkpoints the write-ahead log when it closes.
        await reader.$disconnect()
        await background.close()
        await writer.$disconnect()
      }),
  }
}

/** Runs SQL through a Prisma client for SQLite, or one of its transactions. */
export function prismaSqlite(client: object): Executor {
  const { all, run } = prismaStatements(client, ({ text, values }) => [text, ...values.map(numeric)])
  return {
    isRemote: false,
    all,
    run,
    insert: async ({ text }, rows, first) => {
      const ids: number[] = []
      for (const values of rows) {
        const [row] = await all({ text: `${text} RETURNING rowid AS "id"`, values }).catch((error: unknown) => {
          if (!(error instanceof UniqueViolation)) throw error
          throw new UniqueViolation(error.columns, { index: first + ids.length, cause: error.cause })
        })
        ids.push(row?.id as number)
      }
      return ids
    },
  }
}
