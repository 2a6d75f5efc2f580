import type { Change, Output } from '@resource/client'
import { client } from '../client.ts'
import { actorName } from '../table/actor.ts'

type AuditEntry = Output<'audit', 'list'>['audit'][number]

/** A record before and after a change. */
export type Image = Pick<AuditEntry, 'before' | 'after'>

/** What a caller did to records of one noun, with one request or with the requests of one group. */
export interface Happened extends Image {
  key: string
  /** Undefined if only administrators may know. */
  who: string | undefined
  verb: string
  noun: string
  /** The record, or the last of several. */
  id: number
  count: number
  at: string
  /** Who proposed it. */
  proposer?: string
}

/** The number of lines. */
export const SHOWN = 8
const PAGE = 100
// A log-in changes no record.
const SESSIONS = 'sessions'
// A large write fills a page with one line.
const MAX_PAGES = SHOWN

/** The last things that happened, from the audit log. */
export async function readRecent(signal: AbortSignal): Promise<Happened[]> {
  const all: Happened[] = []
  let at_lt: string | undefined
  for (let page = 0; page < MAX_PAGES && all.length < SHOWN; page++) {
    const { audit } = await client.audit.list.query({ limit: PAGE, ...(at_lt && { at_lt }) }, { signal })
    for (const entry of audit) {
      if (entry.resource === SESSIONS) continue
      const key = keyOf(entry)
      const same = all.find((one) => one.key === key)
      if (same === undefined) all.push(fromEntry(entry, key))
      else same.count++
    }
    const last = audit.at(-1)
    if (last === undefined || audit.length < PAGE) break
    const cut = all.find(({ key }) => key === keyOf(last))
    const whole = await readWhole(last, signal)
    if (cut !== undefined) cut.count = Math.max(cut.count, whole.count)
    at_lt = whole.at
  }
  return all.slice(0, SHOWN)
}

/** The number of entries of one line, and the time of the first, for a line that a page of the log does not hold. */
async function readWhole({ resource, procedure, group, at }: AuditEntry, signal: AbortSignal) {
  const sameTime = { at_gte: at, at_lt: new Date(Date.parse(at) + 1).toISOString() }
  const filter = { resource, procedure, ...(group === null ? sameTime : { group }) }
  const input = { ...filter, sort: 'id_asc' as const, limit: 1, count: true }
  const { audit, total } = await client.audit.list.query(input, { signal })
  return { count: total ?? 0, at: audit[0]?.at ?? at }
}

/** What happened by the feed of changes, which does not tell who did it. */
export function fromFeed({ cursor, type, at, resource, record_id, record }: Change): Happened {
  const verb = type.slice(type.lastIndexOf('.') + 1)
  const passive = { who: undefined, verb: `${verb[0]?.toUpperCase()}${verb.slice(1)}` }
  return { ...passive, key: cursor, noun: resource, id: record_id, count: 1, at, before: null, after: record }
}

function fromEntry(entry: AuditEntry, key: string): Happened {
  const { proposed_by, resource, record_id, at, before, after } = entry
  return {
    key,
    who: actorName(entry),
    verb: verbOf(entry),
    noun: resource,
    id: record_id,
    count: 1,
    at,
    before,
    after,
    ...(proposed_by !== null && { proposer: proposed_by }),
  }
}

/** Equal for the entries of one line. */
function keyOf(entry: AuditEntry): string {
  const { id, group, request_id, resource } = entry
  return [group ?? request_id ?? id, resource, verbOf(entry)].join(' ')
}

function verbOf({ before, after, reverses }: AuditEntry): string {
  if (reverses !== null) return 'undid a change of'
  if (before === null) return 'created'
  return after === null ? 'deleted' : 'changed'
}
