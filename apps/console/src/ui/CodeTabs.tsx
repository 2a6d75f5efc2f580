import { type KeyboardEvent, type ReactNode, useId, useState } from 'react'
import { CopyButton } from './CopyButton.tsx'

interface Props {
  /** What the code does, for screen readers. */
  label: string
  /** The code by language, of which the first shows. */
  codes: Record<string, string>
  copyLabel?: string
  /** Buttons before that which copies. */
  children?: ReactNode
}

/** Code in several languages, with a button that copies it. */
export function CodeTabs({ label, codes, copyLabel = 'Copy', children }: Props) {
  const languages = Object.keys(codes)
  const [shown = '', show] = useState(languages[0])
  const id = useId()
  const tabOf = (language: string) => `${id}-${language}`
  const move = ({ key, currentTarget }: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[key]
    if (by === undefined) return
    const next = languages.at((languages.indexOf(shown) + by) % languages.length) ?? shown
    show(next)
    currentTarget.querySelector<HTMLElement>(`[id="${tabOf(next)}"]`)?.focus()
  }
  return (
    <div className="code-block">
      <header>
        <div className="tabs" role="tablist" aria-label={label} onKeyDown={move}>
          {languages.map((language) => (
            <button
              key={language}
              type="button"
              className="row"
              role="tab"
              id={tabOf(language)}
              aria-selected={language === shown}
              aria-controls={id}
              tabIndex={language === shown ? 0 : -1}
              onClick={() => show(language)}
            >
              {language}
            </button>
          ))}
        </div>
        {children}
        <CopyButton text={codes[shown] ?? ''} label={copyLabel} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: code that scrolls must be reachable by keyboard */}
      <pre id={id} role="tabpanel" aria-labelledby={tabOf(shown)} tabIndex={0} translate="no">
        {shaded(shown, codes[shown])}
      </pre>
    </div>
  )
}

const STRING = /("(?:[^"\\]|\\.)*"|'[^']*')/

/** Code whose strings, in JSON the names of its fields, step back. Each string is isolated, as it may run from right to left. */
function shaded(language: string, code = ''): ReactNode[] {
  const parts = code.split(STRING)
  return parts.map((part, index) => {
    if (index % 2 === 0) return part
    const isSoft = language !== 'JSON' || parts[index + 1]?.startsWith(':')
    return (
      <bdi key={index} className={isSoft ? 'soft' : undefined}>
        {part}
      </bdi>
    )
  })
}
