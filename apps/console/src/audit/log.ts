import { type Input, MAX_SKIPPED } from '@resource/contract'
import { client } from '../client.ts'
import { type Entry, keyOf, linesOf } from './entries.ts'

const LIMIT = 100
const LINES = 20
// The entries of one large write are a single line.
const MAX_STEPS = 8

/** What the log is narrowed to. */
export type LogFilter = Omit<Input<'audit', 'list'>, 'page' | 'limit' | 'sort' | 'after' | 'count'>

/** Where a part of the log begins. */
export interface Position {
  after: string
  /** The line that it begins within, and the number of entries of that line before it. */
  within?: { key: string; passed: number }
}

/** A part of the log, newest first. */
export interface Part {
  audit: Entry[]
  /** The numbers of entries of the lines of which it has only the newest ones. */
  totals: [key: string, total: number][]
  /** The position after it; null at the end of the log. */
  next: Position | null
}

export const START: Position = { after: '' }

interface Wanted {
  lines?: number
  isShown?: (entry: Entry) => boolean
}

/** The next lines of the log, at least so many if it has them. Of a line that fills a page it has the newest entries only. */
export async function readPart(
  filter: LogFilter,
  from: Position,
  signal?: AbortSignal,
  { lines = LINES, isShown = () => true }: Wanted = {},
): Promise<Part> {
  const part: Part = { audit: [], totals: [], next: from }
  for (let step = 0; step < MAX_STEPS && part.next !== null; step++) {
    const { after, within } = part.next
    const { audit, next } = await client.audit.list.query({ ...filter, limit: LIMIT, after }, { signal })
    part.audit.push(...audit.filter(isShown))
    const last = audit.at(-1)
    part.next = next === null ? null : { after: next }
    if (next === null || last === undefined) break
    const key = keyOf(last)
    const known = audit.filter((entry) => keyOf(entry) === key).length + (within?.key === key ? within.passed : 0)
    const passed = await passLine(filter, last, known, next, signal)
    if (passed !== undefined) {
      part.totals.push([key, passed.total])
      part.next = passed.next
    }
    if (linesOf(part.audit, new Map()).length >= lines) break
  }
  return part
}

/**
 * Passes the entries of a line that follow one of them. Entries of concurrent requests may lie between, and are not passed.
 *
 * @param known the number of entries of the line up to that one
 * @param after the position after it
 * @returns undefined if the line has no more
 */
async function passLine(filter: LogFilter, last: Entry, known: number, after: string, signal?: AbortSignal) {
  const { group, request_id } = last
  if (group === null && request_id === null) return undefined
  const line = { ...filter, ...(group === null ? { request_id: request_id ?? '' } : { group }), limit: 1 }
  const nth = (page: number) => client.audit.list.query({ ...line, page, count: page === 1 }, { signal })
  const { total = 0 } = await nth(1)
  if (total <= known) return undefined
  const at = (after: string, passed: number): Position => ({ after, within: { key: keyOf(last), passed } })
  let next = at(after, known)
  // The last one has no cursor among its line: the next part begins with it.
  let [low, high] = [known, Math.min(total - 1, MAX_SKIPPED)]
  // As a rule, nothing lies between.
  for (let guess = high; low < high; guess = Math.ceil((low + high) / 2)) {
    const found = await nth(guess)
    if (found.next !== null && last.id - (found.audit[0]?.id ?? 0) === guess - known) {
      low = guess
      next = at(found.next, guess)
    } else high = guess - 1
  }
  return { total, next }
}
