import type { Noun, Resource } from '../resources/resource.ts'
import { formatCount } from '../ui/format.ts'
import { saveRows } from './export.ts'
import type { Settings, SourceRow } from './rows.ts'
import { ERROR_COLUMN, LINE_COLUMN, type Table } from './table.ts'

/** An import that has started. */
export interface Import {
  /** Random; the idempotency keys of the requests derive from it. */
  id: string
  noun: Noun
  file: Pick<Table, 'name' | 'digest' | 'form' | 'separator' | 'columns'>
  settings: Settings
  rows: SourceRow[]
}

export interface Progress {
  /** The rows before this index have an outcome. */
  next: number
  created: number
  updated: number
  /** Rows that are invalid or that the service rejected, by index. */
  failed: [index: number, error: string][]
  /** When the rows from `next` were first sent, while they have no outcome. */
  sentAt?: number | undefined
}

/** The number of rows in a request. */
export const CHUNK = 500

/** The progress of a new import, in which the invalid rows have failed. */
export function begin({ rows }: Import): Progress {
  const failed = rows.flatMap(({ errors }, index): Progress['failed'] =>
    errors.length === 0 ? [] : [[index, errors.join('; ')]],
  )
  return { next: 0, created: 0, updated: 0, failed }
}

/** The indexes of the rows without an outcome, at most up to an index. */
export function unsent({ rows }: Import, { next }: Progress, end = rows.length): number[] {
  const valid: number[] = []
  for (let index = next; index < Math.min(end, rows.length); index++) {
    if (rows[index]?.errors.length === 0) valid.push(index)
  }
  return valid
}

/** `3 users created, 2 updated` */
export function summary(resource: Resource, { settings }: Import, { created, updated }: Progress): string {
  const { action } = settings.mode
  if (action === 'create') return `${formatCount(created, resource)} created`
  if (action === 'update') return `${formatCount(updated, resource)} updated`
  return `${formatCount(created, resource)} created, ${updated.toLocaleString('en')} updated`
}

const UNCONFIRMED = 'No answer from the service: check whether the row is stored before you import it again'

/**
 * Downloads the rows that were not imported with their original values, to be corrected and imported again. The error is
 * empty for a row that was not sent.
 */
export async function saveRemaining(name: string, running: Import, progress: Progress): Promise<void> {
  const { file, rows } = running
  const errors = new Map(progress.failed)
  for (const index of unsent(running, progress)) {
    const isUnconfirmed = progress.sentAt !== undefined && index < progress.next + CHUNK
    errors.set(index, isUnconfirmed ? UNCONFIRMED : '')
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
