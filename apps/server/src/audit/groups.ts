import { createHash } from 'node:crypto'
import { grouped, type Output } from '@resource/contract'
import { type Tables, timestamp } from '@resource/database'
import { ApiError, uuidOf } from '@resource/openapi'
import { requestedMs } from '../http/request-id.ts'

const MAX_LISTED = 1_000
// Bounds the memory.
const MAX_REQUESTS = 100_000

/** The requests of a group that are not undone, newest first. @param resources those whose changes can be undone */
export async function openRequests(
  read: Tables,
  group: string,
  resources: string[],
): Promise<Output<'reversals', 'open'>> {
  const where = { group_id: group, resource: { in: resources } }
  const made = await read.auditEntries.summarize({ where, by: 'request_id', of: 'id', limit: MAX_REQUESTS + 1 })
  if (made.length > MAX_REQUESTS) {
    throw new ApiError(409, `The group has more than ${grouped(MAX_REQUESTS)} requests: undo each by its id`)
  }
  const newestFirst = made.toSorted((a, b) => Number(b.maximum) - Number(a.maximum))
  const open = []
  for (let start = 0; start < newestFirst.length; start += MAX_LISTED) {
    const some = newestFirst.slice(start, start + MAX_LISTED)
    const undone = await undoneOf(
      read,
      some.map(({ value }) => String(value)),
    )
    open.push(...some.filter(({ value, count }) => (undone.get(String(value)) ?? 0) < count))
  }
  const requests = open.slice(0, MAX_LISTED).map(({ value, count }) => {
    const request_id = String(value)
    return { request_id, at: timestamp(new Date(requestedMs(request_id))), changes: count }
  })
  return { requests, total: open.length, group: groupOfReversals(group) }
}

/**
 * Those of some requests whose last reversal is not undone itself, with the number of undone changes: a caller undoes those that he
 * has access to.
 */
async function undoneOf(read: Tables, requests: string[]): Promise<Map<string, number>> {
  const where = { reverses: { in: requests } }
  const reversed = await read.auditEntries.summarize({ where, by: 'reverses', of: 'id', limit: requests.length })
  if (reversed.length === 0) return new Map()
  const ids = reversed.map(({ maximum }) => Number(maximum))
  const columns = ['id', 'request_id', 'reverses'] as const
  const order = { column: 'id', descending: false } as const
  const last = await read.auditEntries.page({ columns, where: { id: { in: ids } }, order, take: ids.length })
  const undone = await undoneOf(
    read,
    last.map(({ request_id }) => String(request_id)),
  )
  const isOpen = new Set(last.flatMap(({ request_id, reverses }) => (undone.has(String(request_id)) ? [reverses] : [])))
  return new Map(
    reversed.flatMap(({ value, count }): [string, number][] =>
      isOpen.has(String(value)) ? [] : [[String(value), count]],
    ),
  )
}

/** The records whose changes by a request are undone, as {@link recordKey}: by a reversal that is not undone itself. */
export async function undoneRecords(read: Tables, request: string): Promise<Set<string>> {
  const columns = ['id', 'request_id', 'resource', 'record_id'] as const
  const order = { column: 'id', descending: false } as const
  const take = Number.MAX_SAFE_INTEGER
  const entries = await read.auditEntries.page({ columns, where: { reverses: request }, order, take })
  const redone = new Map<string, Set<string>>()
  for (const id of new Set(entries.map(({ request_id }) => String(request_id))))
    redone.set(id, await undoneRecords(read, id))
  return new Set(
    entries.flatMap(({ request_id, resource, record_id }) => {
      const key = recordKey(resource, record_id)
      return redone.get(String(request_id))?.has(key) ? [] : [key]
    }),
  )
}

/** What is equal for the changes of one record. */
export function recordKey(noun: string, id: number): string {
  return `${noun} ${id}`
}

/** The same for each run of an interrupted undo, so that its reversals are one group. */
function groupOfReversals(group: string): string {
  return uuidOf(createHash('sha256').update(`reversals of ${group}`).digest('hex'))
}
