import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import type { Prisma, PrismaClient } from '../../generated/client.ts'
import { PrismaClient as PostgresClient } from '../../generated/postgresql/client.ts'
import { fromPrisma } from '../prisma-error.ts'
import { prismaStatements } from '../prisma-statements.ts'
import type { Executor } from '../sql-table.ts'
import type { Driver } from './driver.ts'
import { insertionBy } from './insertion.ts'
import { numbered } from './numbered.ts'
import { parameter } from './prepared-query.ts'

// The types are SQLite's, which has one level.
const READ_COMMITTED = 'ReadCommitted' as Prisma.TransactionIsolationLevel

/** Runs statements through Prisma alone. */
export function openPrismaAccess(pool: pg.Pool, writeMs: number): Driver {
  // What is asked of the two engines' clients they have in common.
  const client = new PostgresClient({ adapter: new PrismaPg(pool) }) as unknown as PrismaClient
  return {
    executor: prismaPostgres(client),
    transaction: (work, lock) =>
      client
        .$transaction(
          async (tx) => {
            if (lock !== undefined) await tx.$executeRaw`SELECT pg_advisory_xact_lock(${lock})`
            return work(prismaPostgres(tx))
          },
          // The pool has the time-out of the wait.
          { maxWait: 2 ** 31 - 1, timeout: writeMs, isolationLevel: READ_COMMITTED },
        )
        .catch((error: unknown) => {
          throw fromPrisma(error)
        }),
    close: () => client.$disconnect(),
  }
}

/** Runs SQL through a Prisma client of PostgreSQL, or one of its transactions. */
export function prismaPostgres(client: object): Executor {
  const { all, run } = prismaStatements(client, ({ text, values }) => [numbered(text).sql, ...values.map(parameter)])
  return { isRemote: true, all, run, insert: insertionBy(all) }
}
