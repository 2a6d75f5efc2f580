import { guardFormula, unguardFormula } from '@resource/contract/formulas'
import Papa from 'papaparse'

/** Without it, spreadsheets read the file in the local legacy encoding instead of UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF'

/** A CSV file with these fields of the records and a header line. */
export function csvOf(fields: string[], rows: Record<string, unknown>[]): string {
  const cells = [fields, ...rows.map((row) => fields.map((field) => row[field]))].map((line) => line.map(cell))
  return `${BYTE_ORDER_MARK}${Papa.unparse(cells, { newline: '\r\n' })}\r\n`
}

export interface CsvRow {
  values: Record<string, string>
  /** Why the row is invalid. */
  error: string | undefined
}

/**
 * Reads records from CSV whose first line names the fields. An empty cell is an absent field.
 *
 * @throws Error if a quote is not closed, because the end of the row is then unknown
 */
export function readCsv(text: string): { rows: CsvRow[]; fields: string[] } {
  const { data, meta, errors } = Papa.parse<Record<string, string>>(text, {
    header: true,
    skipEmptyLines: 'greedy',
    transformHeader: (name) => name.trim(),
  })
  const unclosed = errors.find(({ type }) => type === 'Quotes')
  if (unclosed !== undefined) throw new Error(`Row ${unclosed.row}: ${unclosed.message}`)
  const errorByRow = new Map(
    errors.filter(({ type }) => type === 'FieldMismatch').map(({ row, message }) => [row, message]),
  )
  const rows = data.map((row, index) => ({
    values: Object.fromEntries(
      Object.entries(row)
        .filter(([name, value]) => name !== '__parsed_extra' && value !== '')
        .map(([name, value]) => [name, unguardFormula(value)]),
    ),
    error: errorByRow.get(index),
  }))
  return { rows, fields: meta.fields ?? [] }
}

function cell(value: unknown): string {
  return String(guardFormula(value) ?? '')
}
