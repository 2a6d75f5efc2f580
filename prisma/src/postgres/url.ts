// The password may hold neither of the characters that end it, lest a part of it be taken for the host and shown.
const URL_FORM = /^postgres(?:ql)?:\/\/(?:[^/?#@]*@)?([^/?#@]*)\/([^/?#@]+)(?:\?([^#]*))?$/

export interface PostgresUrl {
  /** As the driver takes it. */
  connectionString: string
  /** `postgresql://host:5432/database`: where it is, and no secret. */
  label: string
  /** Whether PgBouncer stands before the database, where consecutive transactions run on different connections. */
  pgbouncer: boolean
}

/** Whether a URL means a PostgreSQL database. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(?:ql)?:/.test(url)
}

/**
 * Reads a `postgresql://user:password@host:port/database?…` URL.
 *
 * @throws Error, without any part of the URL, when it has another form, or names a remote database without saying whether
 * the connection is encrypted
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
      'The database URL names another machine without TLS: passwords and records would cross the network in clear. Add sslmode=verify-full to it, or sslmode=disable to connect without TLS all the same.',
    )
  }
  const pgbouncer = parameters.get('pgbouncer') === 'true'
  const address = host || parameters.get('host') || 'localhost'
  return { connectionString: url, label: `postgresql://${address}/${database}`, pgbouncer }
}

// As the driver finds the host: the parameter goes first, and a path is that of a socket.
function isLocal(host: string | undefined, parameters: URLSearchParams): boolean {
  const name = parameters.get('host') ?? (host ?? '').replace(/%2f/gi, '/')
  return /^(?:$|\/|:\d+$)|^(?:localhost|[\w.-]+\.localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)(?::\d+)?$/i.test(name)
}

// With any `sslmode` but `disable` the driver insists on TLS.
function isEncryptionStated(parameters: URLSearchParams): boolean {
  return (
    parameters.has('sslmode') ||
    parameters.get('sslnegotiation') === 'direct' ||
    /^(?:true|1)$/.test(parameters.get('ssl') ?? '')
  )
}
