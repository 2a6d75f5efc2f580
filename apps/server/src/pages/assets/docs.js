const dark = matchMedia('(prefers-color-scheme: dark)')

function followColorScheme() {
  document.documentElement.classList.toggle('dark-mode', dark.matches)
}

followColorScheme()
dark.addEventListener('change', followColorScheme)

SwaggerUIBundle({
  url: location.search === '?envelope' ? '/openapi-envelope.json' : '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  displayRequestDuration: true,
  // The default sends the document to a validator on another host.
  validatorUrl: null,
})
