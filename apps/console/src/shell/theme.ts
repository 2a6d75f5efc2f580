const KEY = 'console-theme'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** The theme stored in this browser. */
export function storedTheme(): Theme {
  return THEMES.find((theme) => theme === attempt(() => localStorage.getItem(KEY))) ?? 'system'
}

/** Applies the theme and stores it for the next visit. */
export function applyTheme(theme: Theme): void {
  attempt(() => localStorage.setItem(KEY, theme))
  document.documentElement.dataset.theme = theme
}

// localStorage throws in browsers that block storage.
function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
