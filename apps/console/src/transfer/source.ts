import { type Field, fromText } from '../resources/field.ts'

/** A record of a file, before the service has seen it. */
export interface SourceRow {
  /** Place in the file, from 1. */
  number: number
  /** As the file has it, for the file of failed rows. */
  raw: Record<string, unknown>
  /** As the service takes it. */
  record: Record<string, unknown>
  /** What is wrong with it; empty when nothing is known to be. */
  faults: string[]
}

export interface Source {
  rows: SourceRow[]
  /** Fields of the file that the records do not have. */
  ignored: string[]
}

/**
 * The records of a CSV file, a JSON array or JSON lines, each checked by the contract.
 *
 * @param fields of a new record
 * @throws Error in words for people when it is no such file
 */
export async function readSource(name: string, text: string, fields: Field[]): Promise<Source> {
  const isJson = /\.(json|ndjson|jsonl)$/i.test(name) || /^\s*[[{]/.test(text)
  const raws = isJson ? readJson(text) : await readTable(text, fields)
  if (raws.length === 0) throw new Error('The file holds no rows')
  const known = new Set(fields.map((field) => field.name))
  const ignored = new Set(raws.flatMap((raw) => Object.keys(raw).filter((key) => !known.has(key))))
  const rows = raws.map((raw, index) => checked(index + 1, raw, fields, !isJson))
  markDoubles(rows, fields)
  return { rows, ignored: [...ignored] }
}

function readJson(text: string): Record<string, unknown>[] {
  const values = wholeJson(text) ?? jsonLines(text)
  return values.map((value, index) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
    throw new Error(`Row ${index + 1} is no JSON object`)
  })
}

function wholeJson(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : [value]
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
      throw new Error(`Line ${index + 1} is not JSON`)
    }
  })
}

async function readTable(text: string, fields: Field[]): Promise<Record<string, unknown>[]> {
  const { readCsv } = await import('./csv.ts')
  const { rows, fields: named, faults } = readCsv(text)
  if (faults[0] !== undefined) throw new Error(faults[0])
  const missing = fields.filter(({ name, isRequired }) => isRequired && !named.includes(name))
  if (missing.length > 0) {
    throw new Error(`The first line must name the fields; it lacks ${missing.map(({ name }) => name).join(', ')}`)
  }
  return rows
}

function checked(number: number, raw: Record<string, unknown>, fields: Field[], isText: boolean): SourceRow {
  const record: Record<string, unknown> = {}
  const faults: string[] = []
  for (const field of fields) {
    const given = raw[field.name]
    const value = isText && given !== undefined ? fromText(field, String(given)) : given
    if (value !== undefined) record[field.name] = value
    const parsed = field.schema.safeParse(value)
    if (parsed.success) continue
    faults.push(`${field.name}: ${value === undefined ? 'is required' : parsed.error.issues[0]?.message}`)
  }
  return { number, raw, record, faults }
}

// An address may stand once only; the service would refuse the whole chunk for the second.
function markDoubles(rows: SourceRow[], fields: Field[]) {
  for (const { name } of fields.filter(({ kind }) => kind === 'email')) {
    const first = new Map<string, number>()
    for (const row of rows) {
      const key = String(row.record[name]).toLowerCase()
      const earlier = first.get(key)
      if (earlier === undefined) first.set(key, row.number)
      else row.faults.push(`${name}: already in row ${earlier}`)
    }
  }
}
