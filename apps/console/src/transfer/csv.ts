import { guardFormula, unguardFormula } from '@resource/contract/formulas'
import Papa from 'papaparse'

/** Spreadsheets take a file without this for one in the letters of the machine's own country. */
const BYTE_ORDER_MARK = '\uFEFF'

/** Records as CSV lines under `fields`, without the line of names. */
export function csvLines(fields: string[], rows: Record<string, unknown>[]): string {
  return rows.length === 0 ? '' : lines(rows.map((row) => fields.map((field) => cell(row[field]))))
}

/** What a CSV file begins with: its fields by name. */
export function csvHead(fields: string[]): string {
  return BYTE_ORDER_MARK + lines([fields.map(cell)])
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

function lines(cells: string[][]): string {
  return `${Papa.unparse(cells, { newline: '\r\n' })}\r\n`
}

function cell(value: unknown): string {
  return String(guardFormula(value) ?? '')
}
