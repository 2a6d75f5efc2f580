import { guardFormula, unguardFormula } from '@resource/contract/formulas'
import Papa from 'papaparse'
import { recordOf } from './mapping.ts'
import type { TableRow } from './table-row.ts'

/** Without it, spreadsheets read the file in the local legacy encoding instead of UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF'
const GUESSED_FROM_ROWS = 20

/** A CSV file with these fields of the records and a header line. */
export function csvOf(fields: string[], rows: Record<string, unknown>[], separator = ','): string {
  const cells = [
    fields,
    ...rows.map((row) => fields.map((field) => (Object.hasOwn(row, field) ? row[field] : undefined))),
  ].map((line) => line.map(cell))
  return `${BYTE_ORDER_MARK}${Papa.unparse(cells, { newline: '\r\n', delimiter: separator })}\r\n`
}

/**
 * Reads rows from CSV whose first line names the columns. An empty cell is an absent value.
 *
 * @param separator of the cells; without it, the most likely one
 * @throws Error if a quote is not closed, because the end of the row is then unknown
 */
export function readCsv(
  text: string,
  separator = guessSeparator(text),
): { rows: TableRow[]; columns: string[]; separator: string } {
  let columns: string[] | undefined
  let line = 1
  let end = 0
  const rows: TableRow[] = []
  Papa.parse<string[]>(text, {
    delimiter: separator,
    step: ({ data, errors, meta }) => {
      const start = line
      line += text.slice(end, meta.cursor).match(/\r\n|\n|\r/g)?.length ?? 0
      end = meta.cursor
      const unclosed = errors.find(({ type }) => type === 'Quotes')
      if (unclosed !== undefined) throw new Error(`Line ${start}: ${unclosed.message}`)
      if (data.every((cell) => cell.trim() === '')) return
      if (columns === undefined) columns = columnNames(data)
      else rows.push(rowOf(start, columns, data))
    },
  })
  return { rows, columns: columns ?? [], separator }
}

function guessSeparator(text: string): string {
  return Papa.parse(text, { preview: GUESSED_FROM_ROWS, skipEmptyLines: 'greedy' }).meta.delimiter
}

function columnNames(cells: string[]): string[] {
  const names = cells.map((cell, index) => unguardFormula(cell.trim()) || columnName(index))
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`The first line names "${twice}" twice`)
  return names
}

function rowOf(line: number, columns: string[], cells: string[]): TableRow {
  const named = cells.map(
    (cell, index) => [columns[index] ?? columnName(index), unguardFormula(cell)] as [string, string],
  )
  const values = recordOf(named.filter(([, value]) => value !== ''))
  if (cells.length === columns.length) return { line, values }
  return { line, values, error: `has ${cells.length} cells, the first line has ${columns.length}` }
}

function columnName(index: number): string {
  return `column_${index + 1}`
}

function cell(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : value
  return String(guardFormula(text) ?? '')
}
