import pg from 'pg'
import { BEGIN } from './transaction.ts'

/** Values of PostgreSQL's settings, by name. */
export type Settings = Readonly<Record<string, string>>

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

  constructor(config?: string | pg.ClientConfig) {
    super(config)
    // A connection may break between queries or while it closes; the next query fails then. Without a listener the event would
    // terminate the process.
    this.on('error', () => {})
  }

  /** @param isPooled whether a pooler is known; otherwise it is detected: it has process ids of its own */
  async useSettings(settings: Settings, isPooled: boolean): Promise<void> {
    const { processID } = this as unknown as { processID: number | null }
    const isDirect = `pg_backend_pid() = ${isPooled ? 0 : processID}`
    const { rows } = await this.query(`SELECT ${isDirect} AS direct, (${setting(settings, false)} AND ${isDirect})`)
    if (!rows[0].direct) this.#perTransaction = setting(settings, true)
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
      callback(fault, fault ? undefined : result)
    }
    if (this.#perTransaction !== undefined) this.#startWith(this.#perTransaction, query)
    return super.query(query)
  }

  /** Runs `settings` and the query in one transaction, unless it belongs to an open one. */
  #startWith(settings: string, query: Query): void {
    const submit = query.submit.bind(query)
    query.name = ''
    query.submit = (connection) => {
      if (this.getTransactionStatus() !== 'I' || /^\s*(?:COMMIT|ROLLBACK)/i.test(query.text)) return submit(connection)
      if (/^\s*BEGIN/i.test(query.text)) {
        query.text = query.text.replace(/^\s*BEGIN[^;]*/i, () => `${BEGIN}; ${settings}`)
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
  if (typeof first?.submit !== 'function')
    return new (pg.Query as unknown as new (...args: unknown[]) => Query)(...args)
  first.callback ??= args.find((arg): arg is Query['callback'] => typeof arg === 'function')
  return first as Query
}

/** SQL that sets those settings that the server has and that differ. */
function setting(settings: Settings, isLocal: boolean): string {
  const rows = Object.entries(settings).map(
    ([name, value]) => `(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)})`,
  )
  return `SELECT count(set_config(name, value, ${isLocal})) FROM (VALUES ${rows.join(', ')}) AS settings (name, value)
    WHERE current_setting(name, true) <> value`
}

/**
 * The error of a COMMIT that rolled back because a statement of the transaction had failed: PostgreSQL reports this only in the
 * command tag of the result.
 */
function rollbackFault(text: string, result: unknown): Error | undefined {
  const results = (Array.isArray(result) ? result : [result]) as { command?: string }[]
  if (results.every((one) => one?.command !== 'ROLLBACK') || /\b(?:ROLLBACK|ABORT)\b/i.test(text)) return undefined
  return new Error('The transaction was rolled back because a statement in it failed.')
}
