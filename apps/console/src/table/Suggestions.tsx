import type { Field } from '../resources/field.ts'
import type { Resource } from '../resources/resource.ts'
import { useSuggestions } from './suggestions.ts'
import type { View } from './view.ts'

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
