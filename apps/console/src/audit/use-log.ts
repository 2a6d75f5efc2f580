import type { Output } from '@resource/client'
import { type Input, MAX_SKIPPED } from '@resource/contract'
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { client } from '../client.ts'
import { queryClient } from '../query-client.ts'
import { useFeed } from '../table/live.ts'
import { type Entry, linesOf } from './entries.ts'

const LIMIT = 100
const INTERVAL_MS = 500
const FRESH_MS = 2_400

type Page = Output<'audit', 'list'> & {
  /** The request that the page has only the newest entries of, and the number of all of them. */
  cut?: { request_id: string; total: number }
}
type Data = InfiniteData<Page, string>
/** The filters by the name that they have in the page's URL. */
export type Filters = {
  [Name in 'when' | 'actor' | 'procedure' | 'resource' | 'record_id' | 'request_id']?: string | undefined
}

/** What the log is narrowed to. */
export type LogFilter = Omit<Input<'audit', 'list'>, 'page' | 'limit' | 'sort' | 'after' | 'count'>

/**
 * The log, newest first, page by page: a page ends with the whole of a request, however many entries it has. While it follows, entries of changes by anyone appear on top.
 *
 * @param filter the same object as long as it is the same filter
 */
export function useLog(filter: LogFilter, isFollowing: boolean) {
  const [freshAfter, setFreshAfter] = useState(Number.POSITIVE_INFINITY)
  const queryKey = ['audit', 'list', filter]
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => readPage(filter, pageParam, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
  const pages = query.data?.pages ?? []
  const entries = pages.flatMap(({ audit }) => audit)
  const totals = new Map(pages.flatMap(({ cut }) => (cut === undefined ? [] : [[cut.request_id, cut.total]])))

  const readNewer = async () => {
    const newer = await readPage(filter, '').catch(() => undefined)
    const newest = entries[0]?.id ?? 0
    if (newer === undefined || (newer.audit[0]?.id ?? 0) <= newest) return
    setFreshAfter(newest)
    queryClient.setQueryData<Data>(queryKey, (data) => data && merged(newer, data))
  }
  useFeed(() => void readNewer(), { intervalMs: INTERVAL_MS, isOn: isFollowing })
  useEffect(() => {
    const timer = setTimeout(() => setFreshAfter(Number.POSITIVE_INFINITY), FRESH_MS)
    return () => clearTimeout(timer)
  }, [freshAfter])

  return { query, lines: linesOf(entries, totals), isFresh: ({ id }: Entry) => id > freshAfter }
}

/** A page of entries. If it ends within a request, the next page begins after the first entry of that request. */
async function readPage(filter: LogFilter, after: string, signal?: AbortSignal): Promise<Page> {
  const page: Page = await client.audit.list.query({ ...filter, limit: LIMIT, after }, { signal })
  const request_id = page.audit.at(-1)?.request_id
  if (page.next === null || request_id == null) return page
  const request = { ...filter, request_id, limit: 1 }
  const { audit: [newest] = [], total = 0 } = await client.audit.list.query({ ...request, count: true }, { signal })
  const shown = page.audit.filter((entry) => entry.request_id === request_id).length
  if (newest === undefined || total <= shown || total > MAX_SKIPPED) return page
  const cut = { request_id, total }
  const { audit: [second] = [], next } = await client.audit.list.query({ ...request, page: total - 1 }, { signal })
  // Entries of concurrent requests may lie between, and are not skipped.
  if (next === null || newest.id - (second?.id ?? 0) !== total - 2) return { ...page, cut }
  const first = await client.audit.list.query({ ...filter, limit: 1, after: next }, { signal })
  return { ...page, next: first.next, cut }
}

/** The pages with the newest entries on the first. Concurrent writes may add one below the newest that is known. */
function merged(newer: Page, { pages: [first, ...rest], pageParams }: Data): Data {
  const known = new Set([first, ...rest].flatMap((page) => page?.audit.map(({ id }) => id) ?? []))
  const missing = newer.audit.filter(({ id }) => !known.has(id))
  // More may have come than one page has.
  if (first === undefined || (missing.length === newer.audit.length && newer.next !== null))
    return { pages: [newer], pageParams: [''] }
  const audit = [...missing, ...first.audit].sort((a, b) => b.id - a.id)
  return { pages: [{ ...first, audit }, ...rest], pageParams }
}
