import Papa from 'papaparse'

// A spreadsheet takes a cell that begins so for a formula; an apostrophe before it keeps it text, and reading takes the
// apostrophe away again.
const FORMULA = /^'*[=+\-@\t\r]/

/** Records as CSV lines under `fields`, without the line of names. */
export function csvLines(fields: string[], rows: Record<string, unknown>[]): string {
  const cells = rows.map((row) => fields.map((field) => guarded(row[field])))
  return `${Papa.unparse(cells, { newline: '\r\n' })}\r\n`
}

/** Records from CSV whose first line names the fields; an empty cell is a field left out. */
export function readCsv(text: string): { rows: Record<string, string>[]; fields: string[]; faults: string[] } {
  const { data, meta, errors } = Papa.parse<Record<string, string>>(text, {
    header: true,
    skipEmptyLines: 'greedy',
    transformHeader: (name) => name.replace(/^\uFEFF/, '').trim(),
  })
  const rows = data.map((row) =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([name, value]) => name !== '__parsed_extra' && value !== '')
        .map(([name, value]) => [name, value.replace(/^'(?='*[=+\-@\t\r])/, '')]),
    ),
  )
  const broken = errors.filter(({ code }) => code !== 'UndetectableDelimiter')
  return {
    rows,
    fields: meta.fields ?? [],
    faults: broken.map(({ row, message }) => `Line ${(row ?? 0) + 2}: ${message}`),
  }
}

function guarded(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value)
  return typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text
}
