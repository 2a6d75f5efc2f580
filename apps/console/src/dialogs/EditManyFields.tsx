import { useState } from 'react'
import { FieldInput } from '../form/FieldInput.tsx'
import type { Field } from '../resources/field.ts'
import type { BulkAction, Resource } from '../resources/resource.ts'
import { editOf, sharedFields } from '../table/edit-many.ts'
import { Choice } from '../ui/Choice.tsx'

interface Props {
  resource: Resource
  /** @param action undefined while the value is invalid */
  onChange: (action: BulkAction | undefined, isTyped: boolean) => void
}

/** Asks for a field of many records, and its value: a new one, or a change of a number. Nothing is chosen at first. */
export function EditManyFields({ resource, onChange }: Props) {
  const fields = sharedFields(resource)
  const [field, setField] = useState(fields[0] as Field)
  // Undefined removes the value.
  const [text, setText] = useState<string | undefined>('')
  const { label, kind, choices, empty } = field
  const edit = editOf(field, text)

  const change = (next: string | undefined, of = field) => {
    setField(of)
    setText(next)
    const edit = editOf(of, next)
    onChange('action' in edit ? edit.action : undefined, next !== '')
  }

  return (
    <>
      <Choice
        label={<span className="label">Field</span>}
        className="field"
        value={field.name}
        options={fields.map(({ name, label }) => [name, label])}
        onChange={(chosen) =>
          change(
            '',
            fields.find(({ name }) => name === chosen),
          )
        }
      />
      <div key={field.name} data-start>
        <FieldInput
          resource={resource}
          field={{
            ...field,
            label: `New ${label.toLowerCase()}`,
            choices: choices.length === 0 ? [] : ['', ...choices],
            isRequired: true,
            empty: '',
          }}
          value={text ?? ''}
          onChange={change}
          hint={kind === 'number' ? 'a number, or a change such as +5, -5, +10% or -10%' : undefined}
        />
        {empty === null && (
          <label className="inline">
            <input
              type="checkbox"
              checked={text === undefined}
              onChange={(event) => change(event.target.checked ? undefined : '')}
            />
            No {label.toLowerCase()}
          </label>
        )}
      </div>
      {text !== '' && 'error' in edit && (
        <p role="status" className="field-error">
          {edit.error}
        </p>
      )}
    </>
  )
}
