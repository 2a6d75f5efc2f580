const font = 'system-ui, sans-serif'

Redoc.init(
  location.search === '?envelope' ? '/openapi-envelope.json' : '/openapi.json',
  {
    // Redoc's search runs in a worker created from a blob, which the page's policy forbids. The browser's search works,
    // because the whole document is on the page.
    disableSearch: true,
    nativeScrollbars: true,
    theme: {
      typography: { fontFamily: font, headings: { fontFamily: font }, code: { fontFamily: 'ui-monospace, monospace' } },
    },
  },
  document.getElementById('redoc'),
)
