import { create } from 'zustand'
import { persist } from 'zustand/middleware'

export const THEMES = ['system', 'light', 'dark'] as const

interface Preferences {
  /** The columns of the table of a noun; absent for the initial ones. */
  columns: Record<string, string[] | undefined>
  density: 'comfortable' | 'compact'
  theme: (typeof THEMES)[number]
  /** The rows of a page whose link does not tell. */
  pageSize: number
  /** Whether single keys without Ctrl are shortcuts. WCAG 2.1.4 requires a way to turn them off. */
  hasKeyShortcuts: boolean
}

/** What this browser keeps for its user. */
export const usePreferences = create(
  persist<Preferences>(
    () => ({ columns: {}, density: 'comfortable', theme: 'system', pageSize: 25, hasKeyShortcuts: true }),
    { name: 'console-preferences' },
  ),
)

// Another tab has changed them.
window.addEventListener('storage', () => void usePreferences.persist.rehydrate())

/** Gives the page the chosen theme, also when another one is chosen. */
export function applyTheme(): void {
  const apply = ({ theme }: Preferences) => {
    document.documentElement.dataset.theme = theme
  }
  apply(usePreferences.getState())
  usePreferences.subscribe(apply)
}
