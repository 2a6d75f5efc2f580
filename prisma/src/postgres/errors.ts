import {
  Busy,
  Conflict,
  Damaged,
  DISK_FAILED,
  DiskFull,
  DurabilityLost,
  ForeignKeyFault,
  InDoubt,
  ReadOnly,
  UniqueViolation,
  Unreachable,
  Unusable,
} from '../errors.ts'
import { messageOf } from '../migration-history.ts'

const NO_CONNECTION = new Set(
  'EAI_AGAIN ECONNREFUSED ECONNRESET EHOSTUNREACH ENETUNREACH ENOTFOUND EPIPE ETIMEDOUT'.split(' '),
)
// The driver sets no code on these errors. "timeout expired": the connection could not be made in time. "is not queryable":
// it broke during a transaction.
const LOST_CONNECTION = /^Connection terminated/
const BROKEN_CONNECTION = /^Connection terminated|^timeout expired$|is not queryable$/
export const NO_PRIVILEGE = 'its role lacks a privilege'
/** Faults of the database itself, which neither a statement nor a caller can cause. */
const UNUSABLE: [states: RegExp, reason: string][] = [
  [/^42501$/, NO_PRIVILEGE],
  [/^2200H$/, 'a table has no ids left'],
]

/** An error of the driver. */
interface Fault {
  code?: unknown
  message?: unknown
  constraint?: unknown
  detail?: unknown
  table?: unknown
}

/** Converts an error of PostgreSQL, its driver or its network, if a caller can act on it. */
export function fromPostgres(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Busy) return error
  const { detail = '' } = error as Fault
  const state = sqlState(error)
  if (state === '23505') return new UniqueViolation(violatedColumns(error), { cause: error })
  // 23001: ON DELETE RESTRICT, since PostgreSQL 18.
  if (state === '23503' || state === '23001')
    return new ForeignKeyFault({ constraint: constraintOf(error), detail: String(detail), cause: error })
  if (/^(?:40001|40P01)$/.test(state)) return new Conflict('The write conflicted with another one.', { cause: error })
  if (state === '53100') return new DiskFull('The disk of PostgreSQL is full.', { cause: error })
  if (state === '25006') return new ReadOnly('it is a standby or read-only', { cause: error })
  if (/^(?:XX001|XX002|58P01)$/.test(state)) return new Damaged({ cause: error })
  if (state === '58030') return new DurabilityLost(DISK_FAILED, { cause: error })
  const [, unusable] = UNUSABLE.find(([states]) => states.test(state)) ?? []
  if (unusable !== undefined) return new Unusable(unusable, { cause: error })
  // Statement canceled; lock not available; transaction timeout; out of connections or memory.
  if (/^(?:57014|55P03|25P03|25P04|53...)$/.test(state)) {
    return new Busy('PostgreSQL is busy or out of resources.', { cause: error })
  }
  // 3D000 and 55000: the database does not exist any more, or accepts no connections.
  const isAway = isUnreachable(error) || state === '3D000' || state === '55000'
  return isAway ? new Unreachable('PostgreSQL is unreachable.', { cause: error }) : error
}

/** Converts an error of a write, or a commit, that was sent. If the connection broke, its outcome is unknown. */
export function fromSentWrite(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code, message } = error as Fault
  // 57P02: another process of the server has crashed.
  const isUnanswered =
    /^(?:08...|57P02)$/.test(sqlState(error)) ||
    NO_CONNECTION.has(String(code)) ||
    LOST_CONNECTION.test(String(message))
  return isUnanswered ? new InDoubt('PostgreSQL did not confirm a write.', { cause: error }) : fromPostgres(error)
}

/** Whether no connection could be made, it broke, the server is shutting down, or it accepts no writes. */
export function isUnreachable(error: object): boolean {
  if (error instanceof Unreachable) return true
  const { code, message } = error as Fault
  if (/^(?:08...|28...|57P0.|25006)$/.test(sqlState(error))) return true
  return NO_CONNECTION.has(String(code)) || BROKEN_CONNECTION.test(String(message))
}

/** Whether a later attempt to connect may succeed. A failed authentication (class 28) is not repeated. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error) || refusedParameter(error) !== undefined) return false
  return isUnreachable(error) && !sqlState(error).startsWith('28')
}

/** The start-up parameter for which PgBouncer refuses a connection. The SQLSTATE is that of all its errors. */
export function refusedParameter(error: unknown): string | undefined {
  return /^unsupported startup parameter: (\w+)/.exec(messageOf(error))?.[1]
}

/** Whether a prepared statement is missing, exists already, or would return other columns than before. It has not run. */
export function isStatementLost(error: object): boolean {
  const state = sqlState(error)
  if (state === '26000' || state === '42P05') return true
  return state === '0A000' && (error as { routine?: unknown }).routine === 'RevalidateCachedQuery'
}

/** The SQLSTATE of PostgreSQL (five characters), or another text. */
export function sqlState(error: object): string {
  return String((error as Fault).code)
}

/** The message of an error. For a host name with several addresses, the AggregateError contains one error per address. */
export function reasonOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(messageOf).join(', ') : messageOf(error)
}

// Read from the constraint's name in Prisma's form, such as `users_email_key_key` for the column `email_key`: PostgreSQL's
// messages depend on the server's language.
function violatedColumns(error: object): string[] {
  const { table } = error as Fault
  const name = constraintOf(error)
  const isNamed = name.startsWith(`${table}_`) && name.endsWith('_key')
  return isNamed ? [name.slice(String(table).length + 1, -'_key'.length)] : []
}

/** The name of the violated constraint. */
function constraintOf(error: object): string {
  return String((error as Fault).constraint)
}
