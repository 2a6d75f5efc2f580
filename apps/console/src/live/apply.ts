import type { Change } from '@resource/client'
import type { Query } from '@tanstack/react-query'
import { queryClient } from '../query-client.ts'
import { resources } from '../resources/index.ts'
import type { Noun, Row } from '../resources/resource.ts'
import { isNewer, liveKey, useLive } from '../table/live.ts'
import type { Listed } from '../table/queries.ts'
import { ownWrites } from '../table/turns.ts'

// Changes arrive in bursts, and each burst is rendered once.
const COLLECT_MS = 100
// The mark has faded by then.
const MARKED_MS = 2_500
const MAX_KEPT = 1_000
const FIGURES_INTERVAL_MS = 1_000
// The queries that depend on the records without containing them.
const FIGURES: unknown[] = ['summaries', 'count', 'history', 'neighbors']

let collected: Change[] = []
// The nouns whose figures are outdated, and when they changed last, while the figures are read.
let outdated: Map<Noun, string> | undefined
// When the last record appeared or vanished during writes of this page.
const changedWithOwn = new Map<Noun, number>()

/** Shows a change, soon and together with others. */
export function addChange(change: Change): void {
  if (collected.push(change) > 1) return
  setTimeout(() => {
    const changes = collected
    collected = []
    show(changes)
  }, COLLECT_MS)
}

/**
 * Reads the records and figures again that may be older than a position of the feed. A form keeps the record that it began with.
 *
 * @param position undefined if changes may be missing
 */
export function readAgain(position?: string): void {
  const nouns: unknown[] = resources.map(({ noun }) => noun)
  const predicate = ({ queryKey: [noun, kind] }: Query) => nouns.includes(noun) && kind !== 'row'
  for (const query of queryClient.getQueryCache().findAll({ predicate })) {
    whenRead(query, () => {
      const { cursor } = (query.state.data ?? {}) as Partial<Listed>
      if (position === undefined || cursor !== position) invalidate(query)
    })
  }
}

function show(changes: Change[]): void {
  const marks = new Map(useLive.getState().marks)
  const created = new Map(useLive.getState().created)
  const changed: string[] = []
  for (const [noun, ofNoun] of Map.groupBy(changes, ({ resource }) => resource)) {
    const latest = new Map(ofNoun.map((change) => [change.record_id, change]))
    const shown = patch(noun, latest)
    const own = ownWrites(noun)
    for (const { type, record_id, record } of ofNoun) {
      const isUpdate = type === `${noun}.updated`
      if (own !== undefined) {
        if (!isUpdate) void readAfter(noun, own)
        continue
      }
      const key = liveKey(noun, record_id)
      if (record === null) created.delete(key)
      else if (!isUpdate) created.set(key, performance.now())
      const fields = shown.get(record_id)
      if (fields === undefined) continue
      marks.set(key, { kind: record === null ? 'deleted' : 'changed', fields })
      if (record !== null) changed.push(key)
    }
    void readFigures(noun, ofNoun.at(-1)?.at ?? '')
  }
  const newest = <V>(kept: Map<string, V>) => new Map([...kept].slice(-MAX_KEPT))
  useLive.setState({ changes, marks: newest(marks), created: newest(created) })
  if (changed.length > 0) setTimeout(unmark, MARKED_MS, changed)
}

function unmark(keys: string[]): void {
  const marks = new Map(useLive.getState().marks)
  for (const key of keys) if (marks.get(key)?.kind === 'changed') marks.delete(key)
  useLive.setState({ marks })
}

/**
 * Replaces older versions in the cache.
 *
 * @returns the fields that differ, by the ids of the changed and deleted records in it
 */
function patch(noun: Noun, latest: Map<number, Change>): Map<number, string[]> {
  const shown = new Map<number, string[]>()
  const newer = (row: Row): Row => {
    const change = latest.get(row.id)
    if (change === undefined || !isNewer(change, row)) return row
    const after: Row = change.record === null ? row : { ...row, ...change.record }
    const fields = Object.keys(after).filter((field) => after[field] !== row[field])
    shown.set(row.id, fields)
    return after
  }
  const update = (query: Query) => {
    const { dataUpdatedAt: updatedAt, isInvalidated, status } = query.state
    // What is going to be read again stays outdated until then.
    if (isInvalidated || status !== 'success') return
    const { queryKey } = query
    const ofList = (list?: Listed) => list && { ...list, rows: list.rows.map(newer) }
    if (queryKey[1] === 'list') queryClient.setQueryData<Listed>(queryKey, ofList, { updatedAt })
    else queryClient.setQueryData<Row | null>(queryKey, (row) => row && newer(row), { updatedAt })
  }
  for (const query of recordsOf(noun)) {
    update(query)
    if (query.state.fetchStatus === 'fetching') whenRead(query, () => update(query))
  }
  return shown
}

/** Reads again what the refresh after the own writes has read too early. */
async function readAfter(noun: Noun, own: Promise<unknown>): Promise<void> {
  const isWaiting = changedWithOwn.has(noun)
  changedWithOwn.set(noun, performance.now())
  if (isWaiting) return
  await own
  const lastMs = changedWithOwn.get(noun) ?? 0
  changedWithOwn.delete(noun)
  for (const query of recordsOf(noun)) {
    const { readMs = 0 } = (query.state.data ?? {}) as Partial<Listed>
    if (readMs < lastMs) invalidate(query)
  }
}

/**
 * Reads the figures of a noun again, each at most once a second.
 *
 * @param at when the noun changed
 */
async function readFigures(changed: Noun, at: string): Promise<void> {
  if (outdated !== undefined) return void outdated.set(changed, at)
  outdated = new Map([[changed, at]])
  while (outdated.size > 0) {
    const since: Map<unknown, string> = outdated
    outdated = new Map()
    const predicate = ({ queryKey: [noun, kind] }: Query) => since.has(noun) && FIGURES.includes(kind)
    const find = () => queryClient.getQueryCache().findAll({ predicate, type: 'active' })
    // An answer that is on its way may be older than the change.
    await Promise.allSettled(find().map(({ promise }) => promise))
    await queryClient.invalidateQueries({ predicate, refetchType: refetchType() })
    await new Promise((resolve) => setTimeout(resolve, FIGURES_INTERVAL_MS))
    for (const { queryKey, state } of find()) {
      const [noun] = queryKey as [Noun]
      const { as_of } = (state.data ?? {}) as { as_of?: string }
      const last = since.get(noun) ?? ''
      // The service reuses summaries of large tables for some seconds.
      if (as_of !== undefined && as_of < last && !outdated.has(noun)) outdated.set(noun, last)
    }
  }
  outdated = undefined
}

/** The queries with records of a noun that follow changes. */
function recordsOf(noun: Noun): Query[] {
  const predicate = ({ queryKey: [of, kind] }: Query) =>
    of === noun && ['list', 'record', 'referred'].includes(String(kind))
  return queryClient.getQueryCache().findAll({ predicate })
}

/** Calls a function after the current read of a query, or at once if there is none. */
function whenRead(query: Query, act: () => void): void {
  if (query.state.fetchStatus !== 'fetching' || query.promise === undefined) act()
  else query.promise.then(act, () => {})
}

function invalidate({ queryKey }: Query): void {
  void queryClient.invalidateQueries({ queryKey, exact: true, refetchType: refetchType() })
}

/** A hidden page reads when it is shown again. */
function refetchType() {
  return document.hidden ? 'none' : 'active'
}
