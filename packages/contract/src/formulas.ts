// A spreadsheet takes a cell that begins so for a formula; an apostrophe before it keeps it text, and reading takes the
// apostrophe away again.
const FORMULA = /^'*[=+\-@\t\r]/
const GUARDED = /^'(?='*[=+\-@\t\r])/

/** A value for a cell of a CSV file, in which no text is a formula. */
export function guardFormula(value: unknown): unknown {
  return typeof value === 'string' && FORMULA.test(value) ? `'${value}` : value
}

/** The text that a cell stands for, guarded or not. */
export function unguardFormula(cell: string): string {
  return cell.replace(GUARDED, '')
}
