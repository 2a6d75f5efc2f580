import { type KeyboardEvent, useEffect, useEffectEvent, useRef, useState } from 'react'
import { type Field, parseInput, valueError } from '../resources/field.ts'

const LIVE_AFTER_MS = 300
const SHORTEST = 2

/**
 * The text of a filter's input, which applies while the user types, once it is long enough, and on Enter and on blur.
 *
 * @param onChange applies the value, in place of the last one if the user types on
 */
export function useFilterInput(field: Field, value: string, onChange: (value: unknown, isTypedOn: boolean) => void) {
  const [text, setText] = useState(value)
  const [known, setKnown] = useState(value)
  const [applied, setApplied] = useState(value)
  const [isTypedOn, setTypedOn] = useState(false)
  const [refused, setRefused] = useState<string>()
  const input = useRef<HTMLInputElement>(null)
  // The view has changed: through a link, the history or "Clear filters", or through this input, which the user may have changed
  // since.
  if (known !== value) {
    setKnown(value)
    if (value !== applied) setText(value)
    setApplied(value)
  }
  const typed = text.trim()
  const wanted = typed === '' ? undefined : parseInput(field, typed)
  const error = wanted === undefined ? undefined : valueError(field, wanted)
  const apply = (isTyping: boolean) => {
    if (error !== undefined || String(wanted ?? '') === value) return
    setApplied(String(wanted ?? ''))
    setTypedOn(isTyping)
    onChange(wanted, isTypedOn && isTyping)
  }
  const commit = () => {
    setTypedOn(false)
    apply(false)
  }

  const applyLive = useEffectEvent(() => {
    if (document.activeElement === input.current) apply(true)
  })
  useEffect(() => {
    if (typed.length < SHORTEST && typed !== '') return
    const timer = setTimeout(applyLive, LIVE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [typed])

  const latest = useRef(commit)
  latest.current = commit
  const onBlur = ({ relatedTarget }: { relatedTarget: EventTarget | null }) =>
    afterClick(relatedTarget, () => latest.current())

  return {
    input,
    text,
    setText,
    /** What is wrong with the text, once it is long enough or the user pressed Enter. */
    error: typed.length >= SHORTEST || refused === text ? error : undefined,
    onBlur,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter') return
      setRefused(text)
      commit()
    },
  }
}

/**
 * Applies a filter whose input loses the focus. Applied on the press of a button in the table, it would move the rows away from
 * the click, which may also leave the page.
 *
 * @param next what takes the focus
 */
export function afterClick(next: EventTarget | null, apply: () => void): void {
  const { pathname } = window.location
  const applyAfter = () => setTimeout(() => window.location.pathname === pathname && apply())
  if (!(next instanceof Element) || !next.matches('.records :active')) apply()
  else window.addEventListener('pointerup', applyAfter, { once: true })
}
