import type { z } from 'zod'
import { csvRows, type Text } from './csv.ts'
import { ImportError } from './error.ts'
import { ID, type ImportField, importFields, type Mode, type Target } from './fields.ts'
import { type JsonText, jsonElements, jsonLines } from './json.ts'
import { type Layout, ownField, recordOf } from './layout.ts'
import { parseNumber, withDecimalPoint } from './numbers.ts'

export type Format = 'csv' | 'ndjson' | 'json'
export const FORMATS: Format[] = ['csv', 'ndjson', 'json']

/** A row as it is in the file. */
export interface SourceRow {
  /** Line on which the row starts, from 1. */
  line: number
  /** The number of the row in a JSON file, from 1. Such a file often has one line. */
  element?: number
  /** The values by column; they go into the file of remaining rows. */
  source: Record<string, unknown>
  /** The cells of a CSV row beyond those of the first line. */
  surplus?: string[]
  /** What is wrong; empty if nothing is known. */
  errors: string[]
}

/** A row with the input for the service, if it is valid. */
export interface Row extends SourceRow {
  record: Record<string, unknown>
}

/** The rows of a file, one at a time. @param delimiter of CSV */
export async function* sourceRows(text: Text, format: Format, delimiter: string): AsyncGenerator<SourceRow> {
  if (format !== 'csv') {
    for await (const value of format === 'json' ? jsonElements(text) : jsonLines(text)) yield jsonRow(value)
    return
  }
  let header: string[] | undefined
  for await (const { line, cells } of csvRows(text, delimiter)) {
    if (header === undefined) header = columnNames(cells)
    else yield csvRow(line, header, cells)
  }
}

/** The names of the columns in the first line. @throws ImportError if one appears twice */
export function columnNames(cells: string[]): string[] {
  const names = cells.map((cell) => cell.trim())
  // A spreadsheet may end each line with several commas.
  const repeated = names.filter((name, n) => name !== '' && names.indexOf(name) !== n)
  if (repeated.length > 0) throw new ImportError(`Columns that appear twice: ${repeated.join(', ')}`)
  return names
}

function csvRow(line: number, header: string[], cells: string[]): SourceRow {
  const source = recordOf(header.map((name, n) => [name, cells[n] ?? '']))
  if (cells.length === header.length) return { line, source, errors: [] }
  const surplus = cells.slice(header.length)
  return { line, source, surplus, errors: [`has ${cells.length} cells, the first line has ${header.length}`] }
}

function jsonRow({ text, ...place }: JsonText): SourceRow {
  let value: unknown
  let error = 'must be a JSON object'
  try {
    // Trimmed, because JSON.parse accepts no byte order mark.
    value = JSON.parse(text.trim())
  } catch {
    // The parser's message quotes the row, which may contain a password.
    error = 'must be valid JSON'
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { ...place, source: recordOf(Object.entries(value)), errors: [] }
  }
  return { ...place, source: recordOf([['import_text', text.trim()]]), errors: [error] }
}

/** Turns the rows of a file into records, each validated against the contract. */
export function rowReader(target: Target, layout: Layout, format: Format): (row: SourceRow) => Row {
  const { mode, columns, emptyIsNull, decimalComma } = layout
  const fields = importFields(target, mode)
  const byName = new Map(fields.map((field) => [field.name, field]))
  const fieldOf = (column: string) =>
    Object.hasOwn(columns, column) ? columns[column] : ownField(target, fields, column)
  return (row) => {
    const record: Record<string, unknown> = {}
    const unknown: string[] = []
    for (const [column, given] of Object.entries(row.source)) {
      const name = fieldOf(column)
      if (name === undefined) unknown.push(column)
      const field = byName.get(name ?? '')
      if (field === undefined) continue
      const value = format === 'csv' ? cellValue(field, String(given), decimalComma, emptyIsNull) : given
      if (value !== undefined) record[field.name] = value
    }
    if (row.errors.length > 0) return { ...row, record }
    if (unknown.length > 0) return { ...row, record, errors: [`unknown fields: ${unknown.join(', ')}`] }
    return { ...row, record, errors: errorsOf(target, mode, record) }
  }
}

/** The value of a CSV cell; undefined if it is empty, which clears a nullable field only on request. */
function cellValue(field: ImportField, text: string, decimalComma: boolean, emptyIsNull: boolean): unknown {
  // A password may consist of spaces only.
  if (text === '' || (!field.isSecret && text.trim() === '')) {
    return field.isNullable && (emptyIsNull || field.isRequired) ? null : undefined
  }
  if (field.isList) return text.split(',').map((part) => parseValue(field.kind, part.trim()))
  if (!decimalComma || field.kind !== 'number') return parseValue(field.kind, text)
  const number = withDecimalPoint(text.trim())
  return number === undefined ? text : Number(number)
}

/** Parses `text` as a value of a kind. Text of another kind is returned unchanged, so that validation reports it. */
export function parseValue(kind: ImportField['kind'], text: string): unknown {
  if (kind === 'number') return parseNumber(text.trim()) ?? text
  if (kind === 'boolean') return text.trim() === 'true' ? true : text.trim() === 'false' ? false : text
  if (kind === 'text') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function errorsOf({ created, changed }: Target, { action, key }: Mode, record: Record<string, unknown>): string[] {
  const isNew = action === 'create' || (action === 'upsert' && record[key] === undefined && key === ID)
  const faults = faultsIn((isNew ? created : changed) as z.ZodObject, record)
  if (!isNew && record[key] === undefined) faults.unshift({ field: key, message: REQUIRED })
  return faults.map(({ field, message }) => `${field}: ${message}`)
}

const REQUIRED = 'is required'

/** The invalid fields of an input, each with its first fault. */
export function faultsIn(schema: z.ZodType, input: Record<string, unknown>): { field: string; message: string }[] {
  const faults = new Map<string, string>()
  for (const { path, message } of schema.safeParse(input).error?.issues ?? []) {
    const field = path.join('.')
    const isMissing = path.length > 0 && input[String(path[0])] === undefined
    if (!faults.has(field)) faults.set(field, isMissing ? REQUIRED : message)
  }
  return [...faults].map(([field, message]) => ({ field, message }))
}
