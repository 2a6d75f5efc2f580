import { decimalsOf } from '@resource/contract'
import { useId, useState } from 'react'
import { type Field, isQuantity } from '../resources/field.ts'
import type { BulkAction, Resource } from '../resources/resource.ts'
import { editOf, HOWS, type How, howsOf, readTyped, sharedFields } from '../table/edit-many.ts'
import { Suggestions } from '../table/Suggestions.tsx'
import { Select } from '../ui/Select.tsx'

interface Props {
  resource: Resource
  /** @param action undefined while the value is invalid */
  onChange: (action: BulkAction | undefined, isTyped: boolean) => void
}

/** Asks for a field of many records, and its value: a new one, or a change of a number. Nothing is chosen at first. */
export function EditManyFields({ resource, onChange }: Props) {
  const fields = sharedFields(resource)
  const [field, setField] = useState(fields[0] as Field)
  const [how, setHow] = useState<How>('set')
  const [text, setText] = useState('')
  const id = useId()
  const { label, kind, choices } = field
  const edit = editOf(field, how, text)
  const isTyped = text !== '' || how === 'remove'

  const change = (how: How, text: string, of = field) => {
    setField(of)
    setHow(how)
    setText(text)
    const edit = editOf(of, how, text)
    onChange('action' in edit ? edit.action : undefined, text !== '' || how === 'remove')
  }

  const value = {
    'aria-label': how === 'set' ? `New ${label.toLowerCase()}` : `Change of ${label.toLowerCase()}`,
    'aria-describedby': `${id}-error`,
    'aria-invalid': isTyped && 'error' in edit,
    translate: 'no' as const,
    value: text,
  }
  return (
    <>
      <div className="row sentence">
        <Select
          aria-label="Field"
          value={field.name}
          options={fields.map(({ name, label }) => [name, label])}
          onChange={(chosen) => {
            const next = fields.find(({ name }) => name === chosen)
            change('set', '', next)
          }}
        />
        <Select
          aria-label="Operation"
          value={how}
          options={howsOf(field).map((how) => [how, HOWS[how]])}
          onChange={(chosen) => change(howsOf(field).find((how) => how === chosen) ?? 'set', text)}
        />
        {how !== 'remove' && (
          <span key={field.name} data-start>
            {choices.length > 0 ? (
              <Select {...value} options={['', ...choices]} onChange={(text) => change(how, text)} />
            ) : (
              <input
                {...value}
                dir="auto"
                type={kind === 'number' ? 'text' : kind}
                inputMode={isQuantity(field) ? 'decimal' : 'text'}
                autoComplete="off"
                list={`${id}-list`}
                onChange={(event) => {
                  const typed = readTyped(field, how, event.target.value)
                  change(typed.how, typed.text)
                }}
              />
            )}
            {choices.length === 0 && how === 'set' && (
              <Suggestions id={`${id}-list`} resource={resource} field={field} text={text} />
            )}
          </span>
        )}
        {how.endsWith('percent') && <span className="faint">rounded to {decimalsOf(field.schema)} decimals</span>}
      </div>
      <p id={`${id}-error`} role="status" className="field-error">
        {isTyped && 'error' in edit && edit.error}
      </p>
    </>
  )
}
