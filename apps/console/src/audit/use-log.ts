import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { queryClient } from '../query-client.ts'
import { useFeed } from '../table/live.ts'
import { type Entry, linesOf } from './entries.ts'
import { type LogFilter, type Part, type Position, readPart, START } from './log.ts'

const INTERVAL_MS = 500
const FRESH_MS = 2_400

type Data = InfiniteData<Part, Position>
/** The filters by the name that they have in the page's URL. */
export type Filters = {
  [Name in 'when' | 'actor' | 'procedure' | 'resource' | 'record_id' | 'request_id']?: string | undefined
}

/**
 * The log, newest first, part by part. While it follows, entries of changes by anyone appear on top.
 *
 * @param filter the same object as long as it is the same filter
 */
export function useLog(filter: LogFilter, isFollowing: boolean) {
  const [freshAfter, setFreshAfter] = useState(Number.POSITIVE_INFINITY)
  const queryKey = ['audit', 'list', filter]
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => readPart(filter, pageParam, signal),
    initialPageParam: START,
    getNextPageParam: ({ next }) => next,
  })
  const parts = query.data?.pages ?? []
  const entries = parts.flatMap(({ audit }) => audit)
  // The first part has the newest numbers.
  const totals = new Map(parts.toReversed().flatMap(({ totals }) => totals))

  const readNewer = async () => {
    const newer = await readPart(filter, START).catch(() => undefined)
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

/** The parts with the newest entries in the first. Concurrent writes may add one below the newest that is known. */
function merged(newer: Part, { pages: [first, ...rest], pageParams }: Data): Data {
  const known = new Set([first, ...rest].flatMap((page) => page?.audit.map(({ id }) => id) ?? []))
  const missing = newer.audit.filter(({ id }) => !known.has(id))
  // More may have come than one part has.
  if (first === undefined || (missing.length === newer.audit.length && newer.next !== null))
    return { pages: [newer], pageParams: [START] }
  const audit = [...missing, ...first.audit].sort((a, b) => b.id - a.id)
  return { pages: [{ ...first, audit, totals: [...first.totals, ...newer.totals] }, ...rest], pageParams }
}
