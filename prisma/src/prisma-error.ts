import type { Error as DriverError } from '@prisma/driver-adapter-utils'
import { Busy, Damaged, DiskFull, ForeignKeyFault, UniqueViolation } from './errors.ts'
import { fromPostgres } from './postgres-errors.ts'

// The adapter passes on SQLite's message, not its code.
const FULL = 'database or disk is full'
const MALFORMED = 'database disk image is malformed'

/** Converts an error of a Prisma query to the error that the prepared driver throws. */
export function fromPrisma(error: unknown): unknown {
  const cause = driverError(error)
  const known = fromPostgres(cause ?? error)
  if (known !== undefined) return known
  if (cause?.kind === 'UniqueConstraintViolation') {
    const columns = cause.constraint && 'fields' in cause.constraint ? cause.constraint.fields : []
    return new UniqueViolation(columns, { cause: error })
  }
  // SQLite does not name the constraint.
  if (cause?.kind === 'ForeignKeyConstraintViolation') return new ForeignKeyFault({ cause: error })
  if (cause?.kind === 'SocketTimeout')
    return new Busy('Another process holds the lock of the database.', { cause: error })
  if (cause?.kind === 'sqlite' && cause.message === FULL) return new DiskFull('The disk is full.', { cause: error })
  if (cause?.kind === 'sqlite' && cause.message === MALFORMED) return new Damaged({ cause: error })
  // P2028 is also the code of a query after the end of its transaction, where a retry does not help.
  const isLate =
    isObject(error) &&
    error.code === 'P2028' &&
    /Unable to start a transaction in the given time|on an expired transaction/.test(String(error.message))
  return isLate ? new Busy('The write timed out.', { cause: error }) : error
}

function driverError(error: unknown): DriverError | undefined {
  if (!isObject(error) || !isObject(error.meta) || !isObject(error.meta.driverAdapterError)) return undefined
  return error.meta.driverAdapterError.cause as DriverError
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
