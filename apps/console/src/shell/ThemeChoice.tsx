import { useState } from 'react'
import { applyTheme, storedTheme, THEMES, type Theme } from './theme.ts'

/** Selects the light, dark or system theme. */
export function ThemeChoice() {
  const [theme, setTheme] = useState(storedTheme)
  const choose = (next: Theme) => {
    applyTheme(next)
    setTheme(next)
  }
  return (
    <select
      className="theme"
      aria-label="Theme"
      value={theme}
      onChange={(event) => choose(event.target.value as Theme)}
    >
      {THEMES.map((name) => (
        <option key={name} value={name}>
          {`${name[0]?.toUpperCase()}${name.slice(1)}`}
        </option>
      ))}
    </select>
  )
}
