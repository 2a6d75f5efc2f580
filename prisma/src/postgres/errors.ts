// What PostgreSQL, its driver and its network say when something fails: as the driver throws it, or inside the error of
// a Prisma query.

const NO_CONNECTION = new Set(
  'EAI_AGAIN ECONNREFUSED ECONNRESET EHOSTUNREACH ENETUNREACH ENOTFOUND EPIPE ETIMEDOUT'.split(' '),
)
const NO_CONNECTION_KINDS = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TlsConnectionError'])
// These have no code. The last is of a connection that broke while a transaction had it.
const NO_CONNECTION_MESSAGE = /^Connection terminated|is not queryable$/
const NO_TURN_MESSAGE = 'timeout exceeded when trying to connect'

/** The SQLSTATE that PostgreSQL gave, of five characters. */
export function sqlState(error: unknown): string | undefined {
  const code = cause(error)?.originalCode ?? property(error, 'code')
  return typeof code === 'string' && /^[\dA-Z]{5}$/.test(code) ? code : undefined
}

/** Whether a transaction lost against another one, which has undone it: it can be run again. */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(sqlState(error) ?? '')
}

/**
 * Whether PostgreSQL had no time or no room: a statement was cut off, a lock or a connection did not become free, a
 * resource ran out, or a transaction kept losing.
 */
export function isOverloaded(error: unknown): boolean {
  if (property(error, 'message') === NO_TURN_MESSAGE) return true
  return isConflict(error) || /^(?:57014|55P03|25P03|25P04|53...)$/.test(sqlState(error) ?? '')
}

/** Whether there was no connection to be had, it broke, it is being shut down, or what it leads to takes no writes. */
export function isUnreachable(error: unknown): boolean {
  if (/^(?:08...|28...|57P0.|25006)$/.test(sqlState(error) ?? '')) return true
  if (NO_CONNECTION_KINDS.has(String(cause(error)?.kind))) return true
  return (
    NO_CONNECTION.has(String(property(error, 'code'))) || NO_CONNECTION_MESSAGE.test(String(property(error, 'message')))
  )
}

/**
 * The columns of the unique constraint that was violated: undefined when none was, empty when its name does not say.
 * The name is Prisma's: `users_email_key_key` is of the column `email_key`. PostgreSQL's own words depend on its language.
 */
export function violatedColumns(error: unknown): string[] | undefined {
  if (sqlState(error) !== '23505') return undefined
  const constraint =
    (cause(error)?.constraint as { index?: string } | undefined)?.index ?? property(error, 'constraint')
  const table = cause(error)?.table ?? property(error, 'table')
  const name = String(constraint)
  const isNamed = name.startsWith(`${table}_`) && name.endsWith('_key')
  return isNamed ? [name.slice(String(table).length + 1, -'_key'.length)] : []
}

function cause(error: unknown): Record<string, unknown> | undefined {
  const inner = property(property(property(error, 'meta'), 'driverAdapterError'), 'cause')
  return typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : undefined
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}
