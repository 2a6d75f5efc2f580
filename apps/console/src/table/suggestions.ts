import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { calls } from '../resources/calls.ts'
import type { Field } from '../resources/field.ts'
import type { Resource } from '../resources/resource.ts'
import { filtersOf, type View } from './view.ts'

const SHOWN = 20
const MAX_GROUPS = 500

/**
 * The most frequent values of a field that contain the text in any letter case, among the records that match the other filters.
 * Of a field with more than {@link MAX_GROUPS} values, those that begin with the text. Undefined for a field whose values are
 * not grouped.
 *
 * @param text absent until the user needs suggestions
 */
export function useSuggestions(resource: Resource, view: View, { name }: Field, text: string | undefined) {
  const { [name]: _, ...filters } = filtersOf(resource, view)
  const isGrouped = resource.groups.some(({ field }) => field === name) && text !== undefined
  const prefix = text?.trim() ?? ''
  const all = useGroups(resource, { ...filters, by: name, limit: MAX_GROUPS }, isGrouped)
  const needsPrefix = all?.length === MAX_GROUPS && prefix !== ''
  const some = useGroups(resource, { ...filters, by: name, limit: SHOWN, prefix }, needsPrefix)
  const wanted = prefix.toLowerCase()
  return (needsPrefix ? some : all)
    ?.flatMap(({ value, count }) => (value === null ? [] : [{ value, count }]))
    .filter(({ value }) => value.toLowerCase().includes(wanted))
    .slice(0, SHOWN)
}

function useGroups({ noun }: Resource, input: object, enabled: boolean) {
  const { data } = useQuery({
    queryKey: [noun, 'suggestions', input],
    queryFn: async ({ signal }) => (await calls(noun).summarize.query(input, { signal })).summaries,
    enabled,
    placeholderData: keepPreviousData,
  })
  return data
}
