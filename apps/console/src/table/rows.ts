import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { queryClient } from '../query-client.ts'
import { calls } from '../resources/calls.ts'
import type { Resource, Row } from '../resources/resource.ts'
import { listInputOf, type View } from './view.ts'

/** The rows of a view. */
export function useRows(resource: Resource, view: View) {
  const { noun } = resource
  const input = listInputOf(resource, view)
  return useQuery({
    queryKey: [noun, 'list', input],
    queryFn: async ({ signal }) => {
      const { next, total, searched, ...page } = await calls(noun).list.query(input, { signal })
      return { rows: page[noun] as Row[], next, total, searched }
    },
    placeholderData: keepPreviousData,
  })
}

/** The number of matching records. */
export function useCount({ noun }: Resource, filter: Record<string, unknown>) {
  return useQuery({
    queryKey: [noun, 'count', filter],
    queryFn: async ({ signal }) => {
      const { total } = await calls(noun).list.query({ ...filter, limit: 1, count: true }, { signal })
      return total ?? 0
    },
  })
}

/** One record. */
export function useRecord({ noun }: Resource, id: number) {
  return useQuery({
    queryKey: [noun, 'record', id],
    queryFn: ({ signal }) => calls(noun).get.query({ id }, { signal }),
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
