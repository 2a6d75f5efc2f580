import { Search as Magnifier, X } from 'lucide-react'
import { useId } from 'react'
import type { Field } from '../resources/field.ts'
import { Button } from '../ui/Button.tsx'
import { useShortcut } from '../ui/shortcuts.ts'
import { useFilterInput } from './input.ts'

interface Props {
  field: Field
  label: string
  value: string
  onChange: (value: unknown, isTypedOn: boolean) => void
}

/** The search box of a list, which searches while the user types. `/` focuses it. */
export function Search({ field, label, value, onChange }: Props) {
  const { input, text, setText, error, onBlur, onKeyDown } = useFilterInput(field, value, onChange)
  const errorId = useId()
  useShortcut('/', () => input.current?.select())
  return (
    <div className="search">
      <Magnifier />
      <input
        ref={input}
        type="search"
        dir="auto"
        aria-label={label}
        aria-keyshortcuts="/"
        placeholder={label}
        value={text}
        aria-invalid={error !== undefined}
        aria-describedby={errorId}
        onChange={(event) => {
          setText(event.target.value)
          // Without a text there is nothing to wait for.
          if (event.target.value === '' && value !== '') onChange(undefined, false)
        }}
        onBlur={onBlur}
        onKeyDown={onKeyDown}
      />
      {text === '' ? (
        <kbd>/</kbd>
      ) : (
        <Button
          className="button ghost icon small"
          icon={X}
          aria-label="Clear the search"
          onPress={() => {
            setText('')
            onChange(undefined, false)
            input.current?.focus()
          }}
        />
      )}
      <span id={errorId} role="status" className="field-error">
        {error}
      </span>
    </div>
  )
}
