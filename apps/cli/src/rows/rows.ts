import type { z } from 'zod'
import { type Field, fieldsOf } from '../fields.ts'
import { csvRows } from './csv.ts'
import { elements } from './json-array.ts'
import { lines, type Piece } from './ndjson.ts'
import type { Format, Row, Text } from './row.ts'

/**
 * The rows of a file, one at a time, each checked by the contract.
 *
 * @param schema of one record
 * @param passed fields that may stand there and are left out, such as the id of an export
 */
export async function* readRows(
  text: Text,
  format: Format,
  schema: z.ZodObject,
  passed: string[],
): AsyncGenerator<Row> {
  const fields = fieldsOf(schema)
  for await (const row of read(text, format, fields, passed)) yield checked(row, schema)
}

function read(text: Text, format: Format, fields: Field[], passed: string[]): AsyncGenerator<Row> {
  if (format === 'csv') return csvRows(text, fields, passed)
  return jsonRows(format === 'json' ? elements(text) : lines(text), fields, passed)
}

async function* jsonRows(pieces: AsyncIterable<Piece>, fields: Field[], passed: string[]): AsyncGenerator<Row> {
  const known = new Set(fields.map(({ name }) => name))
  for await (const { line, text } of pieces) yield jsonRow(line, text, known, passed)
}

function jsonRow(line: number, text: string, known: Set<string>, passed: string[]): Row {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's own words quote the row, which may hold a password.
    return { line, source: { failed_text: text.trim() }, fault: 'is no JSON' }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { line, source: { failed_text: text.trim() }, fault: 'is no JSON object' }
  }
  const source = value as Record<string, unknown>
  const unknown = Object.keys(source).filter((name) => !known.has(name) && !passed.includes(name))
  if (unknown.length > 0) return { line, source, fault: `unknown fields: ${unknown.join(', ')}` }
  const record = Object.fromEntries(Object.entries(source).filter(([name]) => known.has(name)))
  return { line, source, record }
}

function checked(row: Row, schema: z.ZodObject): Row {
  if (row.record === undefined) return row
  const parsed = schema.safeParse(row.record)
  if (parsed.success) return row
  const faults = new Map(parsed.error.issues.map(({ path, message }) => [path.join('.'), message]))
  const words = [...faults].map(([field, message]) => {
    return `${field}: ${row.record?.[field] === undefined ? 'is required' : message}`
  })
  return { line: row.line, source: row.source, fault: words.join('; ') }
}
