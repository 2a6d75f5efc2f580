import { type Field, parseInput } from '../resources/field.ts'

/** A record of a file before it is sent. */
export interface SourceRow {
  /** Row number in the file, from 1. */
  number: number
  /** The values in the file; they go into the file of failed rows. */
  raw: Record<string, unknown>
  /** The input for the service. */
  record: Record<string, unknown>
  /** Validation errors; empty if none were found. */
  errors: string[]
}

export interface Source {
  form: 'csv' | 'ndjson'
  rows: SourceRow[]
  /** Fields of the file that the records do not have. */
  ignored: string[]
}

interface RawRow {
  values: Record<string, unknown>
  error?: string | undefined
}

const MAX_BYTES = 50_000_000

/**
 * Reads the records of a CSV file, a JSON array or JSON lines, and validates each against the contract.
 *
 * @param fields of a new record
 * @throws Error with a message for users if the file has none of these formats
 */
export async function readSource(file: File, fields: Field[]): Promise<Source> {
  if (file.size > MAX_BYTES) throw new Error('The file is larger than 50 MB: split it, or use the command line')
  const text = await textOf(file)
  const isJson = /\.(json|ndjson|jsonl)$/i.test(file.name) || /^\s*[[{]/.test(text)
  const raws = isJson ? readJson(text) : await readTable(text, fields)
  if (raws.length === 0) throw new Error('The file contains no rows')
  const known = new Set(fields.map((field) => field.name))
  const ignored = new Set(raws.flatMap(({ values }) => Object.keys(values).filter((key) => !known.has(key))))
  const rows = raws.map((raw, index) => checked(index + 1, raw, fields, !isJson))
  markDuplicates(rows, fields)
  return { form: isJson ? 'ndjson' : 'csv', rows, ignored: [...ignored] }
}

async function textOf(file: File): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
  } catch {
    throw new Error('The file is not UTF-8: save it as "CSV UTF-8"')
  }
}

function readJson(text: string): RawRow[] {
  const values = /^\s*\[/.test(text) ? wholeArray(text) : (oneObject(text) ?? jsonLines(text))
  return values.map((value, index) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Error(`Row ${index + 1} must be a JSON object`)
    }
    return { values: value as Record<string, unknown> }
  })
}

function wholeArray(text: string): unknown[] {
  try {
    return JSON.parse(text) as unknown[]
  } catch (error) {
    throw new Error(`The JSON array is invalid: ${(error as Error).message}`)
  }
}

function oneObject(text: string): unknown[] | undefined {
  try {
    return [JSON.parse(text)]
  } catch {
    return undefined
  }
}

function jsonLines(text: string): unknown[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    try {
      return [JSON.parse(line) as unknown]
    } catch {
      throw new Error(`Line ${index + 1} is not valid JSON`)
    }
  })
}

async function readTable(text: string, fields: Field[]): Promise<RawRow[]> {
  const { readCsv } = await import('./csv.ts')
  const { rows, fields: named } = readCsv(text)
  const missing = fields.filter(({ name, isRequired }) => isRequired && !named.includes(name))
  if (missing.length > 0) {
    throw new Error(`The first line must name the fields. Missing: ${missing.map(({ name }) => name).join(', ')}`)
  }
  return rows
}

function checked(number: number, { values, error }: RawRow, fields: Field[], isText: boolean): SourceRow {
  const record: Record<string, unknown> = {}
  const errors = error === undefined ? [] : [error]
  for (const field of fields) {
    const given = values[field.name]
    const value = isText && given !== undefined ? parseInput(field, String(given)) : given
    if (value !== undefined) record[field.name] = value
    const parsed = field.schema.safeParse(value)
    if (parsed.success) continue
    errors.push(`${field.name}: ${value === undefined ? 'is required' : parsed.error.issues[0]?.message}`)
  }
  return { number, raw: values, record, errors }
}

// E-mail addresses are unique: the service would reject the whole chunk because of a duplicate.
function markDuplicates(rows: SourceRow[], fields: Field[]) {
  for (const { name } of fields.filter(({ kind }) => kind === 'email')) {
    const first = new Map<string, number>()
    for (const row of rows) {
      const address = row.record[name]
      if (typeof address !== 'string') continue
      const earlier = first.get(address.toLowerCase())
      if (earlier === undefined) first.set(address.toLowerCase(), row.number)
      else row.errors.push(`${name}: already in row ${earlier}`)
    }
  }
}
