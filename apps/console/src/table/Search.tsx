import { Search as Magnifier } from 'lucide-react'
import { useId } from 'react'
import type { Field } from '../resources/field.ts'
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
  const { input, text, setText, error, onBlur, onKeyDown } = useFilterInput(field, value, onChange, { isLive: true })
  const errorId = useId()
  useShortcut('/', () => input.current?.select())
  return (
    <div className="search with-icon">
      <Magnifier className="i" aria-hidden="true" />
      <input
        ref={input}
        className="input"
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
          // The button that clears the input.
          if (event.target.value === '' && value !== '') onChange(undefined, false)
        }}
        onBlur={onBlur}
        onKeyDown={onKeyDown}
      />
      {text === '' && <kbd>/</kbd>}
      <span id={errorId} role="status" className="field-error">
        {error}
      </span>
    </div>
  )
}
