import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import type { Prisma, PrismaClient } from '../../generated/client.ts'
import { PrismaClient as PostgresClient } from '../../generated/postgresql/client.ts'
import { fromPrisma } from '../prisma-error.ts'
import { prismaTables } from '../prisma-table.ts'
import type { Access } from './access.ts'

// The types are SQLite's, which has one level.
const READ_COMMITTED = 'ReadCommitted' as Prisma.TransactionIsolationLevel

/** The tables through Prisma alone. */
export function openPrismaAccess(pool: pg.Pool, writeMs: number): Access {
  // What is asked of the two engines' clients they have in common.
  const client = new PostgresClient({ adapter: new PrismaPg(pool) }) as unknown as PrismaClient
  return {
    read: prismaTables(client),
    transaction: (work, lock) =>
      client
        .$transaction(
          async (tx) => {
            if (lock !== undefined) await tx.$executeRaw`SELECT pg_advisory_xact_lock(${lock})`
            return work(prismaTables(tx))
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
