import { guessColumns, IMPORT_COLUMNS } from './columns.ts'
import { firstCsvRows, namedDelimiter } from './csv.ts'
import { type ImportField, importFields, type Mode, type Target } from './fields.ts'

const DELIMITERS = [',', ';', '\t', '|']

/** How the rows of a file become records. */
export interface Layout {
  mode: Mode
  /** The field of each column; null for a column that is left out. Other columns are those of fields of the same name. */
  columns: Record<string, string | null>
  decimalComma: boolean
  /** Whether an empty CSV cell clears its field; otherwise it changes nothing. */
  emptyIsNull: boolean
}

/** An object without a prototype: it has no `constructor`, but may have a column of this name. */
export function recordOf<Value>(entries: [string, Value][]): Record<string, Value> {
  return Object.assign(Object.create(null), Object.fromEntries(entries))
}

/** The field of a column by its own name; null for a column that is left out, undefined for an unknown one. */
export function ownField(target: Target, fields: ImportField[], column: string): string | null | undefined {
  if (fields.some(({ name }) => name === column)) return column
  return [...target.stored, ...IMPORT_COLUMNS].includes(column) ? null : undefined
}

/**
 * The fields of columns: the given ones, those of the same name, then guesses. A column that has none must be decided.
 *
 * @param mode undefined for the fields of all modes
 */
export function assignColumns(
  target: Target,
  mode: Mode | undefined,
  columns: readonly string[],
  given: Record<string, string | null> = {},
): Map<string, string | null> {
  const fields = importFields(target, mode)
  const assigned = new Map<string, string | null>()
  for (const column of columns) {
    const name = Object.hasOwn(given, column) ? given[column] : ownField(target, fields, column)
    if (name !== undefined) assigned.set(column, name)
  }
  return guessColumns(columns, fields, assigned)
}

/** The separator of the cells of a CSV file: the one that it names, or the one with which most columns have a field. */
export function guessDelimiter(target: Target, sample: string): string {
  const named = namedDelimiter(sample)
  if (named !== undefined) return named
  const [best] = DELIMITERS.map((delimiter) => {
    const [header = []] = firstCsvRows(sample, delimiter, 1)
    return { delimiter, fit: assignColumns(target, undefined, header).size, count: header.length }
  }).sort((a, b) => b.fit - a.fit || b.count - a.count)
  return best?.delimiter ?? ','
}

/** The texts of number fields, in which a comma can be a decimal mark. */
export function numberTexts(
  target: Target,
  columns: Record<string, string | null>,
  rows: Record<string, unknown>[],
): string[] {
  const numeric = importFields(target).flatMap(({ name, kind }) => (kind === 'number' ? [name] : []))
  const chosen = Object.keys(columns).filter((column) => numeric.includes(columns[column] ?? ''))
  return rows.flatMap((row) => chosen.map((column) => String(row[column] ?? '').trim()))
}
