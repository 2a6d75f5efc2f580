import { useState } from 'react'
import { type Field, parseInput, valueError } from '../resources/field.ts'

/** The text of a filter's input, which applies on Enter and on blur, so that no request is sent for half a word. */
export function useFilterInput(field: Field, value: string, onChange: (value: unknown) => void) {
  const [text, setText] = useState(value)
  const [known, setKnown] = useState(value)
  // The view has changed, through this input, a link, the history or "Clear filters".
  if (known !== value) {
    setKnown(value)
    setText(value)
  }
  const wanted = text.trim() === '' ? undefined : parseInput(field, text.trim())
  const error = wanted === undefined ? undefined : valueError(field, wanted)
  const commit = () => {
    if (error === undefined && String(wanted ?? '') !== value) onChange(wanted)
  }
  return { text, setText, error, commit }
}
