const KEY = 'console-theme'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** What was chosen in this browser before. */
export function storedTheme(): Theme {
  return THEMES.find((theme) => theme === attempt(() => localStorage.getItem(KEY))) ?? 'system'
}

/** Shows the page in this theme, now and at the next visit. */
export function applyTheme(theme: Theme): void {
  attempt(() => localStorage.setItem(KEY, theme))
  document.documentElement.dataset.theme = theme
}

// A browser that keeps nothing for a page throws.
function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
