// Runs before the page shows, so that it never shows in the other theme. The console keeps the preference.
const KEY = 'console-preferences'

function readPreferences() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {}
  } catch {
    return {}
  }
}

function applyTheme() {
  document.documentElement.dataset.theme = readPreferences().state?.theme ?? 'system'
}

applyTheme()
addEventListener('storage', applyTheme)
