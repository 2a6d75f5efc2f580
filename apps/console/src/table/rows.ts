import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { queryClient } from '../query-client.ts'
import { getRow, listRows } from '../resources/calls.ts'
import type { Resource } from '../resources/resource.ts'
import { listInputOf, type View } from './view.ts'

/** The rows of a view. */
export function useRows(resource: Resource, view: View) {
  const { noun } = resource
  const input = listInputOf(resource, view)
  return useQuery({
    queryKey: [noun, 'list', input],
    queryFn: ({ signal }) => listRows(noun, input, { signal }),
    placeholderData: keepPreviousData,
  })
}

/** How many records match. */
export function useCount({ noun }: Resource, filter: Record<string, unknown>) {
  return useQuery({
    queryKey: [noun, 'count', filter],
    queryFn: async ({ signal }) => (await listRows(noun, { ...filter, limit: 1, count: true }, { signal })).total ?? 0,
  })
}

/** One record, as it is now. */
export function useRow({ noun }: Resource, id: number) {
  return useQuery({
    queryKey: [noun, 'row', id],
    queryFn: ({ signal }) => getRow(noun, id, { signal }),
    // A form begins with what is stored now and is not disturbed by later changes: they show as a conflict.
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
}

/** Reads anew what is shown of the noun. */
export function refresh({ noun }: Resource): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: [noun] })
}
