import { IMPORT_ERROR, IMPORT_LINE } from '@resource/contract/import-columns'
import { saveRows } from './export.ts'
import { chunkEnd, type Import, type Progress, unsent } from './import.ts'
import type { SourceRow } from './rows.ts'

const UNCONFIRMED = 'No answer from the service: check whether the row is stored before you import it again'

/**
 * Downloads the rows that were not imported with their original values, to be corrected and imported again. The error is
 * empty for a row that was not sent.
 */
export async function saveRemaining(name: string, running: Import, progress: Progress): Promise<void> {
  const { file, rows } = running
  const errors = new Map(progress.failed)
  const unconfirmedEnd = progress.sentAt === undefined ? 0 : chunkEnd(rows, progress.next)
  for (const index of unsent(running, progress)) {
    errors.set(index, index < unconfirmedEnd ? UNCONFIRMED : '')
  }
  const remaining = [...errors]
    .sort(([a], [b]) => a - b)
    .map(([index, error]) => ({ row: rows[index] as SourceRow, error }))
  const columns = new Set([...file.columns, ...remaining.flatMap(({ row }) => Object.keys(row.raw))])
  for (const column of [IMPORT_LINE, IMPORT_ERROR]) columns.delete(column)
  await saveRows(
    name,
    file.form,
    [...columns, IMPORT_LINE, IMPORT_ERROR],
    remaining.map(({ row, error }) => ({ ...row.raw, [IMPORT_LINE]: row.line, [IMPORT_ERROR]: error })),
    file.separator,
  )
}
