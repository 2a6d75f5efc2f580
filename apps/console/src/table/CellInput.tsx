import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { draftOf, type Field, isQuantity, optionsOf, parseInput, valueError } from '../resources/field.ts'
import type { Resource, Row } from '../resources/resource.ts'
import { Select } from '../ui/Select.tsx'
import { Suggestions } from './Suggestions.tsx'

interface Props {
  resource: Resource
  field: Field
  row: Row
  /** The accessible name: the field and the record. */
  label: string
  /** @param seen the record as it was when the edit began, so that a later change of it is a conflict */
  onSave: (seen: Row, value: unknown) => void
  /** @param error why the typed value was not saved; undefined if the user cancelled */
  onCancel: (error?: string) => void
}

/** The input of one cell. Enter or leaving it saves; Escape cancels. */
export function CellInput({ resource, field, row, label, onSave, onCancel }: Props) {
  const [seen] = useState(row)
  const { [field.name]: before = '' } = draftOf([field], seen)
  const [text, setText] = useState(before)
  const errorId = useId()
  const input = useRef<HTMLInputElement & HTMLSelectElement>(null)
  const isOver = useRef(false)
  const value = parseInput(field, text)
  const error = valueError(field, value)
  const { [field.name]: stored = '' } = draftOf([field], row)
  const conflict = stored !== before && `Someone else changed it to ${stored || 'nothing'}.`

  useEffect(() => {
    const cell = input.current?.closest<HTMLElement>('td, th')
    input.current?.focus()
    input.current?.select?.()
    return () => {
      const target = cell?.querySelector('a') ?? cell
      if (document.activeElement === document.body) target?.focus()
    }
  }, [])

  // Removing the input from the page also takes its focus.
  const end = (act: () => void) => {
    if (!isOver.current) act()
    isOver.current = true
  }
  const save = () => end(() => (text === before ? onCancel() : onSave(seen, value)))
  const leave = () => (error === undefined ? save() : end(() => onCancel(error)))
  const latest = useRef({ leave, isChanged: false })
  latest.current = { leave, isChanged: text !== before }

  // A link or the Back button removes the input without a blur.
  useEffect(
    () => () => {
      if (latest.current.isChanged) latest.current.leave()
    },
    [],
  )

  const common = {
    ref: input,
    translate: 'no' as const,
    'aria-label': label,
    'aria-invalid': error !== undefined,
    'aria-describedby': errorId,
    value: text,
    onBlur: leave,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'Escape') end(onCancel)
      if (event.key === 'Enter' && error === undefined) save()
      // Otherwise Enter would also open the record.
      event.stopPropagation()
    },
  }
  return (
    <span className="cell-input">
      {field.choices.length > 0 ? (
        <Select {...common} options={optionsOf(field)} onChange={setText} />
      ) : (
        <input
          {...common}
          onChange={(event) => setText(event.target.value)}
          dir="auto"
          type={field.kind === 'number' ? 'text' : field.kind}
          inputMode={isQuantity(field) ? 'decimal' : 'text'}
          autoComplete="off"
          list={`${errorId}-list`}
        />
      )}
      {field.choices.length === 0 && (
        // The value of before is no search for others.
        <Suggestions id={`${errorId}-list`} resource={resource} field={field} text={text === before ? '' : text} />
      )}
      <span id={errorId} role="alert" className="field-error">
        {error ?? conflict}
      </span>
    </span>
  )
}
