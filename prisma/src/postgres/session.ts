import { callbackify } from 'node:util'
import pg from 'pg'
import { sqlState } from './errors.ts'
import { ROLE } from './server-role.ts'
import type { Servers } from './servers.ts'
import { BEGIN } from './transaction.ts'
import type { PostgresUrl } from './url.ts'

/** Values of PostgreSQL's settings, by name. */
export type Settings = Readonly<Record<string, string>>

/**
 * The settings that change how values are read and written, which objects a name means, which rows a statement finds, or whether
 * it fails. Those of the server, the database and the role have no effect.
 */
const FIXED = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  client_encoding: 'UTF8',
  extra_float_digits: '1',
  bytea_output: 'hex',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  default_transaction_isolation: 'read committed',
  session_replication_role: 'origin',
  row_security: 'on',
  gin_fuzzy_search_limit: '0',
  plan_cache_mode: 'auto',
  exit_on_error: 'off',
  statement_timeout: '0',
  lock_timeout: '0',
  // Otherwise a process that hangs inside a transaction holds its locks.
  idle_in_transaction_session_timeout: '60s',
  transaction_timeout: '0',
  idle_session_timeout: '0',
}

/** A timeout of the role must not end the statement that replaces it. The value differs from every value that replaces it. */
export const UNHURRIED = 'SET LOCAL statement_timeout = 3599999'
// Behind a pooler the timeouts of the role apply before the settings of a transaction, and after its failure until it ends.
const TOO_SHORT = `SELECT name FROM pg_settings WHERE name IN ('statement_timeout',
  'idle_in_transaction_session_timeout') AND CASE unit WHEN 'ms' THEN reset_val::int BETWEEN 1 AND 999 END LIMIT 1`

// Those that earlier versions of PostgreSQL lack, and the one that only superusers may set.
const GUARDED = new Set(['session_replication_role', 'transaction_timeout', 'idle_session_timeout'])

const DEFAULT_LIMIT_MS = 5_000
const TRANSACTION = /^(?:BEGIN|COMMIT|ROLLBACK)/i

// A confirmed write must be on disk. Stricter values than `on` are left.
const SYNCHRONOUS_COMMIT = `coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on')`

export interface SessionConfig extends pg.ClientConfig {
  /** If the server is chosen for each connection, instead of that of the connection string. */
  servers?: Servers | undefined
}

/** A query as the driver runs it: a `pg.Query`, or one of this package. */
interface Query extends pg.Submittable {
  name: string
  text: string
  callback: ((error: unknown, result?: unknown) => void) | undefined
  queryMode?: string
  handleDataRow?: unknown
  handleCommandComplete?: unknown
}

/**
 * A connection whose statements run with given settings, directly or through a pooler such as PgBouncer.
 *
 * A pooler may run each transaction on another server connection, which other programs use as well. Settings and prepared
 * statements of the session are then not those of this connection. So each transaction starts with its settings, and no
 * statement is prepared by name.
 */
export class SessionClient extends pg.Client {
  /** Behind a pooler: sets the settings for one transaction. */
  #perTransaction: string | undefined
  /** Behind a pooler: whether the isolation level of a single statement is too strict. */
  #isStrict = false
  readonly #servers: Servers | undefined
  readonly #limitMs: number

  constructor(config: SessionConfig = {}) {
    super(config)
    this.#servers = config.servers
    this.#limitMs = (config.connectionTimeoutMillis ?? DEFAULT_LIMIT_MS) / 2
    // A connection may break between queries or while it closes; the next query fails then. Without a listener the event would
    // terminate the process.
    this.on('error', () => {})
  }

  // biome-ignore lint/suspicious/noExplicitAny: as the driver's two overloads
  override connect(callback?: any): any {
    const servers = this.#servers
    if (servers === undefined) return callback === undefined ? super.connect() : super.connect(callback)
    const connect = () => servers.connect(this, () => super.connect(), this.#limitMs)
    return callback === undefined ? connect() : callbackify(connect)(callback)
  }

  /**
   * Sets the settings of the service. A pooler is detected by its own process ids, unless the URL declares it.
   *
   * @param others in addition; those of the URL take precedence
   */
  async useSettings({ schema, pgbouncer, settings: given }: PostgresUrl, others: Settings = {}): Promise<void> {
    // Last, so that a temporary table of another program behind the same pooler hides no table of the service.
    const search_path = `${pg.escapeIdentifier(schema)}, pg_temp`
    const settings = { ...FIXED, search_path, ...others, ...given }
    const { processID } = this as this & { processID: number | null }
    const isDirect = `pg_backend_pid() = ${pgbouncer ? 0 : processID}`
    try {
      const results = await this.query(`${UNHURRIED}; SELECT ${isDirect} AS direct,
        CASE WHEN ${isDirect} THEN ${setting(settings, false)} END,
        current_setting('default_transaction_isolation') <> 'read committed' AS strict,
        CASE WHEN NOT ${isDirect} THEN (${TOO_SHORT}) END AS short${this.#servers === undefined ? '' : `, ${ROLE}`}`)
      const [{ direct, strict, short, ...role }] = results.at(-1).rows
      this.#servers?.verify(this, role)
      if (direct) return
      if (short !== null) {
        throw new Error(`${short} is too short behind a pooler. Run: ${this.#alterRole(`${short} = '5s'`)}`)
      }
      this.#perTransaction = `SELECT ${setting(settings, true)}`
      this.#isStrict = strict
      await this.query('SELECT 1')
    } catch (error) {
      if (sqlState(error as object) !== '42501') throw error
      const remedy = this.#alterRole('session_replication_role = origin')
      throw new Error(
        `session_replication_role is not origin, so foreign keys are not checked. As a superuser run: ${remedy}`,
        { cause: error },
      )
    }
  }

  /**
   * Runs a statement that PostgreSQL refuses inside a transaction, for as long as it takes. Behind a pooler the settings of the
   * role apply to it.
   */
  async runAlone(sql: string): Promise<void> {
    if (this.#perTransaction === undefined) await this.query('SET statement_timeout = 0')
    await super.query(sql)
  }

  #alterRole(value: string): string {
    const [role, database] = [this.user, this.database].map((name) => pg.escapeIdentifier(name ?? ''))
    return `ALTER ROLE ${role} IN DATABASE ${database} SET ${value}`
  }

  // biome-ignore lint/suspicious/noExplicitAny: the driver's method has eight overloads; all are passed through
  override query(...args: any[]): any {
    const query = queryOf(args)
    const { callback } = query
    if (callback === undefined) {
      return new Promise((resolve, reject) => {
        query.callback = (error, result) => (error ? reject(error) : resolve(result))
        this.query(query)
      }).catch((error) => {
        // Replaces the stack trace that begins at the socket.
        Error.captureStackTrace(error)
        throw error
      })
    }
    query.callback = (error, result) => {
      const fault = error ?? rollbackFault(query.text, result)
      if (error instanceof Error) this.#servers?.failed(this, error)
      callback(fault, fault ? undefined : result)
    }
    const settings = this.#perTransaction
    if (settings === undefined) return super.query(query)
    query.name = ''
    if (this.#isStrict && !TRANSACTION.test(query.text) && this.getTransactionStatus() === 'I') {
      return this.#queryBetween(`${BEGIN}; ${settings}`, query)
    }
    this.#startWith(settings, query)
    return super.query(query)
  }

  /** Runs the query in a transaction of its own. */
  #queryBetween(begin: string, query: Query): void {
    const callback = query.callback as NonNullable<Query['callback']>
    query.callback = (error, result) => {
      super.query(error ? 'ROLLBACK' : 'COMMIT', (fault: unknown) => callback(error ?? fault, result))
    }
    super.query(begin, (error: unknown) => void (error ? callback(error) : super.query(query)))
  }

  /** Runs `settings` and the query in one transaction, unless it belongs to an open one. */
  #startWith(settings: string, query: Query): void {
    const submit = query.submit.bind(query)
    query.submit = (connection) => {
      if (this.getTransactionStatus() !== 'I') return submit(connection)
      if (TRANSACTION.test(query.text)) {
        query.text = query.text.replace(/^BEGIN[^;]*/i, () => `${BEGIN}; ${settings}`)
        return submit(connection)
      }
      query.queryMode = 'extended'
      // Hides the result of the settings.
      query.handleDataRow = () => {}
      query.handleCommandComplete = () => {
        delete query.handleDataRow
        delete query.handleCommandComplete
      }
      connection.stream.cork()
      connection.parse({ name: '', text: settings, types: [] }, true)
      connection.bind({}, true)
      connection.execute(null, true)
      const fault = submit(connection)
      connection.stream.uncork()
      return fault
    }
  }
}

function queryOf(args: unknown[]): Query {
  const [first] = args as [Partial<Query>]
  if (typeof first?.submit !== 'function') return Reflect.construct(pg.Query, args)
  first.callback ??= args.find((arg): arg is Query['callback'] => typeof arg === 'function')
  return first as Query
}

/** An SQL expression that sets the settings. Behind a pooler it is parsed for each transaction, so it is simple. */
function setting(settings: Settings, isLocal: boolean): string {
  const calls = Object.entries(settings).map(([name, value]) => {
    const [key, text] = [pg.escapeLiteral(name), pg.escapeLiteral(value)]
    const call = `set_config(${key}, ${text}, ${isLocal})`
    return GUARDED.has(name) ? `CASE WHEN current_setting(${key}, true) <> ${text} THEN ${call} END` : call
  })
  return `concat(${calls.join(', ')}, set_config('synchronous_commit', ${SYNCHRONOUS_COMMIT}, ${isLocal}))`
}

/**
 * The error of a COMMIT that rolled back because a statement of the transaction had failed: PostgreSQL reports this only in the
 * command tag of the result.
 */
function rollbackFault(text: string, result: unknown): Error | undefined {
  const isRollback = (one: unknown) => (one as { command?: string } | undefined)?.command === 'ROLLBACK'
  const hasRolledBack = Array.isArray(result) ? result.some(isRollback) : isRollback(result)
  if (!hasRolledBack || /\b(?:ROLLBACK|ABORT)\b/i.test(text)) return undefined
  return new Error('The transaction was rolled back because a statement in it failed.')
}
