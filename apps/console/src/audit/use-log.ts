import type { Output } from '@resource/client'
import type { Input } from '@resource/contract'
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { client } from '../client.ts'
import { queryClient } from '../query-client.ts'
import { useFeed } from '../table/live.ts'
import type { Entry } from './entries.ts'

const LIMIT = 100
const INTERVAL_MS = 500
const FRESH_MS = 2_400

type Page = Output<'audit', 'list'>
type Data = InfiniteData<Page, string>
/** The filters by the name that they have in the page's URL. */
export type Filters = {
  [Name in 'when' | 'actor' | 'procedure' | 'resource' | 'record_id' | 'request_id']?: string | undefined
}

/** What the log is narrowed to. */
export type LogFilter = Omit<Input<'audit', 'list'>, 'page' | 'limit' | 'sort' | 'after' | 'count'>

/**
 * The log, newest first, page by page. While it follows, entries of changes by anyone appear on top.
 *
 * @param filter the same object as long as it is the same filter
 */
export function useLog(filter: LogFilter, isFollowing: boolean) {
  const [freshAfter, setFreshAfter] = useState(Number.POSITIVE_INFINITY)
  const queryKey = ['audit', 'list', filter]
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      client.audit.list.query({ ...filter, limit: LIMIT, after: pageParam }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
  const entries = query.data?.pages.flatMap(({ audit }) => audit) ?? []

  const readNewer = async () => {
    const newer = await client.audit.list.query({ ...filter, limit: LIMIT, after: '' }).catch(() => undefined)
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

  return { query, entries, isFresh: ({ id }: Entry) => id > freshAfter }
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
