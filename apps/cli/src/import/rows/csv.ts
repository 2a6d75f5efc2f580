import { Readable } from 'node:stream'
import { unguardFormula } from '@resource/contract/formulas'
import { CsvError, parse } from 'csv-parse'
import { invalid } from '../../failures.ts'
import type { Field } from '../../fields.ts'
import { cellValue } from '../../values.ts'
import { type CsvLayout, MAX_RECORD_CHARACTERS } from './csv-layout.ts'
import type { Row, Text } from './row.ts'

/**
 * The rows of a CSV file whose first line names the columns.
 *
 * @param emptyIsNull whether an empty cell clears a nullable field; otherwise the field is absent
 * @throws Failure for a file that is not valid CSV
 */
export async function* csvRows(
  text: Text,
  fields: Field[],
  layout: CsvLayout,
  emptyIsNull: boolean,
): AsyncGenerator<Row> {
  const parser = parse({
    bom: true,
    delimiter: layout.delimiter,
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
      if (header === undefined) header = cells
      else yield rowOf(line, header, cells)
      line = info.lines + 1
    }
  } catch (error) {
    if (error instanceof CsvError) throw invalid(`Invalid CSV: ${error.message}`)
    throw error
  }

  function rowOf(line: number, header: string[], cells: string[]): Row {
    const source = Object.fromEntries(header.map((name, n) => [name, cells[n] ?? '']))
    if (cells.length !== header.length) {
      const surplus = cells.slice(header.length)
      return { line, source, surplus, error: `has ${cells.length} cells, the first line has ${header.length}` }
    }
    const record: Record<string, unknown> = {}
    for (const [column, name] of Object.entries(layout.columns)) {
      const field = fields.find((field) => field.name === name)
      if (field === undefined) continue
      const value = cellValue(field, unguardFormula(source[column] ?? ''), layout.decimalComma, emptyIsNull)
      if (value !== undefined) record[field.name] = value
    }
    return { line, source, record }
  }
}
