import { useId, useState } from 'react'
import { type Field, parseInput, valueError } from '../resources/field.ts'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { filtersOf, type View, withoutFilters } from './view.ts'

interface Props {
  resource: Resource
  view: View
  onChange: (changes: Partial<View>) => void
}

/** Filters and sort order. The service applies them, and the page's URL contains them. */
export function Filters({ resource, view, onChange }: Props) {
  const isFiltered = Object.keys(filtersOf(resource, view)).length > 0
  const sorts = resource.columns.filter(({ isSortable }) => isSortable)
  return (
    <search className="filters" aria-label={`Filter ${resource.many}`}>
      {resource.filters.map((field) =>
        field.choices.length > 0 && !field.isList ? (
          <label key={field.name} className="filter">
            <span>{field.label}</span>
            <select
              value={String(view[field.name] ?? '')}
              onChange={(event) => onChange({ [field.name]: event.target.value || undefined })}
            >
              <option value="">All</option>
              {offered(field, view[field.name]).map((choice) => (
                <option key={choice}>{choice}</option>
              ))}
            </select>
          </label>
        ) : (
          <TextFilter
            key={field.name}
            field={field}
            value={String(view[field.name] ?? '')}
            onChange={(value) => onChange({ [field.name]: value })}
          />
        ),
      )}
      <label className="filter">
        <span>Sort</span>
        <select value={view.sort ?? ''} onChange={(event) => onChange({ sort: event.target.value || undefined })}>
          <option value="">Oldest first</option>
          <option value="id_desc">Newest first</option>
          {sorts.flatMap(({ field, label }) => [
            <option key={`${field}_asc`} value={`${field}_asc`}>
              {label}, ascending
            </option>,
            <option key={`${field}_desc`} value={`${field}_desc`}>
              {label}, descending
            </option>,
          ])}
        </select>
      </label>
      {isFiltered && <Button onPress={() => onChange(withoutFilters(resource))}>Clear filters</Button>}
    </search>
  )
}

// A link may filter by a value that is not a known choice.
function offered({ choices }: Field, value: unknown): string[] {
  return typeof value === 'string' && !choices.includes(value) ? [...choices, value] : choices
}

interface TextFilterProps {
  field: Field
  value: string
  onChange: (value: unknown) => void
}

// Applies on Enter and on blur, so that no request is sent for half a word.
function TextFilter({ field, value, onChange }: TextFilterProps) {
  const [text, setText] = useState(value)
  const [known, setKnown] = useState(value)
  const errorId = useId()
  // The view has changed, through this input, a link, the history or "Clear filters".
  if (known !== value) {
    setKnown(value)
    setText(value)
  }
  const wanted = text.trim() === '' ? undefined : parseInput(field, text.trim())
  const error = wanted === undefined ? undefined : valueError(field, wanted)
  const commit = () => {
    if (error === undefined && String(wanted ?? '') !== value) onChange(wanted)
  }
  return (
    <div className="filter">
      <label className="filter">
        <span>{field.label}</span>
        <input
          type="text"
          inputMode={field.kind === 'number' ? 'decimal' : 'text'}
          placeholder="Any"
          value={text}
          aria-invalid={error !== undefined}
          aria-describedby={errorId}
          onChange={(event) => setText(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => event.key === 'Enter' && commit()}
        />
      </label>
      <span id={errorId} role="status" className="field-error">
        {error}
      </span>
    </div>
  )
}
