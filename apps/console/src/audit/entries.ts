import type { Output } from '@resource/client'
import { columnsOf, type ShownColumn } from '../changes/columns.ts'
import { resources } from '../resources/index.ts'
import { nameOf, type Resource } from '../resources/resource.ts'
import { actorName } from '../table/actor.ts'
import { formatCount } from '../ui/format.ts'

export type Entry = Output<'audit', 'list'>['audit'][number]

/** The entries of one request, or of one group of requests, newest first: a line of the log. */
export interface Line {
  key: string
  entry: Entry
  entries: Entry[]
  /** The number of its entries, of which the page may have only some. */
  total: number
  /** Whether later requests that are on the page have undone it. */
  isUndone: boolean
  /** Of a change of one record: its later changes on the page that are not undone. */
  newer: Entry[]
}

/** Equal for the entries of one line. */
export function keyOf({ id, group, request_id }: Entry): string {
  return group ?? request_id ?? `entry ${id}`
}

/** The lines of entries, newest first. @param totals the numbers of entries of lines that the page has only some of */
export function linesOf(entries: Entry[], totals: ReadonlyMap<string, number>): Line[] {
  const lines = Map.groupBy(entries, keyOf)
  const totalOf = (key: string) => totals.get(key) ?? lines.get(key)?.length ?? 0
  /** The lines that have undone requests, by the requests. */
  const undone = new Map<string | null, string>()
  for (const entry of entries) {
    // A reversal that was undone itself undoes nothing.
    if (entry.reverses !== null && !undone.has(entry.request_id)) undone.set(entry.reverses, keyOf(entry))
  }
  const effective = new Map<string, Entry[]>()
  return [...lines].flatMap(([key, own]): Line[] => {
    const [entry] = own
    if (entry === undefined) return []
    const total = totalOf(key)
    const by = own.map(({ request_id }) => undone.get(request_id))
    // The page may have only some of the requests that a line has undone.
    const isUndone = by.every(Boolean) || by.some((key) => key !== undefined && totalOf(key) >= total)
    const newer = effective.get(recordOf(entry)) ?? []
    // What is undone and its reversal cancel each other.
    if (!isUndone && (entry.reverses === null || !undone.has(entry.reverses)))
      for (const one of own) effective.set(recordOf(one), [...(effective.get(recordOf(one)) ?? []), one])
    return [{ key, entry, entries: own, total, isUndone, newer }]
  })
}

function recordOf({ resource, record_id }: Entry): string {
  return `${resource} ${record_id}`
}

/** The name of who made a change. That of a subject is without the word. */
export function whoOf(entry: Pick<Entry, 'actor' | 'actor_detail'>): string {
  const [, subject] = /^subject (.*)$/.exec(entry.actor) ?? []
  return subject ?? actorName(entry)
}

const VERBS: Record<string, string | undefined> = {
  'keys.revoke': 'revoked',
  'keys.rotate': 'rotated',
  'sessions.create': 'logged in',
  'sessions.end': 'logged out',
}

/** What a line did: `changed`, also if it did several things. */
export function verbOf({ entries }: Pick<Line, 'entries'>): string {
  const [verb = '', ...others] = new Set(entries.map(verbOfEntry))
  return others.length === 0 ? verb : 'changed'
}

function verbOfEntry({ procedure, before, after, reverses, is_damaged }: Entry): string {
  if (reverses !== null) return 'undid'
  const verb = VERBS[procedure]
  if (verb !== undefined) return verb
  if (before === null && !is_damaged) return 'created'
  return after === null && !is_damaged ? 'deleted' : 'changed'
}

/** The resource of an entry, if it has a page. */
export function resourceOf({ resource }: Entry): Resource | undefined {
  return resources.find(({ noun }) => noun === resource)
}

/** The name of the record of an entry: `Desk lamp`, or `key operator`. A log-in needs none. */
export function recordName(entry: Entry): string {
  const record = entry.after ?? entry.before
  const resource = resourceOf(entry)
  if (entry.procedure in VERBS && entry.resource === 'sessions') return ''
  if (record === null) return `${entry.resource} ${entry.record_id}`
  if (resource === undefined)
    return `${entry.resource === 'keys' ? 'key' : entry.resource} ${record.name ?? entry.record_id}`
  return nameOf(resource, record)
}

/** `1,284 items`, of several resources `3 users, 12 orders`. */
export function countsOf({ entries, total }: Line): string {
  const byNoun = Object.entries(Object.groupBy(entries, ({ resource }) => resource))
  return byNoun
    .map(([noun, own = []]) => {
      const { one, many } = resources.find((resource) => resource.noun === noun) ?? { one: noun, many: noun }
      return formatCount(byNoun.length === 1 ? total : own.length, { one, many })
    })
    .join(', ')
}

/** The number of fields that a line shows. */
export const MAX_FIELDS = 3

/** Whether a line shows everything that an entry changed. */
export function isShort(entry: Entry): boolean {
  return entry.before !== null && entry.after !== null && shownFields(entry).length <= MAX_FIELDS
}

/** The fields that an entry has to show: those that a change has set, or those that a new or deleted record has. */
export function shownFields(entry: Entry): ShownColumn[] {
  const { before, after } = entry
  return columnsOf(entry.resource, [entry]).filter(({ field }) => {
    if (field === 'version' || field === 'updated_at') return false
    if (before !== null && after !== null) return before[field] !== after[field]
    return (after ?? before)?.[field] != null
  })
}
