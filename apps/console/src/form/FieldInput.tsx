import { useId } from 'react'
import { FieldError, Input, Label, TextField } from 'react-aria-components'
import type { Field } from '../resources/field.ts'

interface Props {
  field: Field
  value: string
  onChange: (value: string) => void
  fault?: string | undefined
  hint?: string | undefined
}

/** One field of a form with its label and, under it, what is wrong. */
export function FieldInput({ field, value, onChange, fault, hint }: Props) {
  const { name, label, kind, isRequired } = field
  if (field.choices.length > 0) return <Choice field={field} value={value} onChange={onChange} fault={fault} />
  return (
    <TextField
      className="field"
      name={name}
      type={kind === 'number' ? 'text' : kind}
      {...(kind === 'number' && { inputMode: 'decimal' as const })}
      autoComplete={kind === 'password' ? 'new-password' : 'off'}
      value={value}
      onChange={onChange}
      isRequired={isRequired}
      isInvalid={fault !== undefined}
      validationBehavior="aria"
    >
      <Label className="label">
        {label}
        {!isRequired && <span className="hint"> {hint ?? 'optional'}</span>}
      </Label>
      <Input />
      <FieldError className="fault">{fault}</FieldError>
    </TextField>
  )
}

function Choice({ field, value, onChange, fault }: Props) {
  const faultId = useId()
  return (
    <div className="field">
      <label className="field">
        <span className="label">{field.label}</span>
        <select
          name={field.name}
          value={value}
          aria-invalid={fault !== undefined}
          aria-describedby={faultId}
          onChange={(event) => onChange(event.target.value)}
        >
          {field.empty === null && <option value="">none</option>}
          {field.choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      </label>
      <span id={faultId} className="fault">
        {fault}
      </span>
    </div>
  )
}
