import { findDecimalComma, withDecimalPoint } from '@resource/contract/decimal-comma'
import { guessColumns } from '@resource/contract/import-columns'
import { parse } from 'csv-parse/sync'
import { invalid } from '../../failures.ts'
import type { Field } from '../../fields.ts'

/** How a CSV file is read. */
export interface CsvLayout {
  delimiter: string
  /** The field of each column; null for a column that is not imported. */
  columns: Record<string, string | null>
  decimalComma: boolean
}

/** The parts of a layout that the user has set. */
export interface LayoutOptions {
  delimiter?: string | undefined
  decimalComma?: boolean | undefined
  /** Fields by column; an empty name for a column that is not imported. */
  map?: Record<string, string> | undefined
}

export const MAX_RECORD_CHARACTERS = 1024 * 1024
const DELIMITERS = [',', ';', '\t', '|']
const SAMPLE_ROWS = 200

/**
 * Guesses the layout of a CSV file from its beginning.
 *
 * @param sample the beginning of the file; its last row may be incomplete
 * @param fields to import
 * @param ignored columns that are allowed but not imported
 * @param required names of fields that need a column
 * @returns the layout, and what was guessed, as lines for the user; empty if nothing was
 * @throws Failure for a column that fits no field, for a field with several columns, for a required field without a column,
 * and for numbers such as `1,299`
 */
export function guessLayout(
  sample: string,
  fields: Field[],
  ignored: string[],
  required: string[],
  options: LayoutOptions,
): { layout: CsvLayout; guesses: string[] } {
  const read = candidates(options.delimiter).map((delimiter) => {
    const [header = [], ...rows] = firstRows(sample, delimiter)
    const matched = matchColumns(header, fields, ignored, options.map ?? {})
    return { delimiter, header, rows, ...matched, fit: Object.keys(matched.columns).length }
  })
  const best = read.reduce((best, next) => (next.fit > best.fit ? next : best))
  const { delimiter, header, rows, columns, guessed, unknown } = best
  const names = fields.map(({ name }) => name)
  if (header.length === 0) throw invalid('The file is empty: its first line must name the columns')
  if (unknown.length > 0) {
    const [first] = unknown
    throw invalid(
      `Unknown columns: ${[...new Set(unknown)].map((name) => name || '(unnamed)').join(', ')}. Allowed: ${names.join(', ')}. Assign them with --map '${first}=FIELD', or leave them out with --map '${first}='`,
    )
  }
  // A spreadsheet may end each line with several commas.
  const repeated = header.filter((name, n) => name !== '' && header.indexOf(name) !== n)
  if (repeated.length > 0) throw invalid(`Columns that appear twice: ${repeated.join(', ')}`)
  for (const name of names) {
    const several = header.filter((column) => columns[column] === name)
    if (several.length > 1)
      throw invalid(`Several columns for ${name}: ${several.join(', ')}. Leave out all but one with --map COLUMN=`)
  }
  const missing = required.filter((name) => !Object.values(columns).includes(name))
  if (missing.length > 0) throw invalid(`Missing columns: ${missing.join(', ')}`)
  const decimal = options.decimalComma === undefined ? decimalComma(header, rows, columns, fields) : undefined
  const guesses = [
    ...(guessed.length > 0 ? [`Columns: ${guessed.map((name) => `${name} → ${columns[name]}`).join(', ')}`] : []),
    ...(options.delimiter === undefined && delimiter !== ','
      ? [`Separator: ${delimiter === '\t' ? 'tab' : delimiter}`]
      : []),
    ...(decimal === undefined ? [] : [`Decimal comma: ${decimal}`]),
  ]
  return { layout: { delimiter, columns, decimalComma: options.decimalComma ?? decimal !== undefined }, guesses }
}

/** Whether a CSV file has a column of this name. */
export function hasColumn(name: string, sample: string, delimiter: string | undefined): boolean {
  return candidates(delimiter).some((delimiter) => firstRows(sample, delimiter)[0]?.includes(name))
}

function candidates(delimiter: string | undefined): string[] {
  return delimiter === undefined ? DELIMITERS : [delimiter]
}

function firstRows(sample: string, delimiter: string): string[][] {
  return parse(sample, {
    bom: true,
    delimiter,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD_CHARACTERS,
    to: SAMPLE_ROWS,
    // The end of the sample may be within quotes. An invalid file is reported when it is read.
    skip_records_with_error: true,
  })
}

function matchColumns(header: string[], fields: Field[], ignored: string[], map: Record<string, string>) {
  const assigned = new Map<string, string | null>()
  const names = fields.map(({ name }) => name)
  for (const [column, field] of Object.entries(map)) {
    if (!header.includes(column)) continue
    if (field !== '' && !names.includes(field)) throw invalid(`--map: ${field} is not one of: ${names.join(', ')}`)
    assigned.set(column, field || null)
  }
  for (const name of header) {
    if (assigned.has(name)) continue
    if (names.includes(name)) assigned.set(name, name)
    else if (ignored.includes(name)) assigned.set(name, null)
  }
  const found = guessColumns(header, fields, assigned)
  return {
    // Not an object with a prototype, which has a `constructor`.
    columns: Object.assign(Object.create(null), Object.fromEntries(found)) as Record<string, string | null>,
    guessed: header.filter((name) => found.has(name) && !assigned.has(name)),
    unknown: header.filter((name) => !found.has(name)),
  }
}

/**
 * A number that shows that numbers have a decimal comma, as `24,5 is 24.5`; undefined if none does.
 *
 * @throws Failure if it could also have a comma between thousands
 */
function decimalComma(
  header: string[],
  rows: string[][],
  columns: Record<string, string | null>,
  fields: Field[],
): string | undefined {
  const numbers = header.flatMap((column, n) =>
    fields.find(({ name }) => name === columns[column])?.kind === 'number' ? [n] : [],
  )
  const found = findDecimalComma(rows.flatMap((row) => numbers.map((n) => row[n]?.trim() ?? '')))
  if (found === undefined) return undefined
  const { number, isAmbiguous } = found
  const meaning = `${number} is ${withDecimalPoint(number)}`
  if (isAmbiguous) {
    throw invalid(
      `${meaning} with a decimal comma, and ${number.replace(',', '')} with a comma between thousands. ` +
        'Use --decimal-comma for the first; for the second, remove these commas from the file',
    )
  }
  return meaning
}
