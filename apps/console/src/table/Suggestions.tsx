import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { calls, SHORTEST_WORD } from '../resources/calls.ts'
import type { Field } from '../resources/field.ts'
import { resources } from '../resources/index.ts'
import { type Noun, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { filtersOf, type View } from './view.ts'

const SHOWN = 20
const MAX_GROUPS = 500

interface Props {
  id: string
  resource: Resource
  /** The view whose other filters hold; without it, all records. */
  view?: View
  field: Field
  /** Absent until the user needs suggestions. */
  text: string | undefined
}

/** The most frequent values of a field, or the records that it can refer to, as the list of an input. */
export function Suggestions({ id, resource, view = {}, field, text }: Props) {
  const suggestions = useSuggestions(resource, view, field, text)
  if (suggestions === undefined) return null
  return (
    <datalist id={id} translate="no">
      {suggestions.map(({ value, note }) => (
        <option key={value} value={value}>
          {note}
        </option>
      ))}
    </datalist>
  )
}

/**
 * The most frequent values of a field that contain the text in any letter case, among the records that match the other filters.
 * Of a field with more than {@link MAX_GROUPS} values, those that begin with the text. Of a reference, the ids and names of records
 * with the words. Undefined for a field whose values are not grouped.
 *
 * @param text absent until the user needs suggestions
 */
function useSuggestions(resource: Resource, view: View, { name, refersTo }: Field, text: string | undefined) {
  const { [name]: _, ...filters } = filtersOf(resource, view)
  const isGrouped = resource.groups.some(({ field }) => field === name) && text !== undefined
  const prefix = text?.trim() ?? ''
  const records = useReferable(refersTo, prefix, text !== undefined)
  const all = useGroups(resource, { ...filters, by: name, limit: MAX_GROUPS }, isGrouped && refersTo === undefined)
  const needsPrefix = all?.length === MAX_GROUPS && prefix !== ''
  const some = useGroups(resource, { ...filters, by: name, limit: SHOWN, prefix }, needsPrefix)
  const wanted = prefix.toLowerCase()
  if (refersTo !== undefined) return records
  return (needsPrefix ? some : all)
    ?.flatMap(({ value, count }) => (value === null ? [] : [{ value, note: count.toLocaleString('en') }]))
    .filter(({ value }) => value.toLowerCase().includes(wanted))
    .slice(0, SHOWN)
}

/** The records that a reference can name. */
function useReferable(noun: Noun | undefined, text: string, enabled: boolean) {
  const resource = resources.find((resource) => resource.noun === noun)
  const isWords = resource?.search !== undefined && text.length >= SHORTEST_WORD
  const input = { limit: SHOWN, ...(isWords && { q: text }) }
  const { data } = useQuery({
    queryKey: [noun, 'suggestions', input],
    queryFn: async ({ signal }) =>
      resource && ((await calls(resource.noun).list.query(input, { signal }))[resource.noun] as Row[]),
    enabled: enabled && resource !== undefined,
    placeholderData: keepPreviousData,
  })
  return resource && data?.map((row) => ({ value: String(row.id), note: nameOf(resource, row) }))
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
