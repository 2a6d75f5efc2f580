// The password must not contain the characters that end it. Otherwise a part of it could be parsed and shown as the host.
const URL_FORM = /^postgres(?:ql)?:\/\/(?:[^/?#@]*@)?([^/?#@]*)\/([^/?#@]+)(?:\?([^#]*))?$/
const TIMEOUTS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']

export interface PostgresUrl {
  /** The URL for the driver. */
  connectionString: string
  /** `postgresql://host:5432/database`: the location, without secrets. */
  label: string
  /** Settings of the session that the URL names. */
  settings: Record<string, string>
  /** Whether connections are known to go through a pooler; otherwise it is detected. */
  pgbouncer: boolean
}

/** Whether a URL is that of a PostgreSQL database. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(?:ql)?:/.test(url)
}

/**
 * Reads a `postgresql://user:password@host:port/database?…` URL.
 *
 * @throws Error, without any part of the URL, when it has another form, or names a remote host without a TLS setting
 */
export function readPostgresUrl(url: string): PostgresUrl {
  const [, host, database, query] = URL_FORM.exec(url) ?? []
  if (database === undefined || !URL.canParse(url.replace(/\/\/[^@/]*@?\//, '//localhost/'))) {
    throw new Error(
      'The database URL must be postgresql://user:password@host:port/database, special characters percent-encoded.',
    )
  }
  const parameters = new URLSearchParams(query)
  if (!isLocal(host, parameters) && !isEncryptionStated(parameters)) {
    throw new Error(
      'The database URL names a remote host without TLS: passwords and records would cross the network unencrypted. Add sslmode=verify-full to the URL, or sslmode=disable to connect without TLS.',
    )
  }
  // PgBouncer refuses a connection that sends them at its start.
  const given = TIMEOUTS.filter((name) => parameters.has(name))
  const settings = Object.fromEntries(given.map((name) => [name, parameters.get(name) ?? '']))
  const pgbouncer = parameters.get('pgbouncer') === 'true'
  const address = host || parameters.get('host') || 'localhost'
  for (const name of given) parameters.delete(name)
  const connectionString = given.length === 0 ? url : `${url.slice(0, url.indexOf('?'))}?${parameters}`
  return { connectionString, settings, label: `postgresql://${address}/${database}`, pgbouncer }
}

// As in the driver: the `host` parameter takes precedence, and a path is a Unix socket.
function isLocal(host: string | undefined, parameters: URLSearchParams): boolean {
  const name = parameters.get('host') ?? (host ?? '').replace(/%2f/gi, '/')
  return /^(?:$|\/|:\d+$)|^(?:localhost|[\w.-]+\.localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)(?::\d+)?$/i.test(name)
}

// With any `sslmode` other than `disable` the driver requires TLS.
function isEncryptionStated(parameters: URLSearchParams): boolean {
  return (
    parameters.has('sslmode') ||
    parameters.get('sslnegotiation') === 'direct' ||
    /^(?:true|1)$/.test(parameters.get('ssl') ?? '')
  )
}
