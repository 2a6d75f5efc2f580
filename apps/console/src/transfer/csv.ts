import { guardFormula, unguardFormula } from '@resource/contract/formulas'
import Papa from 'papaparse'

/** Spreadsheets take a file without this for one in the letters of the machine's own country. */
const BYTE_ORDER_MARK = '\uFEFF'

/** A CSV file of these fields of the records, which its first line names. */
export function csvOf(fields: string[], rows: Record<string, unknown>[]): string {
  const cells = [fields, ...rows.map((row) => fields.map((field) => row[field]))].map((line) => line.map(cell))
  return `${BYTE_ORDER_MARK}${Papa.unparse(cells, { newline: '\r\n' })}\r\n`
}

export interface CsvRow {
  values: Record<string, string>
  /** What is wrong with its cells. */
  fault: string | undefined
}

/**
 * Records from CSV whose first line names the fields; an empty cell is a field left out.
 *
 * @throws Error when quotes do not close, which leaves no telling where a row ends
 */
export function readCsv(text: string): { rows: CsvRow[]; fields: string[] } {
  const { data, meta, errors } = Papa.parse<Record<string, string>>(text, {
    header: true,
    skipEmptyLines: 'greedy',
    transformHeader: (name) => name.trim(),
  })
  const broken = errors.find(({ type }) => type === 'Quotes')
  if (broken !== undefined) throw new Error(`Row ${broken.row}: ${broken.message}`)
  const faults = new Map(
    errors.filter(({ type }) => type === 'FieldMismatch').map(({ row, message }) => [row, message]),
  )
  const rows = data.map((row, index) => ({
    values: Object.fromEntries(
      Object.entries(row)
        .filter(([name, value]) => name !== '__parsed_extra' && value !== '')
        .map(([name, value]) => [name, unguardFormula(value)]),
    ),
    fault: faults.get(index),
  }))
  return { rows, fields: meta.fields ?? [] }
}

function cell(value: unknown): string {
  return String(guardFormula(value) ?? '')
}
