import type { Change } from '@resource/client'
import { countsOf, type Entry, type Line, linesOf, recordName, verbOf, whoOf } from '../audit/entries.ts'
import { readPart, START } from '../audit/log.ts'
import { resources } from '../resources/index.ts'
import { nameOf } from '../resources/resource.ts'

/** What a caller did to records, with one request or with the requests of one group. */
export interface Happened extends Pick<Entry, 'before' | 'after'> {
  key: string
  /** Undefined if only administrators may know. */
  who: { actor: string; name: string } | undefined
  verb: string
  /** The name of the record, or how many there are. */
  what: string
  noun: string
  /** The record, or the last of several. */
  id: number
  isOne: boolean
  at: string
  /** Who proposed it. */
  proposer?: string
}

/** The number of lines. */
export const SHOWN = 8

/** The last things that happened, from the audit log. A log-in changes no record. */
export async function readRecent(signal: AbortSignal): Promise<Happened[]> {
  const wanted = { lines: SHOWN, isShown: ({ resource }: Entry) => resource !== 'sessions' }
  const { audit, totals } = await readPart({}, START, signal, wanted)
  return linesOf(audit, new Map(totals)).slice(0, SHOWN).map(fromLine)
}

/** What happened by the feed of changes, which does not tell who did it. */
export function fromFeed({ cursor, type, at, resource: noun, record_id, record }: Change): Happened {
  const verb = type.slice(type.lastIndexOf('.') + 1)
  const resource = resources.find((resource) => resource.noun === noun)
  const what = resource === undefined || record === null ? `${noun} ${record_id}` : nameOf(resource, record)
  const passive = { who: undefined, verb: `${verb[0]?.toUpperCase()}${verb.slice(1)}` }
  return { ...passive, what, key: cursor, noun, id: record_id, isOne: true, at, before: null, after: record }
}

function fromLine(line: Line): Happened {
  const { key, entry, total } = line
  const { proposed_by, resource: noun, record_id: id, at, before, after } = entry
  const isOne = total === 1
  const verb = verbOf(line)
  return {
    ...{ key, who: { actor: entry.actor, name: whoOf(entry) }, verb: verb === 'undid' ? 'undid a change of' : verb },
    ...{ what: isOne ? recordName(entry) : countsOf(line), noun, id, isOne, at, before, after },
    ...(proposed_by !== null && { proposer: proposed_by }),
  }
}
