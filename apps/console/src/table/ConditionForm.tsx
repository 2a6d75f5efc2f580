import { Check } from 'lucide-react'
import { type FocusEvent, useId, useRef, useState } from 'react'
import { type Field, filterText, isQuantity, parseInput, startOfDate, valueError } from '../resources/field.ts'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import type { Condition } from './conditions.ts'
import { afterClick } from './input.ts'
import { Suggestions } from './Suggestions.tsx'
import type { View } from './view.ts'

interface Props {
  resource: Resource
  view: View
  condition: Condition
  onChange: (changes: Partial<View>) => void
  onClose: () => void
}

/** The input of a condition: a value, one of some choices, or both ends of a range. */
export function ConditionForm(props: Props) {
  const { condition, view, onChange, onClose } = props
  const [field] = condition.fields
  if (field === undefined || field.choices.length === 0 || field.isList) return <TypedCondition {...props} />
  const value = String(view[field.name] ?? '')
  // A link may filter by a value that is not a known choice.
  const choices = value === '' || field.choices.includes(value) ? field.choices : [...field.choices, value]
  return (
    <fieldset>
      <legend>{condition.label}</legend>
      {choices.map((choice) => (
        <Button
          key={choice}
          className="item"
          aria-pressed={choice === value}
          onPress={() => {
            onChange({ [field.name]: parseInput(field, choice) })
            onClose()
          }}
        >
          <span translate="no">{choice}</span>
          {choice === value && <Check className="trailing" />}
        </Button>
      ))}
    </fieldset>
  )
}

/** Applies on Enter, and when the focus leaves it. */
function TypedCondition({ resource, view, condition, onChange, onClose }: Props) {
  const { fields, all } = condition
  const before = Object.fromEntries(fields.map((field) => [field.name, filterText(field, view[field.name])]))
  const [draft, setDraft] = useState(before)
  const id = useId()
  const isOver = useRef(false)
  const values = fields.map((field) => [field, inputValueOf(field, draft[field.name] ?? '')] as const)
  const errors = new Map(
    values.flatMap(([field, value]) => {
      const error = value === undefined ? undefined : valueError(field, value)
      return error === undefined ? [] : [[field.name, error]]
    }),
  )
  const apply = () => {
    if (isOver.current || errors.size > 0) return
    if (fields.every(({ name }) => draft[name] === before[name])) return
    const cleared = all.map(({ name }) => [name, undefined])
    onChange(Object.fromEntries([...cleared, ...values.map(([{ name }, value]) => [name, value])]))
  }
  const onBlur = ({ currentTarget, relatedTarget }: FocusEvent) => {
    if (!currentTarget.contains(relatedTarget as Node | null)) afterClick(relatedTarget, apply)
  }
  return (
    <form
      noValidate
      onBlur={onBlur}
      onKeyDown={(event) => {
        if (event.key === 'Escape') isOver.current = true
      }}
      onSubmit={(event) => {
        event.preventDefault()
        if (errors.size > 0) return
        apply()
        isOver.current = true
        onClose()
      }}
    >
      {fields.map((field) => (
        <div key={field.name} className="field">
          <label htmlFor={`${id}-${field.name}`}>{field.label}</label>
          <input
            id={`${id}-${field.name}`}
            translate="no"
            type={isDate(field) ? 'date' : 'text'}
            inputMode={isQuantity(field) ? 'decimal' : 'text'}
            max={isDate(field) ? '9999-12-31' : undefined}
            autoComplete="off"
            value={draft[field.name]}
            list={`${id}-${field.name}-list`}
            aria-invalid={errors.has(field.name)}
            aria-describedby={`${id}-${field.name}-error`}
            onChange={(event) => setDraft({ ...draft, [field.name]: event.target.value })}
          />
          <Suggestions
            id={`${id}-${field.name}-list`}
            resource={resource}
            view={view}
            field={field}
            // The value of before is no search for others.
            text={draft[field.name] === before[field.name] ? '' : draft[field.name]}
          />
          <span id={`${id}-${field.name}-error`} role="status" className="field-error">
            {errors.get(field.name)}
          </span>
        </div>
      ))}
      <Button className="button primary" type="submit" isDisabled={errors.size > 0}>
        Apply
      </Button>
    </form>
  )
}

function isDate({ kind }: Field): boolean {
  return kind === 'date' || kind === 'datetime'
}

/** The value of an input; undefined if it is empty. */
function inputValueOf(field: Field, text: string): unknown {
  const typed = text.trim()
  if (typed === '') return undefined
  return field.kind === 'datetime' ? startOfDate(typed) : parseInput(field, typed)
}
