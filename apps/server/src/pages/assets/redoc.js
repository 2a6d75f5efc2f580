const font = 'system-ui, sans-serif'

Redoc.init(
  location.search === '?envelope' ? '/openapi-envelope.json' : '/openapi.json',
  {
    // Its search runs in a worker made from a blob, which the page's policy forbids; the browser's own search finds
    // everything, as the whole document is on the page.
    disableSearch: true,
    nativeScrollbars: true,
    theme: {
      typography: { fontFamily: font, headings: { fontFamily: font }, code: { fontFamily: 'ui-monospace, monospace' } },
    },
  },
  document.getElementById('redoc'),
)
