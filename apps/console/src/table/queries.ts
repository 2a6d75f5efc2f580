import { NotFoundError } from '@resource/client'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { queryClient } from '../query-client.ts'
import { calls, type Page, SHORTEST_WORD } from '../resources/calls.ts'
import { readReferred } from '../resources/labels.ts'
import { isId, type Resource, type Row } from '../resources/resource.ts'
import { summariesOf } from '../resources/summaries.ts'
import { useLater } from '../ui/later.tsx'
import { filtersOf, listInputOf, type View } from './view.ts'

/** What is cached of a view. */
export type Listed = NonNullable<ReturnType<typeof useRows>['data']>

/**
 * The rows of a view. The first is the record whose id is the search, if there is one. Those of another view render in the
 * background: their arrival must not delay the paint of the press that asked for them.
 */
export function useRows(resource: Resource, view: View) {
  const { noun } = resource
  const input = listInputOf(resource, view)
  const query = useQuery({
    queryKey: [noun, 'list', input],
    queryFn: async ({ signal }) => {
      // Changes that arrived later may not be in the rows.
      const readMs = performance.now()
      const isShort = view.q !== undefined && String(view.q).length < SHORTEST_WORD
      const [page, found] = await Promise.all([
        isShort ? { [noun]: [], next: null, total: 0 } : calls(noun).list.query(input, { signal }),
        input.page === 1 && isId(view.q) ? findById(resource, view, signal) : undefined,
      ])
      const { next, total, searched, changes_cursor: cursor } = page as Page
      const facts = { list: JSON.stringify(input), next, searched, readMs, cursor }
      const rows = page[noun] as Row[]
      await readReferred(resource, found === undefined ? rows : [found, ...rows])
      if (found === undefined) return { ...facts, rows, total, matching: total }
      const others = rows.filter(({ id }) => id !== found.id)
      const isMore = others.length === rows.length
      return { ...facts, rows: [found, ...others], total: (total ?? 0) + Number(isMore), matching: total }
    },
    placeholderData: keepPreviousData,
  })
  const rendered = useLater(query.data)
  const data = rendered?.list === query.data?.list ? query.data : rendered
  return { ...query, data, isPlaceholderData: query.isPlaceholderData || data !== query.data }
}

/** The record whose id is the search, unless another filter excludes it. */
async function findById(resource: Resource, view: View, signal: AbortSignal): Promise<Row | undefined> {
  const { q, ...others } = filtersOf(resource, view)
  try {
    const found = await calls(resource.noun).get.query({ id: Number(q) }, { signal })
    return Object.entries(others).every(([name, value]) => found[name] === value) ? found : undefined
  } catch (error) {
    if (error instanceof NotFoundError) return undefined
    throw error
  }
}

/** The number of matching records. That of all has the query of the overview. */
export function useCount(resource: Pick<Resource, 'noun'>, filter: Record<string, unknown>, enabled = true) {
  const isFiltered = Object.keys(filter).length > 0
  const all = useQuery({
    ...summariesOf(resource.noun, {}),
    select: ({ summaries }) => summaries[0]?.count ?? 0,
    enabled: enabled && !isFiltered,
  })
  const matching = useQuery({ ...countOf(resource, filter), enabled: enabled && isFiltered })
  return isFiltered ? matching : all
}

/** The query for the number of matching records. */
export function countOf({ noun }: Pick<Resource, 'noun'>, filter: Record<string, unknown>) {
  return queryOptions({
    queryKey: [noun, 'count', filter],
    queryFn: async ({ signal }) => {
      const { total } = await calls(noun).list.query({ ...filter, limit: 1, count: true }, { signal })
      return total ?? 0
    },
  })
}

/** One record. */
export function useRecord({ noun }: Resource, id: number, enabled = true) {
  return useQuery({
    queryKey: [noun, 'record', id],
    queryFn: ({ signal }) => calls(noun).get.query({ id }, { signal }),
    enabled,
  })
}

/** One record for a form, always read from the service. */
export function useRow({ noun }: Resource, id: number) {
  return useQuery({
    queryKey: [noun, 'row', id],
    queryFn: ({ signal }) => calls(noun).get.query({ id }, { signal }),
    // A form starts with the stored record and ignores later changes, which appear as a conflict on save.
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
}

/** Refetches all queries of the noun. */
export function refresh({ noun }: Resource): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: [noun] })
}
