import { useId, useState } from 'react'
import { FieldError, Input, Label, TextField } from 'react-aria-components'
import { type Field, isQuantity, optionsOf } from '../resources/field.ts'
import { isId, type Resource } from '../resources/resource.ts'
import { Label as RecordLabel } from '../resources/Value.tsx'
import { Suggestions } from '../table/Suggestions.tsx'
import { Choice } from '../ui/Choice.tsx'

interface Props {
  /** The one whose records suggest values; absent for none. */
  resource?: Resource
  field: Field
  value: string
  onChange: (value: string) => void
  error?: string | undefined
  hint?: string | undefined
}

/** A form field with its label and, below it, its error. */
export function FieldInput({ resource, field, value, onChange, error, hint }: Props) {
  const { name, label, kind, isRequired } = field
  const listId = useId()
  const [isUsed, setUsed] = useState(false)
  const [before] = useState(value)
  const hasSuggestions = field.refersTo !== undefined || resource?.groups.some((group) => group.field === name)
  if (field.choices.length > 0) return <ChoiceInput field={field} value={value} onChange={onChange} error={error} />
  return (
    <TextField
      className="field"
      name={name}
      type={kind === 'number' ? 'text' : kind}
      {...(isQuantity(field) && { inputMode: 'decimal' as const })}
      autoComplete={kind === 'password' ? 'new-password' : 'off'}
      value={value}
      onChange={onChange}
      isRequired={isRequired}
      isInvalid={error !== undefined}
      validationBehavior="aria"
    >
      <Label className="label">
        {label}
        {field.refersTo !== undefined && isId(value) && (
          <b>
            {' '}
            <RecordLabel noun={field.refersTo} id={value} />
          </b>
        )}
        {(hint !== undefined || !isRequired) && <span className="hint"> {hint ?? 'optional'}</span>}
      </Label>
      <Input dir="auto" translate="no" {...(hasSuggestions && { list: listId })} onFocus={() => setUsed(true)} />
      {resource !== undefined && hasSuggestions && (
        <Suggestions
          id={listId}
          resource={resource}
          field={field}
          text={isUsed && value !== before ? value : isUsed ? '' : undefined}
        />
      )}
      <FieldError className="field-error">{error}</FieldError>
    </TextField>
  )
}

function ChoiceInput({ field, value, onChange, error }: Omit<Props, 'resource'>) {
  const errorId = useId()
  return (
    <div className="field">
      <Choice
        label={field.label}
        name={field.name}
        translate="no"
        value={value}
        options={optionsOf(field)}
        aria-invalid={error !== undefined}
        aria-describedby={errorId}
        onChange={onChange}
      />
      <span id={errorId} className="field-error">
        {error}
      </span>
    </div>
  )
}
