import { closeSync, constants, existsSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs'
import { guardFormula, unguardFormula } from '@resource/contract/formulas'
import { IMPORT_ERROR, IMPORT_LINE } from '@resource/contract/import-columns'
import { stringify } from 'csv-stringify/sync'
import type { Format, Row } from './row.ts'

/** A row that was not imported, and the reason; empty if it was not sent. */
export interface RemainingRow {
  row: Row
  reason: string
}

/**
 * The file of the rows that were not imported, to be corrected and imported: CSV for a CSV import, NDJSON otherwise.
 * Only its owner can read it, because the rows may contain passwords.
 *
 * @param size bytes to keep from the interrupted run; the rest is truncated
 * @param delimiter of the imported CSV file
 */
export function remainingRowsFile(input: string, format: Format, size: number, delimiter: string) {
  const path = `${input}.remaining.${format === 'csv' ? 'csv' : 'ndjson'}`
  if (size === 0) rmSync(path, { force: true })
  else if (existsSync(path)) truncateSync(path, size)
  let bytes = size
  return {
    path,
    /** @returns size of the file in bytes */
    add(remaining: RemainingRow[]): number {
      if (remaining.length === 0) return bytes
      const rows = remaining.map(({ row, reason }) => ({
        ...row.source,
        [IMPORT_LINE]: row.line,
        [IMPORT_ERROR]: reason,
      }))
      const text =
        format === 'csv'
          ? stringify(linesOf(rows, remaining, bytes === 0), { delimiter })
          : rows.map((row) => `${JSON.stringify(row)}\n`).join('')
      // At a position, because another process that imports the same file writes the same rows there.
      const file = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600)
      try {
        bytes += writeSync(file, text, bytes)
        return bytes
      } finally {
        closeSync(file)
      }
    },
  }
}

/** Surplus cells stay at the end of their row, so that nobody imports it without them. */
function linesOf(rows: Record<string, unknown>[], remaining: RemainingRow[], withHeader: boolean): unknown[][] {
  const cells = rows.map((row, n) => [...Object.values(row), ...(remaining[n]?.row.surplus ?? [])].map(guarded))
  return withHeader ? [Object.keys(rows[0] ?? {}), ...cells] : cells
}

// A cell of the imported file may be guarded already.
function guarded(cell: unknown): unknown {
  return typeof cell === 'string' ? guardFormula(unguardFormula(cell)) : cell
}
