import type { z } from 'zod'
import { type Field, fieldsOf } from '../../fields.ts'
import { csvRows } from './csv.ts'
import type { CsvLayout } from './csv-layout.ts'
import { elements } from './json-array.ts'
import { type JsonText, lines } from './ndjson.ts'
import type { Format, Row, Text } from './row.ts'

/** How the rows of a file become records. */
export interface RowFormat {
  format: Format
  /** Of one record. */
  schema: z.ZodObject
  /** Fields that are allowed but not imported, such as the id in an exported file. */
  ignored: string[]
  /** For CSV. */
  layout: CsvLayout | undefined
  /** Whether an empty CSV cell clears a nullable field; otherwise the field is absent. */
  emptyIsNull: boolean
}

/** The rows of a file, one at a time, each validated against the contract. */
export async function* readRows(text: Text, rowFormat: RowFormat): AsyncGenerator<Row> {
  for await (const row of read(text, rowFormat)) yield checked(row, rowFormat.schema)
}

/** Whether a row in the beginning of a JSON or NDJSON file has the field. */
export async function hasField(name: string, sample: string, format: Format): Promise<boolean> {
  async function* text() {
    yield sample
  }
  try {
    for await (const { source } of jsonRows(jsonTexts(text(), format), [], []))
      if (Object.hasOwn(source, name)) return true
  } catch {
    // The sample may end within an element. An invalid file is reported when it is read.
  }
  return false
}

function read(text: Text, { format, schema, ignored, layout, emptyIsNull }: RowFormat): AsyncGenerator<Row> {
  const fields = fieldsOf(schema)
  if (layout !== undefined) return csvRows(text, fields, layout, emptyIsNull)
  return jsonRows(jsonTexts(text, format), fields, ignored)
}

function jsonTexts(text: Text, format: Format): AsyncIterable<JsonText> {
  return format === 'json' ? elements(text) : lines(text)
}

async function* jsonRows(values: AsyncIterable<JsonText>, fields: Field[], ignored: string[]): AsyncGenerator<Row> {
  const known = new Set(fields.map(({ name }) => name))
  for await (const { line, text } of values) yield jsonRow(line, text, known, ignored)
}

function jsonRow(line: number, text: string, known: Set<string>, ignored: string[]): Row {
  let value: unknown
  try {
    // Trimmed, because JSON.parse accepts no byte order mark.
    value = JSON.parse(text.trim())
  } catch {
    // The parser's message quotes the row, which may contain a password.
    return { line, source: { import_text: text.trim() }, error: 'must be valid JSON' }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { line, source: { import_text: text.trim() }, error: 'must be a JSON object' }
  }
  const source = value as Record<string, unknown>
  const unknown = Object.keys(source).filter((name) => !known.has(name) && !ignored.includes(name))
  if (unknown.length > 0) return { line, source, error: `unknown fields: ${unknown.join(', ')}` }
  const record = Object.fromEntries(Object.entries(source).filter(([name]) => known.has(name)))
  return { line, source, record }
}

function checked(row: Row, schema: z.ZodObject): Row {
  if (row.record === undefined) return row
  const parsed = schema.safeParse(row.record)
  if (parsed.success) return row
  const errors = new Map(parsed.error.issues.map(({ path, message }) => [path.join('.'), message]))
  const messages = [...errors].map(([field, message]) => {
    return `${field}: ${row.record?.[field] === undefined ? 'is required' : message}`
  })
  return { line: row.line, source: row.source, error: messages.join('; ') }
}
