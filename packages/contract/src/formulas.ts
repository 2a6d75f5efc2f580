// A spreadsheet evaluates a cell that begins with one of these characters as a formula. A leading apostrophe keeps it
// text; reading removes the apostrophe again.
const FORMULA = /^'*[=+\-@\t\r]/
const GUARDED = /^'(?='*[=+\-@\t\r])/

/** The value of a CSV cell, escaped so that a spreadsheet never evaluates it as a formula. */
export function guardFormula(value: unknown): unknown {
  return typeof value === 'string' && FORMULA.test(value) ? `'${value}` : value
}

/** The original text of a CSV cell, escaped or not. */
export function unguardFormula(cell: string): string {
  return cell.replace(GUARDED, '')
}
