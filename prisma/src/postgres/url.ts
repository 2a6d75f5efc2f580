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
 * @throws Error, without any part of the URL, when it has another form
 */
export function readPostgresUrl(url: string): PostgresUrl {
  const [, host, database, query] = URL_FORM.exec(url) ?? []
  if (database === undefined || !URL.canParse(url.replace(/\/\/[^@/]*@?\//, '//localhost/'))) {
    throw new Error(
      'The database URL must be postgresql://user:password@host:port/database, special characters percent-encoded.',
    )
  }
  const parameters = new URLSearchParams(query)
  const pgbouncer = parameters.get('pgbouncer') === 'true'
  const address = host || parameters.get('host') || 'localhost'
  return { connectionString: url, label: `postgresql://${address}/${database}`, pgbouncer }
}
