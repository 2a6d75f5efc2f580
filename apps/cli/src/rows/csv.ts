import { Readable } from 'node:stream'
import { unguardFormula } from '@resource/contract/formulas'
import { CsvError, parse } from 'csv-parse'
import { invalid } from '../failures.ts'
import type { Field } from '../fields.ts'
import { cellValue } from '../values.ts'
import type { Row, Text } from './row.ts'

const MAX_RECORD_CHARACTERS = 1024 * 1024

/**
 * The rows of a CSV file whose first line names the columns.
 *
 * @param ignored columns that are allowed but not imported
 * @throws Failure for an unknown or missing column, and for a file that is not valid CSV
 */
export async function* csvRows(text: Text, fields: Field[], ignored: string[]): AsyncGenerator<Row> {
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD_CHARACTERS,
  })
  Readable.from(text)
    .on('error', (error) => parser.destroy(error))
    .pipe(parser)
  let header: string[] | undefined
  let line = 1
  try {
    for await (const { record: cells, info } of parser as AsyncIterable<{
      record: string[]
      info: { lines: number }
    }>) {
      if (header === undefined) {
        header = cells
        checkHeader(header, fields, ignored)
      } else yield rowOf(line, header, cells, fields)
      line = info.lines + 1
    }
  } catch (error) {
    if (error instanceof CsvError) throw invalid(`Invalid CSV: ${error.message}`)
    throw error
  }
}

function checkHeader(header: string[], fields: Field[], ignored: string[]): void {
  const known = fields.map(({ name }) => name)
  const unknown = header.filter((name) => !known.includes(name) && !ignored.includes(name))
  const missing = fields.filter(({ name, required }) => required && !header.includes(name)).map(({ name }) => name)
  if (unknown.length > 0) throw invalid(`Unknown columns: ${unknown.join(', ')}. Allowed: ${known.join(', ')}`)
  if (missing.length > 0) throw invalid(`Missing columns: ${missing.join(', ')}`)
}

function rowOf(line: number, header: string[], cells: string[], fields: Field[]): Row {
  const source = Object.fromEntries(header.map((name, n) => [name, cells[n] ?? '']))
  if (cells.length !== header.length) {
    return { line, source, error: `has ${cells.length} cells, the first line has ${header.length}` }
  }
  const record: Record<string, unknown> = {}
  for (const field of fields) {
    const value = cellValue(field, unguardFormula(String(source[field.name] ?? '')))
    if (value !== undefined) record[field.name] = value
  }
  return { line, source, record }
}
