import type { PrismaClient } from '../generated/client.ts'
import { fromPrisma } from './prisma-error.ts'
import type { Statement } from './sql-text.ts'

type Rows = Record<string, unknown>[]

/**
 * Runs statements through a Prisma client, or one of its transactions.
 *
 * @param bind returns the SQL of a statement and its values in the form of the engine
 */
export function prismaStatements(client: object, bind: (statement: Statement) => [sql: string, ...values: unknown[]]) {
  const prisma = client as PrismaClient
  return {
    all: async (statement: Statement): Promise<Rows> =>
      (await prisma.$queryRawUnsafe<Rows>(...bind(statement)).catch(rethrow)).map(withNumbers),
    run: async (statement: Statement): Promise<number> => prisma.$executeRawUnsafe(...bind(statement)).catch(rethrow),
  }
}

// Prisma returns 64-bit integers as BigInt.
function withNumbers(row: Rows[number]): Rows[number] {
  for (const column in row) if (typeof row[column] === 'bigint') row[column] = Number(row[column])
  return row
}

function rethrow(error: unknown): never {
  throw fromPrisma(error)
}
