import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { calls } from '../resources/calls.ts'
import type { Field } from '../resources/field.ts'
import type { Resource } from '../resources/resource.ts'
import { filtersOf, type View } from './view.ts'

const SHOWN = 20

/**
 * The most frequent values of a field that begin with the text, among the records that match the other filters.
 * Undefined for a field whose values are not grouped.
 *
 * @param text absent until the user needs suggestions
 */
export function useSuggestions(resource: Resource, view: View, { name }: Field, text: string | undefined) {
  const { noun, groups } = resource
  const { [name]: _, ...filters } = filtersOf(resource, view)
  const prefix = text?.trim()
  const input = { ...filters, by: name, limit: SHOWN, ...(prefix !== '' && { prefix }) }
  const { data } = useQuery({
    queryKey: [noun, 'suggestions', input],
    queryFn: async ({ signal }) => {
      const { summaries } = await calls(noun).summarize.query(input, { signal })
      return summaries.flatMap(({ value, count }) => (value === null ? [] : [{ value, count }]))
    },
    enabled: groups.some(({ field }) => field === name) && text !== undefined,
    placeholderData: keepPreviousData,
  })
  return data
}
