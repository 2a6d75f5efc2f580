// The password must not contain the characters that end it. Otherwise a part of it could be parsed and shown as the host.
const URL_FORM = /^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)([^/?#@]*)(\/([^/?#@]+)(?:\?([^#]*))?)$/
const TIMEOUTS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
const IN_OPTIONS = new RegExp(`search_path|${TIMEOUTS.join('|')}`)
const OF_SERVICE = [...TIMEOUTS, 'pgbouncer', 'schema', 'target_session_attrs']
/** The parameters that the driver reads. */
const OF_DRIVER =
  'application_name fallback_application_name host options password port query_timeout ssl sslcert sslkey sslmode sslnegotiation sslrootcert uselibpqcompat user'
const ALLOWED = [...OF_SERVICE, ...OF_DRIVER.split(' ')].sort()
/** The values of `target_session_attrs`, as in libpq. */
const TARGETS = ['any', 'prefer-standby', 'primary', 'read-only', 'read-write', 'standby'] as const
export type Target = (typeof TARGETS)[number]

export interface PostgresUrl {
  /** The URL for the driver; of several hosts, with the first one. */
  connectionString: string
  /** One for each host. */
  connectionStrings: string[]
  /** The role of the server, if the URL names several hosts or a role. */
  target: Target | undefined
  /** `postgresql://host:5432/database`: the location, without secrets. */
  label: string
  /** The schema with the tables. */
  schema: string
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
  const [, start = '', authority = '', rest = '', database, query] = URL_FORM.exec(url) ?? []
  const hosts = authority.split(',')
  const isParsable = (host: string) => URL.canParse(`${start}${host || 'localhost'}${rest}`)
  if (database === undefined || !hosts.every(isParsable)) {
    throw new Error(
      'The database URL must be postgresql://user:password@host:port/database, special characters percent-encoded.',
    )
  }
  const parameters = new URLSearchParams(query)
  if (!hosts.every((host) => isLocal(host, parameters)) && !isEncryptionStated(parameters)) {
    throw new Error(
      'The database URL names a remote host without TLS: passwords and records would cross the network unencrypted. Add sslmode=verify-full to the URL, or sslmode=disable to connect without TLS.',
    )
  }
  assertKnown(parameters, hosts.length)
  const target = targetOf(parameters.get('target_session_attrs')) ?? (hosts.length > 1 ? 'read-write' : undefined)
  const schema = parameters.get('schema') ?? 'public'
  // PgBouncer refuses a connection that sends them at its start.
  const given = TIMEOUTS.filter((name) => parameters.has(name))
  const settings = Object.fromEntries(given.map((name) => [name, parameters.get(name) ?? '']))
  const pgbouncer = parameters.get('pgbouncer') === 'true'
  const address = authority || parameters.get('host') || 'localhost'
  const own = OF_SERVICE.filter((name) => parameters.has(name))
  for (const name of own) parameters.delete(name)
  const end = own.length === 0 ? rest : `/${database}?${parameters}`
  const connectionStrings = hosts.map((host) => `${start}${host}${end}`)
  const [connectionString = url] = connectionStrings
  const label = `postgresql://${address}/${database}`
  return { connectionString, connectionStrings, target, schema, settings, label, pgbouncer }
}

function targetOf(value: string | null): Target | undefined {
  if (value === null) return undefined
  const target = TARGETS.find((name) => name === value)
  if (target !== undefined) return target
  throw new Error(`The database URL has an unknown target_session_attrs. Allowed: ${TARGETS.join(', ')}.`)
}

// The driver ignores parameters that it does not know, such as those of other programs.
function assertKnown(parameters: URLSearchParams, hosts: number): void {
  const names = [...parameters.keys()]
  // Anything else than a name may be a part of a password.
  const unknown = names.find((name) => !ALLOWED.includes(name))
  if (unknown !== undefined) {
    const shown = /^[a-z_]+$/i.test(unknown) ? ` ${unknown}` : ''
    throw new Error(`The database URL has an unknown parameter${shown}. Allowed: ${ALLOWED.join(', ')}.`)
  }
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw new Error(`The database URL has the parameter ${repeated} twice.`)
  const [set] = IN_OPTIONS.exec(parameters.get('options') ?? '') ?? []
  if (set !== undefined) {
    const name = set === 'search_path' ? 'schema' : set
    throw new Error(`The database URL sets ${set} in options, where it has no effect. Use the parameter ${name}.`)
  }
  const inParameter = ['host', 'port'].find((name) =>
    hosts > 1 ? parameters.has(name) : parameters.get(name)?.includes(','),
  )
  if (inParameter !== undefined)
    throw new Error(
      `The database URL has the parameter ${inParameter} for several hosts. Write postgresql://host:port,host:port/database.`,
    )
  if (parameters.get('schema') === '') throw new Error('The database URL has an empty schema.')
}

// As in the driver: the `host` parameter takes precedence, and a path is a Unix socket.
function isLocal(host: string, parameters: URLSearchParams): boolean {
  const name = parameters.get('host') ?? host.replace(/%2f/gi, '/')
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
