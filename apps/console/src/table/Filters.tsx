import { useId, useState } from 'react'
import { dateOf, type Field, startOfDate } from '../resources/field.ts'
import type { Resource } from '../resources/resource.ts'
import { Choice } from '../ui/Choice.tsx'
import { useFilterInput } from './input.ts'
import { Suggestions } from './Suggestions.tsx'
import type { View } from './view.ts'

interface Props {
  resource: Resource
  view: View
  onChange: (changes: Partial<View>) => void
}

/** Filters and sort order. The service applies them, and the page's URL contains them. */
export function Filters({ resource, view, onChange }: Props) {
  const sorts = resource.recordColumns.filter(({ isSortable, field }) => isSortable && field !== 'id')
  const { sort: order = 'id_asc' } = view
  const [, sorted] = /^(.*)_(?:asc|desc)$/.exec(order) ?? []
  return (
    <>
      {resource.filters
        .filter((field) => field !== resource.search)
        .map((field) => (
          <Filter
            key={field.name}
            resource={resource}
            view={view}
            field={field}
            value={String(view[field.name] ?? '')}
            onChange={(value) => onChange({ [field.name]: value })}
          />
        ))}
      <Choice
        label="Sort"
        value={order}
        options={[
          ['id_asc', 'Oldest first'],
          ['id_desc', 'Newest first'],
          // A link may sort by another name of an attribute.
          ...(sorts.some(({ field }) => field === sorted) || sorted === 'id' ? [] : [[order, order] as const]),
          ...sorts.flatMap(({ field, label }) => [
            [`${field}_asc`, `${label}, ascending`] as const,
            [`${field}_desc`, `${label}, descending`] as const,
          ]),
        ]}
        onChange={(sort) => onChange({ sort })}
      />
    </>
  )
}

interface FilterProps {
  resource: Resource
  view: View
  field: Field
  value: string
  onChange: (value: unknown) => void
}

function Filter(props: FilterProps) {
  const { field, value, onChange } = props
  if (field.choices.length > 0 && !field.isList) {
    return (
      <Choice
        label={field.label}
        translate="no"
        value={value}
        options={[['', 'All'], ...offered(field, value).map((choice) => [choice, choice] as const)]}
        onChange={(choice) => onChange(choice || undefined)}
      />
    )
  }
  return field.kind === 'date' || field.kind === 'datetime' ? <DateFilter {...props} /> : <TextFilter {...props} />
}

// A link may filter by a value that is not a known choice.
function offered({ choices }: Field, value: string): string[] {
  return value !== '' && !choices.includes(value) ? [...choices, value] : choices
}

// Applies on blur and Enter, because browsers report every typed digit of a year as a change.
function DateFilter({ field, value, onChange }: FilterProps) {
  const shown = field.kind === 'datetime' && value !== '' ? dateOf(value) : value
  const [known, setKnown] = useState(shown)
  const [date, setDate] = useState(shown)
  if (known !== shown) {
    setKnown(shown)
    setDate(shown)
  }
  const commit = () => {
    if (date === shown) return
    onChange(date === '' ? undefined : field.kind === 'datetime' ? startOfDate(date) : date)
  }
  return (
    <label className="filter">
      <span>{field.label}</span>
      <input
        type="date"
        value={date}
        max="9999-12-31"
        onChange={(event) => setDate(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => event.key === 'Enter' && commit()}
      />
    </label>
  )
}

function TextFilter({ resource, view, field, value, onChange }: FilterProps) {
  const { input, text, setText, error, onBlur, onKeyDown } = useFilterInput(field, value, onChange)
  const [isUsed, setUsed] = useState(false)
  const id = useId()
  return (
    <div className="filter">
      <label className="filter">
        <span>{field.label}</span>
        <input
          ref={input}
          type="text"
          translate="no"
          inputMode={field.kind === 'number' ? 'decimal' : 'text'}
          placeholder="Any"
          value={text}
          list={`${id}-list`}
          aria-invalid={error !== undefined}
          aria-describedby={`${id}-error`}
          onFocus={() => setUsed(true)}
          onChange={(event) => setText(event.target.value)}
          onBlur={onBlur}
          onKeyDown={onKeyDown}
        />
      </label>
      <Suggestions id={`${id}-list`} resource={resource} view={view} field={field} text={isUsed ? text : undefined} />
      <span id={`${id}-error`} role="status" className="field-error">
        {error}
      </span>
    </div>
  )
}
