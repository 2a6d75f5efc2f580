import { type Layout, NOTHING_SENT, type Row, remainingText, type Progress as SendProgress } from '@resource/import'
import type { Noun, Resource } from '../resources/resource.ts'
import { formatCount } from '../ui/format.ts'
import { download } from './download.ts'
import type { Table } from './table.ts'

/** An import that has started. */
export interface Import {
  /** Random; the idempotency keys of the requests derive from it. */
  id: string
  noun: Noun
  file: Pick<Table, 'name' | 'digest' | 'format' | 'separator' | 'columns'>
  settings: Layout
  /** Whether the rows have passwords, which the browser must not keep. */
  hasSecrets: boolean
  rows: Row[]
}

export interface Progress extends SendProgress {
  /** The name of the file, and its number of rows, for a page that does not read the rows. */
  file: { name: string; rows: number }
  /** Rows that are invalid or that the service rejected, by index. */
  failed: [index: number, error: string][]
}

const UNCONFIRMED = 'No answer from the service: check whether the row is stored before you import it again'

/** The progress of a new import. */
export function begin({ file, rows }: Import): Progress {
  return { ...structuredClone(NOTHING_SENT), file: { name: file.name, rows: rows.length }, failed: [] }
}

/** The number of rows without an outcome. */
export function unsent({ file, rows }: Progress): number {
  return file.rows - rows
}

/** `3 users created, 2 updated` */
export function summary(resource: Resource, { settings }: Import, { created, updated, unchanged }: Progress): string {
  const { action } = settings.mode
  const known = updated + unchanged
  if (action === 'create') return `${formatCount(created, resource)} created`
  if (action === 'update') return `${formatCount(known, resource)} updated`
  return `${formatCount(created, resource)} created, ${known.toLocaleString('en')} updated`
}

/**
 * Downloads the rows that were not imported with their original values, to be corrected and imported again. The error is
 * empty for a row that was not sent.
 */
export function saveRemaining(name: string, { file, rows }: Import, progress: Progress): void {
  const rest = rows.slice(progress.rows).map((row, n) => {
    const reason = row.errors.join('; ') || (n < progress.inFlight ? UNCONFIRMED : '')
    return { row, reason }
  })
  const failed = progress.failed.map(([index, reason]) => ({ row: rows[index] as Row, reason }))
  const text = remainingText([...failed, ...rest], file.format, { delimiter: file.separator, lineBreak: '\r\n' })
  download(name, file.format, text)
}
