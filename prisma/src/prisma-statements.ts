import type { PrismaClient } from '../generated/client.ts'
import { fromPrisma } from './prisma-error.ts'
import type { Statement } from './sql-text.ts'

type Rows = Record<string, unknown>[]

/**
 * Runs statements through a Prisma client, or one of its transactions.
 *
 * @param bound gives the SQL of a statement and its values, as the engine takes them
 */
export function prismaStatements(client: object, bound: (statement: Statement) => [sql: string, ...values: unknown[]]) {
  const prisma = client as PrismaClient
  return {
    all: async (statement: Statement): Promise<Rows> =>
      (await prisma.$queryRawUnsafe<Rows>(...bound(statement)).catch(refuse)).map(withNumbers),
    run: async (statement: Statement): Promise<number> => prisma.$executeRawUnsafe(...bound(statement)).catch(refuse),
  }
}

// Prisma returns integers of 64 bits as BigInt.
function withNumbers(row: Rows[number]): Rows[number] {
  for (const column in row) if (typeof row[column] === 'bigint') row[column] = Number(row[column])
  return row
}

function refuse(error: unknown): never {
  throw fromPrisma(error)
}
