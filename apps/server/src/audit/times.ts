import type { AuditEntry, Tables, Where } from '@resource/database'

// Not every engine knows an earlier time.
const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z')
// Writes that run side by side, and servers whose clocks differ, take ids in another order than times.
const DISORDER_MS = 60_000

/**
 * The entries of a time, from `from` on and before `to`, as a condition that the primary key serves. Ids grow with time,
 * so an index of times, which every write would pay for, is not needed to find them.
 */
export async function idsOf(
  db: Tables,
  from: string | undefined,
  to: string | undefined,
): Promise<Pick<Where<AuditEntry>, 'id' | 'at'>> {
  if (from === undefined && to === undefined) return {}
  const [gte, lt] = [dateOf(from), dateOf(to)]
  const bound = async (time: Date | undefined, disorder: number) =>
    time && (await firstSince(db, Math.max(time.getTime() + disorder, EARLIEST)))
  return { id: { gte: await bound(gte, -DISORDER_MS), lt: await bound(lt, DISORDER_MS) }, at: { gte, lt } }
}

/** The id from which on entries are of a time, in ms, or later. Some thirty look-ups by id find it among any number. */
export async function firstSince({ auditEntries }: Tables, time: number): Promise<number> {
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

function dateOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(Math.max(Date.parse(text), EARLIEST))
}
