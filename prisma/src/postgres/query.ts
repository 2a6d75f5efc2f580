import pg from 'pg'
import { milliseconds, timestamp } from '../tables/timestamp.ts'

/** The result of a statement. */
export interface QueryResult {
  rows: Record<string, unknown>[]
  /** The number of rows read or written. */
  count: number
  /** The command tag, such as `SELECT 20`. */
  command: string
}

/** The description of a statement's rows. */
interface RowDescription {
  names: string[]
  parsers: ((text: string) => unknown)[]
}

const PORTAL = { type: 'P' }

/** The statements that a connection keeps, each with memory on the server. */
const MAX_STATEMENTS = 500

// By name, the one used last at the end. A description stays valid: PostgreSQL rejects a prepared statement whose result columns
// have changed.
const statements = new WeakMap<pg.Connection, Map<string, RowDescription | undefined>>()

/**
 * One execution of a statement. The driver's own queries request and parse the row description with each execution; these do
 * so once per connection and name.
 */
export class PreparedQuery implements pg.Submittable {
  /** Set by the driver; called once. */
  callback!: (error: unknown, result?: QueryResult) => void
  name: string
  readonly text: string
  readonly #values: (string | null)[]
  readonly #rows: Record<string, unknown>[] = []
  #statements: Map<string, RowDescription | undefined> | undefined
  #description: RowDescription | undefined
  #command = ''
  #fault: unknown

  /**
   * @param name of the prepared statement, always with the same text; empty for an unnamed statement, which is not kept
   * @param values text, numbers, true, false, null, dates, and arrays of these
   */
  constructor(name: string, text: string, values: unknown[]) {
    this.name = name
    this.text = text
    // Converted before anything is sent: an error here does not affect the connection.
    this.#values = values.map(parameter)
  }

  submit(connection: pg.Connection): void {
    const { name, text } = this
    this.#statements = statementsOf(connection)
    this.#description = this.#statements.get(name)
    const isKnown = this.#statements.delete(name)
    if (isKnown) this.#statements.set(name, this.#description)
    // Corked: all messages are one write and one round trip.
    connection.stream.cork()
    if (!isKnown) {
      if (name !== '') this.#makeRoom(connection)
      connection.parse({ name, text, types: [] }, true)
    }
    connection.bind({ statement: name, values: this.#values }, true)
    if (this.#description === undefined) connection.describe(PORTAL, true)
    connection.execute(null, true)
    connection.sync()
    connection.stream.uncork()
  }

  /** Releases the statement used longest ago, and the own name: it exists if the statement was parsed and then failed. */
  #makeRoom(connection: pg.Connection): void {
    const known = this.#statements as Map<string, unknown>
    const [oldest] = known.keys()
    const released = oldest !== undefined && known.size >= MAX_STATEMENTS ? [oldest, this.name] : [this.name]
    for (const name of released) {
      known.delete(name)
      connection.close({ type: 'S', name }, true)
    }
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#description = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => parserOf(dataTypeID)),
    }
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const { names, parsers } = this.#description as RowDescription
    const row: Record<string, unknown> = {}
    try {
      for (let index = 0; index < names.length; index++) {
        const text = fields[index] as string | null
        row[names[index] as string] = text === null ? null : parsers[index]?.(text)
      }
      this.#rows.push(row)
    } catch (error) {
      // An error thrown here would terminate the process.
      this.#fault = error
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#command = text
  }

  handleReadyForQuery(): void {
    if (this.name !== '') this.#statements?.set(this.name, this.#description)
    const command = this.#command
    // "SELECT 20", "INSERT 0 1"
    const count = Number(command.slice(command.lastIndexOf(' ') + 1))
    if (this.#fault === undefined) this.callback(null, { rows: this.#rows, count, command })
    else this.callback(this.#fault)
  }

  handleError(error: unknown): void {
    this.callback(error)
  }
}

function statementsOf(connection: pg.Connection): Map<string, RowDescription | undefined> {
  let ofConnection = statements.get(connection)
  if (ofConnection === undefined) {
    ofConnection = new Map()
    statements.set(connection, ofConnection)
  }
  return ofConnection
}

/** A value in PostgreSQL's text format. */
export function parameter(value: unknown): string | null {
  if (value === null) return null
  // The columns have no time zone and store UTC.
  if (value instanceof Date) {
    const text = timestamp(value)
    // PostgreSQL does not read the sign of `+010000-01-01`, a bound after every stored time.
    return text.startsWith('+0') ? text.slice(2) : text
  }
  return Array.isArray(value) ? `{${value.map(element).join(',')}}` : String(value)
}

function element(value: unknown): string {
  const text = parameter(value)
  return text === null ? 'NULL' : `"${text.replace(/["\\]/g, '\\$&')}"`
}

function parserOf(type: number): (text: string) => unknown {
  if (type === pg.types.builtins.TIMESTAMP) return milliseconds
  return type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type)
}
