import { isServiceError } from '@resource/openapi/client'
import type { Mutation, Query, QueryClient } from '@tanstack/react-query'
import type { Change } from './changes.ts'
import type { Client } from './index.ts'
import { ANY_NOUN } from './query.ts'

// However many changes there are, a query is fetched again every half second at most.
const INTERVAL_MS = 500
/** The nouns whose records the changes do not contain. */
const NOT_FOLLOWED = ['changes', 'keys', 'previews', 'proposals', 'reversals', 'sessions']

/**
 * Keeps cached queries true while others write, over one stream, until `signal` aborts. A changed record replaces an older
 * version in its `get` query; the other queries of its noun are invalidated. Mutations of this cache invalidate theirs themselves.
 */
export async function keepLive(client: Client, queryClient: QueryClient, signal: AbortSignal): Promise<void> {
  const add = refetches(queryClient, signal)
  while (!signal.aborted) {
    let hasBegun = false
    const onPosition = (position: string) => {
      if (!hasBegun) refetchOlder(queryClient, position)
      hasBegun = true
    }
    try {
      for await (const change of client.changes({ signal, onPosition })) {
        const { version, record } = change
        const cached = queryClient.getQueryData<{ version: number }>(getKey(change))
        if (record !== null && (cached?.version ?? version) < version) queryClient.setQueryData(getKey(change), record)
        add(change)
      }
    } catch (error) {
      if (!isServiceError(error)) throw error
      // After a lost position, everything may have changed; after a 401, somebody may log in.
      if (error.code === 'unauthorized') await nextSuccess(queryClient, signal)
      else if (error.code !== 'gone') return
    }
  }
}

/** Fetches the queries again that may be older than the first position of the stream. */
function refetchOlder(queryClient: QueryClient, position: string): void {
  const predicate = ({ queryKey }: Query) => ![undefined, ...NOT_FOLLOWED].includes(pathOf(queryKey)[0])
  for (const query of queryClient.getQueryCache().findAll({ predicate })) {
    const refetch = () => {
      if (!isAt(query, position)) renew(queryClient, query)
    }
    if (query.state.fetchStatus === 'fetching') query.promise?.then(refetch, () => undefined)
    else refetch()
  }
}

/** Whether a query has the pages of a list as they are at a position. */
function isAt({ state }: Query, position: string): boolean {
  const { pages = [state.data] } = (state.data ?? {}) as { pages?: unknown[] }
  return pages.every((page) => (page as { changes_cursor?: string } | undefined)?.changes_cursor === position)
}

/** @returns adds a change, whose queries are then fetched again unless they have it */
function refetches(queryClient: QueryClient, signal: AbortSignal): (change: Change) => void {
  let changes = new Map<string, Change>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let lastMs = Number.NEGATIVE_INFINITY
  const flush = () => {
    timer = undefined
    lastMs = performance.now()
    const queries = queryClient.getQueryCache()
    const mutations = queryClient.getMutationCache().getAll()
    const held = new Map<string, Change>()
    // The nouns to fetch again, and the positions of their last changes.
    const stale = new Map<string, string>()
    for (const [key, change] of changes) {
      // Only the answer of a mutation shows whether the change is its own.
      if (mutations.some((mutation) => isRunning(mutation, change.resource))) held.set(key, change)
      else if (!mutations.some((mutation) => isOf(mutation, change))) {
        stale.set(change.resource, change.cursor).set('audit', change.cursor)
        const query = queries.find({ queryKey: getKey(change) })
        if (query !== undefined && (change.record === null || query.state.data === undefined)) renew(queryClient, query)
      }
    }
    changes = held
    for (const [noun, position] of stale) {
      // Lists have a write by filter of this page, whose answer does not name the records.
      const predicate = (query: Query) => pathOf(query.queryKey)[1] !== 'get' && !isAt(query, position)
      for (const query of queries.findAll({ queryKey: [[noun]], predicate })) renew(queryClient, query)
    }
    if (held.size > 0) schedule()
  }
  const schedule = () => {
    timer ??= setTimeout(flush, Math.max(0, lastMs + INTERVAL_MS - performance.now()))
  }
  signal.addEventListener('abort', () => clearTimeout(timer))
  return (change) => {
    const key = `${change.resource} ${change.record_id}`
    changes.delete(key)
    changes.set(key, change)
    schedule()
  }
}

function isRunning({ state, options }: Mutation, noun: string): boolean {
  const [changed = ''] = pathOf(options.mutationKey)
  return state.status === 'pending' && !state.isPaused && [noun, ...ANY_NOUN].includes(changed)
}

/** Whether a mutation made the change, or has read it. */
function isOf({ state, options }: Mutation, { resource, record_id, version, record }: Change): boolean {
  const [noun, verb] = pathOf(options.mutationKey)
  if (noun !== resource || state.status !== 'success') return false
  const { id } = (state.variables ?? {}) as { id?: number }
  return record === null ? verb === 'delete' && id === record_id : hasVersion(state.data, record_id, version)
}

function hasVersion(answer: unknown, id: number, version: number): boolean {
  if (typeof answer !== 'object' || answer === null) return false
  const own = answer as { id?: number; version?: number }
  if (own.id === id && (own.version ?? 0) >= version) return true
  return Object.values(answer).some((value) => hasVersion(value, id, version))
}

/** The noun and the verb of a key. */
function pathOf([path]: readonly unknown[] = []): string[] {
  return Array.isArray(path) ? path : []
}

function getKey({ resource, record_id }: Change) {
  return [[resource, 'get'], { input: { id: record_id }, type: 'query' }]
}

/** Fetches a query again: after its first fetch, if that is under way, because TanStack Query would not begin another. */
function renew(queryClient: QueryClient, { queryKey, state, promise }: Query): void {
  const again = () => void queryClient.invalidateQueries({ queryKey, exact: true })
  if (state.data === undefined && state.fetchStatus === 'fetching') promise?.then(again, again)
  else again()
}

/** Waits until a query succeeds. */
function nextSuccess(queryClient: QueryClient, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stop()
      resolve()
    }
    const stop = queryClient.getQueryCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'success' && !event.action.manual) end()
    })
    signal.addEventListener('abort', end)
  })
}
