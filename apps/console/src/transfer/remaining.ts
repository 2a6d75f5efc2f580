import { saveRows } from './export.ts'
import { chunkEnd, type Import, type Progress, unsent } from './import.ts'
import type { SourceRow } from './rows.ts'
import { ERROR_COLUMN, LINE_COLUMN } from './table.ts'

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
  for (const column of [LINE_COLUMN, ERROR_COLUMN]) columns.delete(column)
  await saveRows(
    name,
    file.form,
    [...columns, LINE_COLUMN, ERROR_COLUMN],
    remaining.map(({ row, error }) => ({ ...row.raw, [LINE_COLUMN]: row.line, [ERROR_COLUMN]: error })),
    file.separator,
  )
}
