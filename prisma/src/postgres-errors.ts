import { Busy, Conflict, ForeignKeyFault, Full, UniqueViolation, Unreachable } from './errors.ts'
import { messageOf } from './migration-history.ts'

const NO_CONNECTION = new Set(
  'EAI_AGAIN ECONNREFUSED ECONNRESET EHOSTUNREACH ENETUNREACH ENOTFOUND EPIPE ETIMEDOUT'.split(' '),
)
// The driver gives these no code. The last is of a connection that broke while a transaction had it, the one before of
// one that could not be made in time.
const BROKEN_CONNECTION = /^Connection terminated|^timeout expired$|is not queryable$/
/** What the pool says when no connection became free in time. */
export const NO_FREE_CONNECTION = 'timeout exceeded when trying to connect'
const BROKEN_KINDS = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'TlsConnectionError'])

/** What the driver throws, or what Prisma's adapter makes of it. */
interface Fault {
  code?: unknown
  message?: unknown
  constraint?: unknown
  detail?: unknown
  table?: unknown
  originalCode?: unknown
  kind?: unknown
}

/**
 * What an error of PostgreSQL, its driver or its network is to a caller; undefined when it says nothing that a caller
 * could act on.
 */
export function fromPostgres(error: unknown): UniqueViolation | ForeignKeyFault | Busy | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { message } = error as Fault
  const state = sqlState(error)
  if (state === '23505') return new UniqueViolation(violatedColumns(error), { cause: error })
  // The second is of ON DELETE RESTRICT since PostgreSQL 18.
  if (state === '23503' || state === '23001') {
    const { detail = '' } = error as Fault
    return new ForeignKeyFault({ constraint: constraintOf(error), detail: String(detail), cause: error })
  }
  if (/^(?:40001|40P01)$/.test(state)) return new Conflict('The write lost against another one.', { cause: error })
  if (state === '53100') return new Full('The disk of PostgreSQL is full.', { cause: error })
  // Cut off; a lock was held; a transaction took too long; out of connections or memory.
  if (/^(?:57014|55P03|25P03|25P04|53...)$/.test(state) || message === NO_FREE_CONNECTION) {
    return new Busy('PostgreSQL had no time or no room.', { cause: error })
  }
  return isUnreachable(error) ? new Unreachable('PostgreSQL cannot be reached.', { cause: error }) : undefined
}

/** Whether there was no connection to be had, it broke, it is being shut down, or what it leads to takes no writes. */
export function isUnreachable(error: object): boolean {
  const { code, kind, message } = error as Fault
  if (/^(?:08...|28...|57P0.|25006)$/.test(sqlState(error))) return true
  return NO_CONNECTION.has(String(code)) || BROKEN_KINDS.has(String(kind)) || BROKEN_CONNECTION.test(String(message))
}

/** The SQLSTATE that PostgreSQL gave, of five characters, or another text. */
export function sqlState(error: object): string {
  const { originalCode, code } = error as Fault
  return String(originalCode ?? code)
}

/** Why something failed, in words. Where a host's name has several addresses, the reasons are inside. */
export function reasonOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(messageOf).join(', ') : messageOf(error)
}

// A constraint's name is Prisma's, `users_email_key_key` of the column `email_key`: what PostgreSQL says in words
// depends on its language.
function violatedColumns(error: object): string[] {
  const { table } = error as Fault
  const name = constraintOf(error)
  const isNamed = name.startsWith(`${table}_`) && name.endsWith('_key')
  return isNamed ? [name.slice(String(table).length + 1, -'_key'.length)] : []
}

/** The name of the constraint that refused a statement: the driver gives it, and Prisma's adapter inside an object. */
function constraintOf(error: object): string {
  const { constraint } = error as Fault
  return typeof constraint === 'object' ? String((constraint as { index?: string })?.index) : String(constraint)
}
