import type { Noun, Resource } from '../resources/resource.ts'
import { formatCount } from '../ui/format.ts'
import type { Settings, SourceRow } from './rows.ts'
import type { Table } from './table.ts'

/** An import that has started. */
export interface Import {
  /** Random; the idempotency keys of the requests derive from it. */
  id: string
  noun: Noun
  file: Pick<Table, 'name' | 'digest' | 'form' | 'separator' | 'columns'>
  settings: Settings
  /** Whether the rows have passwords, which the browser must not keep. */
  hasSecrets: boolean
  rows: SourceRow[]
}

export interface Progress {
  /** The name of the file, and its number of rows, for a page that does not read the rows. */
  file?: { name: string; rows: number }
  /** The rows before this index have an outcome. */
  next: number
  created: number
  updated: number
  /** Rows that are invalid or that the service rejected, by index. */
  failed: [index: number, error: string][]
  /** When the rows from `next` were first sent, while they have no outcome. */
  sentAt?: number | undefined
  /** Who sent them: for another caller the service does not recognize their idempotency key. */
  sentBy?: string | undefined
}

const MAX_ROWS_PER_REQUEST = 500
// In UTF-8 at most three times as many bytes; the service accepts 4 MiB.
const MAX_CHARACTERS_PER_REQUEST = 1_000_000

/** The index after the last row of the request that starts at an index. */
export function chunkEnd(rows: SourceRow[], start: number): number {
  let characters = 0
  let end = start
  while (end < rows.length && end - start < MAX_ROWS_PER_REQUEST) {
    characters += JSON.stringify(rows[end]?.record).length
    if (characters > MAX_CHARACTERS_PER_REQUEST && end > start) break
    end++
  }
  return end
}

/** The progress of a new import, in which the invalid rows have failed. */
export function begin({ file, rows }: Import): Progress {
  const failed = rows.flatMap(({ errors }, index): Progress['failed'] =>
    errors.length === 0 ? [] : [[index, errors.join('; ')]],
  )
  return { file: { name: file.name, rows: rows.length }, next: 0, created: 0, updated: 0, failed }
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
