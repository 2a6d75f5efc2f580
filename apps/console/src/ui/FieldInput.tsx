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
  const { name, label, kind, choices, isRequired } = field
  if (kind === 'choice') {
    return (
      <label className="field">
        <span className="label">{label}</span>
        <select name={name} value={value} onChange={(event) => onChange(event.target.value)}>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      </label>
    )
  }
  return (
    <TextField
      className="field"
      name={name}
      type={kind === 'number' ? 'text' : kind}
      {...(kind === 'number' && { inputMode: 'decimal' as const })}
      autoComplete={kind === 'password' ? 'new-password' : 'off'}
      value={value}
      onChange={onChange}
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
