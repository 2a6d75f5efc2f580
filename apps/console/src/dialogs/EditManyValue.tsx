import { FieldInput } from '../form/FieldInput.tsx'
import { type Field, valueError } from '../resources/field.ts'
import { type BulkAction, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { valueText } from '../resources/value-text.ts'

const PREVIEWED = 3

interface ValueProps {
  resource: Resource
  field: Field
  text: string | undefined
  onChange: (text: string | undefined) => void
}

/** The input of the new value. Nothing is chosen at first. */
export function Value({ resource, field, text, onChange }: ValueProps) {
  const { label, kind, choices, empty } = field
  const shown = {
    ...field,
    label: `New ${label.toLowerCase()}`,
    choices: choices.length === 0 ? [] : ['', ...choices],
    isRequired: true,
    empty: '' as const,
  }
  return (
    <div data-start>
      <FieldInput
        resource={resource}
        field={shown}
        value={text ?? ''}
        onChange={onChange}
        hint={kind === 'number' ? 'a number, or a change such as +5, -5, +10% or -10%' : undefined}
      />
      {empty === null && (
        <label className="inline">
          <input
            type="checkbox"
            checked={text === undefined}
            onChange={(event) => onChange(event.target.checked ? undefined : '')}
          />
          No {label.toLowerCase()}
        </label>
      )}
    </div>
  )
}

interface PreviewProps {
  resource: Resource
  field: Field
  action: BulkAction
  rows: Row[]
}

/** The first records before and after. */
export function Preview({ resource, field, action, rows }: PreviewProps) {
  const column = resource.recordColumns.find((column) => column.field === field.name)
  const shown = (value: unknown) => (column === undefined ? String(value) : valueText(column, value))
  return (
    <ul className="changes" aria-label="Preview">
      {rows.slice(0, PREVIEWED).map((row) => {
        const after = action.apply(row)?.[field.name]
        const error = valueError(field, after)
        return (
          <li key={row.id}>
            {nameOf(resource, row)}: from {shown(row[field.name])} to {shown(after)}
            {error !== undefined && ` (${error})`}
          </li>
        )
      })}
      {rows.length > PREVIEWED && <li>and {(rows.length - PREVIEWED).toLocaleString('en')} more</li>}
    </ul>
  )
}
