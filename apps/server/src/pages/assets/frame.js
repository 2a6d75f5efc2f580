// The header that all pages of the service have.
for (const radio of document.querySelectorAll('input[name=theme]')) {
  radio.checked = radio.value === document.documentElement.dataset.theme
  radio.addEventListener('change', () => {
    const preferences = readPreferences()
    const state = { ...preferences.state, theme: radio.value }
    localStorage.setItem(KEY, JSON.stringify({ version: 0, ...preferences, state }))
    applyTheme()
    dispatchEvent(new Event('theme'))
  })
}

// The console has the search.
addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  document.getElementById('find').click()
})

/** Who sends the requests of this page: the console's session, `anonymous` before the first key; undefined without either. */
const caller = fetch('/console/session').then(
  (response) => (response.ok ? response.json() : undefined),
  () => undefined,
)

caller.then((session) => {
  const isOpen = session?.name === 'anonymous'
  const name = session === undefined || isOpen ? '' : session.label
  document.getElementById('who').textContent = name
  document.getElementById('log-in').hidden = session !== undefined
  document.getElementById('unlocked').hidden = !isOpen
  document.getElementById('avatar').textContent = name.slice(0, 1).toUpperCase()
  document.getElementById('avatar').hidden = name === ''
  document.getElementById('who-long').textContent =
    session === undefined
      ? 'Requests need a key. Log in to the console to use its session here.'
      : isOpen
        ? 'Everybody is an administrator until a key exists.'
        : `${name}, ${session.role}`
})
