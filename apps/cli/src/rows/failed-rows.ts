import { closeSync, existsSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs'
import { stringify } from 'csv-stringify/sync'
import { FAILED_LINE, FAILED_REASON, type Format, type Row } from './row.ts'

/** A row that was not imported, and the reason. */
export interface FailedRow {
  row: Row
  reason: string
}

/**
 * The file of failed rows, to be corrected and imported again: CSV for a CSV import, NDJSON otherwise. Only its owner
 * can read it, because the rows may contain passwords.
 *
 * @param size bytes to keep from the interrupted run; the rest is truncated
 */
export function failedRowsFile(input: string, format: Format, size: number) {
  const path = `${input}.failed.${format === 'csv' ? 'csv' : 'ndjson'}`
  if (size === 0) rmSync(path, { force: true })
  else if (existsSync(path)) truncateSync(path, size)
  return {
    path,
    /** @returns number of bytes added */
    add(failed: FailedRow[], isFirst: boolean): number {
      if (failed.length === 0) return 0
      const rows = failed.map(({ row, reason }) => ({
        ...row.source,
        [FAILED_LINE]: row.line,
        [FAILED_REASON]: reason,
      }))
      const text =
        format === 'csv' ? stringify(rows, { header: isFirst }) : rows.map((row) => `${JSON.stringify(row)}\n`).join('')
      const file = openSync(path, 'a', 0o600)
      try {
        return writeSync(file, text)
      } finally {
        closeSync(file)
      }
    },
  }
}
