import type { Error as DriverError } from '@prisma/driver-adapter-utils'
import { Busy, ForeignKeyFault, Full, UniqueViolation } from './errors.ts'
import { fromPostgres } from './postgres-errors.ts'

// The adapter hands on SQLite's words, not its code.
const FULL = 'database or disk is full'

/** What an error of a Prisma query is to a caller: the same whichever way the database was reached. */
export function fromPrisma(error: unknown): unknown {
  const cause = driverError(error)
  const known = fromPostgres(cause ?? error)
  if (known !== undefined) return known
  if (cause?.kind === 'UniqueConstraintViolation') {
    const columns = cause.constraint && 'fields' in cause.constraint ? cause.constraint.fields : []
    return new UniqueViolation(columns, { cause: error })
  }
  // Of SQLite, which does not name it.
  if (cause?.kind === 'ForeignKeyConstraintViolation') return new ForeignKeyFault({ cause: error })
  if (cause?.kind === 'SocketTimeout') return new Busy('Another process holds the database.', { cause: error })
  if (cause?.kind === 'sqlite' && cause.message === FULL) return new Full('The disk is full.', { cause: error })
  // P2028 is also what a query after the end of its transaction gets, which waiting does not mend.
  const isLate =
    isObject(error) &&
    error.code === 'P2028' &&
    /Unable to start a transaction in the given time|on an expired transaction/.test(String(error.message))
  return isLate ? new Busy('The write came too late or took too long.', { cause: error }) : error
}

function driverError(error: unknown): DriverError | undefined {
  if (!isObject(error) || !isObject(error.meta) || !isObject(error.meta.driverAdapterError)) return undefined
  return error.meta.driverAdapterError.cause as DriverError
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
