import type { Tables } from '@resource/database'
import { ApiError } from '@resource/openapi'

type Log = Pick<Tables, 'auditEntries'>

/** An entry of the audit log: of those up to it, all that were ever committed are known. */
export interface Position {
  id: number
  /** The time of the entry in ms. After a restore its id may belong to another one. */
  at: number
}

/** The position before the first entry. */
export const START: Position = { id: 0, at: 0 }

/** `42-mi5k3w8q` */
export function cursorOf({ id, at }: Position): string {
  return `${id}-${at.toString(36)}`
}

/** @param cursor in the form of the contract */
export function positionOf(cursor: string): Position {
  const [id, at = ''] = cursor.split('-')
  return { id: Number(id), at: Number.parseInt(at, 36) }
}

/** @throws ApiError 410 if the entry of a position is gone, and so may be others after it */
export async function assertKept(tables: Log, { id, at }: Position): Promise<void> {
  const entry = id === START.id ? undefined : await tables.auditEntries.find({ id }, ['at'])
  if (entry !== undefined && entry.at.getTime() === at) return
  const oldest = await oldestOf(tables)
  if (entry === undefined && (oldest?.id ?? 0) > Math.max(id, 1))
    throw new ApiError(410, 'The changes after this cursor are no longer kept: read the records again', {
      reason: 'cursor_expired',
    })
  if (id === START.id) return
  throw new ApiError(410, 'The database was restored or replaced since this cursor: read the records again', {
    reason: 'cursor_reset',
  })
}

/** The oldest entry that is kept. */
export const oldestOf = (tables: Log) => endOf(tables, false)

/** The newest entry; the start if there is none. */
export const newestOf = async (tables: Log) => (await endOf(tables, true)) ?? START

async function endOf({ auditEntries }: Log, descending: boolean): Promise<Position | undefined> {
  const order = { column: 'id', descending } as const
  const [row] = await auditEntries.page({ columns: ['id', 'at'], where: {}, order, take: 1 })
  return row && { id: row.id, at: row.at.getTime() }
}
