// A spreadsheet evaluates a cell as a formula if it begins with one of these characters, in any width, also after spaces and
// invisible characters. A leading apostrophe keeps it text; reading removes the apostrophe again.
const START = "'*(?:[\\t\\r\\n]|[\\s\\p{Cf}]*[=+\\-@＝＋－＠﹦﹢﹣﹫])"
const FORMULA = new RegExp(`^${START}`, 'u')
const GUARDED = new RegExp(`^'(?=${START})`, 'u')

/** Text for a CSV cell, escaped so that a spreadsheet never evaluates it as a formula. */
export function guardFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

/** The original text of a CSV cell, escaped or not. */
export function unguardFormula(cell: string): string {
  return cell.replace(GUARDED, '')
}
