import { IMPORT_ERROR, IMPORT_LINE, IMPORT_RECORD } from './columns.ts'
import { csvText } from './csv.ts'
import type { Format, SourceRow } from './rows.ts'

/** A row that was not imported, and the reason; empty if it was not sent. */
export interface RemainingRow {
  row: SourceRow
  reason: string
}

/**
 * The text of a file of rows that were not imported, to be corrected and imported: CSV for a CSV file, NDJSON otherwise.
 *
 * @param isBegun whether these rows follow others, so that a CSV file has its first line already
 */
export function remainingText(
  remaining: RemainingRow[],
  format: Format,
  { delimiter = ',', lineBreak = '\n', isBegun = false }: { delimiter?: string; lineBreak?: string; isBegun?: boolean },
): string {
  const rows = remaining.map(({ row, reason }) => ({
    ...row.source,
    ...(row.element === undefined ? { [IMPORT_LINE]: row.line } : { [IMPORT_RECORD]: row.element }),
    [IMPORT_ERROR]: reason,
  }))
  if (format !== 'csv') return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  // Surplus cells stay at the end of their row, so that nobody imports it without them.
  const cells = rows.map((row, n) => [...Object.values(row), ...(remaining[n]?.row.surplus ?? [])])
  return csvText(isBegun ? cells : [Object.keys(rows[0] ?? {}), ...cells], delimiter, lineBreak)
}
