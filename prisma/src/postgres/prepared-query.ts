import pg from 'pg'

/** What a statement answered. */
export interface Answer {
  rows: Record<string, unknown>[]
  /** How many rows it read or wrote. */
  count: number
}

/** What PostgreSQL said of a statement's rows. */
interface Shape {
  names: string[]
  parsers: ((text: string) => unknown)[]
}

/** What the driver keeps of a connection beside what its types say: which statements PostgreSQL has parsed, by name. */
interface Kept {
  readonly parsedStatements: Record<string, string | undefined>
}

const PORTAL = { type: 'P' }
const WHOLE_SECONDS = '2026-11-22 20:44:41'.length
const ZERO = 48

// PostgreSQL refuses to run a statement again whose columns have become others: so what it said stays true.
const known = new WeakMap<pg.Connection, Map<string, Shape>>()

/**
 * One run of a statement. The driver's own queries have the rows described, and read that, with each run; these do it
 * once for each connection and name.
 */
export class PreparedQuery implements pg.Submittable {
  /** Set by the driver, and called once. */
  callback!: (error: unknown, answer?: Answer) => void
  readonly name: string
  readonly text: string
  readonly #values: (string | null)[]
  readonly #rows: Record<string, unknown>[] = []
  #shapes: Map<string, Shape> | undefined
  #shape: Shape | undefined
  #count = 0
  #fault: unknown

  /**
   * @param name what the connection knows the statement by, of which there is one text; empty where it is to be forgotten
   * @param values text, numbers, true, false, null, dates, and arrays of these
   */
  constructor(name: string, text: string, values: unknown[]) {
    this.name = name
    this.text = text
    // Here, where nothing has been sent yet: what it throws concerns nobody else.
    this.#values = values.map(parameter)
  }

  submit(connection: pg.Connection): void {
    const { name, text } = this
    this.#shapes = shapesOf(connection)
    this.#shape = this.#shapes.get(name)
    const { parsedStatements } = connection as unknown as Kept
    // One journey, and one write.
    connection.stream.cork()
    if (parsedStatements[name] === undefined) connection.parse({ name, text, types: [] }, true)
    connection.bind({ statement: name, values: this.#values }, true)
    if (this.#shape === undefined) connection.describe(PORTAL, true)
    connection.execute(null, true)
    connection.sync()
    connection.stream.uncork()
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#shape = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => parserOf(dataTypeID)),
    }
    if (this.name !== '') this.#shapes?.set(this.name, this.#shape)
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const { names, parsers } = this.#shape as Shape
    const row: Record<string, unknown> = {}
    try {
      for (let place = 0; place < names.length; place++) {
        const text = fields[place] as string | null
        row[names[place] as string] = text === null ? null : parsers[place]?.(text)
      }
      this.#rows.push(row)
    } catch (error) {
      // Thrown here it would end the process.
      this.#fault = error
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    // "SELECT 20", "INSERT 0 1"
    this.#count = Number(text.slice(text.lastIndexOf(' ') + 1))
  }

  handleReadyForQuery(): void {
    if (this.#fault === undefined) this.callback(null, { rows: this.#rows, count: this.#count })
    else this.callback(this.#fault)
  }

  handleError(error: unknown): void {
    this.callback(error)
  }
}

function shapesOf(connection: pg.Connection): Map<string, Shape> {
  let shapes = known.get(connection)
  if (shapes === undefined) {
    shapes = new Map()
    known.set(connection, shapes)
  }
  return shapes
}

/** A value as PostgreSQL takes it where a statement says its type. */
export function parameter(value: unknown): string | null {
  if (value === null) return null
  // The columns are without a time zone and hold UTC.
  if (value instanceof Date) return value.toISOString()
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

// "2026-11-22 20:44:41.12", of the years 0100 to 9999, which is what the service stores. Date.parse takes three times as
// long, and a page has twenty of them.
function milliseconds(timestamp: string): number {
  const two = (at: number) => (timestamp.charCodeAt(at) - ZERO) * 10 + timestamp.charCodeAt(at + 1) - ZERO
  const whole = Date.UTC(two(0) * 100 + two(2), two(5) - 1, two(8), two(11), two(14), two(17))
  return timestamp.length === WHOLE_SECONDS ? whole : whole + Math.round(Number(timestamp.slice(WHOLE_SECONDS)) * 1000)
}
