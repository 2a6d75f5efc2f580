import { THEMES, usePreferences } from '../ui/preferences.ts'

/** Selects the light, dark or system theme. */
export function ThemeChoice() {
  const theme = usePreferences((preferences) => preferences.theme)
  return (
    <select
      className="theme"
      aria-label="Theme"
      value={theme}
      onChange={({ target }) =>
        usePreferences.setState({ theme: THEMES.find((name) => name === target.value) ?? theme })
      }
    >
      {THEMES.map((name) => (
        <option key={name} value={name}>
          {`${name[0]?.toUpperCase()}${name.slice(1)}`}
        </option>
      ))}
    </select>
  )
}
