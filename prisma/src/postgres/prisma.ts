import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import type { Prisma, PrismaClient } from '../../generated/client.ts'
import { PrismaClient as PostgresClient } from '../../generated/postgresql/client.ts'
import { fromPrisma } from '../prisma-error.ts'
import { prismaStatements } from '../prisma-statements.ts'
import type { Executor } from '../sql-table.ts'
import type { Driver } from './driver.ts'
import { insertWith } from './insertion.ts'
import { numberParameters } from './numbered-parameters.ts'
import { parameter } from './prepared-query.ts'

// The types are those of the SQLite client, which has a single level.
const READ_COMMITTED = 'ReadCommitted' as Prisma.TransactionIsolationLevel

/** The driver that runs statements through Prisma Client. */
export function openPrismaDriver(pool: pg.Pool, writeTimeoutMs: number, schema = 'public'): Driver {
  // Only methods that the clients of both engines share are used.
  const client = new PostgresClient({ adapter: new PrismaPg(pool, { schema }) }) as unknown as PrismaClient
  return {
    executor: prismaPostgres(client),
    transaction: (work, lock) =>
      client
        .$transaction(
          async (tx) => {
            if (lock !== undefined) await tx.$executeRaw`SELECT pg_advisory_xact_lock(${lock})`
            return work(prismaPostgres(tx))
          },
          // The pool applies the timeout of the wait.
          { maxWait: 2 ** 31 - 1, timeout: writeTimeoutMs, isolationLevel: READ_COMMITTED },
        )
        .catch((error: unknown) => {
          throw fromPrisma(error)
        }),
    close: () => client.$disconnect(),
  }
}

/** Runs SQL through a Prisma client for PostgreSQL, or one of its transactions. */
export function prismaPostgres(client: object): Executor {
  const { all, run } = prismaStatements(client, ({ text, values }) => [
    numberParameters(text).sql,
    ...values.map(parameter),
  ])
  return { isRemote: true, all, run, insert: insertWith(all) }
}
