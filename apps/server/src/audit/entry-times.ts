import type { AuditEntry, Tables, Where } from '@resource/database'
import { requestedMs } from '../http/request-id.ts'
import { EARLIEST } from '../store/row-mapping.ts'

// Concurrent writes, and servers with different clocks, assign ids in an order that differs from that of the times.
const DISORDER_MS = 60_000
// Entries are as late as a write can be, and servers may have different clocks.
const EARLIER_MS = 60_000
const LATER_MS = 10 * 60_000

/**
 * The condition for entries from `from` (inclusive) to `to` (exclusive), as a range of ids that the primary key serves. Ids
 * grow with time, so no index on times is needed, which would cost every write.
 */
export async function timeCondition(
  db: Tables,
  from: string | undefined,
  to: string | undefined,
): Promise<Pick<Where<AuditEntry>, 'id' | 'at'>> {
  if (from === undefined && to === undefined) return {}
  const [gte, lt] = [from, to].map((text) => (text === undefined ? undefined : new Date(text)))
  const bound = async (time: Date | undefined, disorder: number) =>
    time && (await firstIdSince(db, Math.max(time.getTime() + disorder, EARLIEST)))
  return { id: { gte: await bound(gte, -DISORDER_MS), lt: await bound(lt, DISORDER_MS) }, at: { gte, lt } }
}

/** A range of ids that has all entries of a request, by its time. */
export async function idsAround(db: Tables, request_id: string): Promise<{ gte: number; lt: number }> {
  const time = requestedMs(request_id)
  return { gte: await firstIdSince(db, time - EARLIER_MS), lt: await firstIdSince(db, time + LATER_MS) }
}

/** The first id whose entry has `time` (ms) or later. A binary search: about 30 lookups by id for any number of entries. */
export async function firstIdSince({ auditEntries }: Tables, time: number): Promise<number> {
  const next = async (id: number) =>
    (await auditEntries.page({ where: { id: { gte: id } }, order: { column: 'id', descending: false }, take: 1 }))[0]
  const [last] = await auditEntries.page({ where: {}, order: { column: 'id', descending: true }, take: 1 })
  let low = 1
  let high = (last?.id ?? 0) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const entry = await next(middle)
    if (entry === undefined || entry.at.getTime() >= time) high = middle
    else low = entry.id + 1
  }
  return low
}
