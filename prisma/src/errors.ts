import type { Error as DriverError } from '@prisma/driver-adapter-utils'

/**
 * The columns of the unique constraint that an error of a Prisma query, raw or not, is about.
 *
 * @returns Column names, empty when the engine does not tell them; undefined for every other error.
 */
export function uniqueViolation(error: unknown): string[] | undefined {
  const cause = driverError(error)
  if (cause?.kind !== 'UniqueConstraintViolation') return undefined
  return cause.constraint && 'fields' in cause.constraint ? cause.constraint.fields : []
}

/** Whether an error says that the database had no time: a lock was held, or a transaction came too late or took too long. */
export function isBusy(error: unknown): boolean {
  if (driverError(error)?.kind === 'SocketTimeout') return true
  // P2028 is also what a query after the end of its transaction gets, which waiting does not mend.
  return (
    isObject(error) &&
    error.code === 'P2028' &&
    /Unable to start a transaction in the given time|on an expired transaction/.test(String(error.message))
  )
}

function driverError(error: unknown): DriverError | undefined {
  if (!isObject(error) || !isObject(error.meta) || !isObject(error.meta.driverAdapterError)) return undefined
  return error.meta.driverAdapterError.cause as DriverError
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
