import { THEMES, usePreferences } from './preferences.ts'

/** Chooses the light, the dark, or the system's theme. */
export function ThemeChoice() {
  const chosen = usePreferences(({ theme }) => theme)
  return (
    <fieldset className="segments">
      <legend className="hidden">Theme</legend>
      {THEMES.map((theme) => (
        <label key={theme}>
          <input
            type="radio"
            name="theme"
            checked={theme === chosen}
            onChange={() => usePreferences.setState({ theme })}
          />
          {`${theme[0]?.toUpperCase()}${theme.slice(1)}`}
        </label>
      ))}
    </fieldset>
  )
}
