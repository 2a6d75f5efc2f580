caller.then((session) => {
  const isLoggedIn = session !== undefined && session.name !== 'anonymous'
  const text = isLoggedIn
    ? ['Requests use your console session (', element('b', `${session.name}, ${session.role}`), ').']
    : [
        session === undefined
          ? 'Requests need a key: log in to the console, or use one here.'
          : 'Requests need no key yet.',
      ]
  document.getElementById('caller').replaceChildren(...text, ' They change real data.')
  document.getElementById('authorize').textContent = isLoggedIn ? 'Use another key…' : 'Use a key…'
})
document.getElementById('authorize').addEventListener('click', () => {
  document.querySelector('.swagger-ui .btn.authorize').click()
})

const chosen = new CSSStyleSheet()
document.adoptedStyleSheets.push(chosen)
let isDrawn = false

showViews('/', (view, spec) => {
  chosen.replaceSync(`.opblock-tag-section:not(:has([data-tag="${CSS.escape(view)}"])) { display: none }`)
  if (isDrawn) return
  isDrawn = true
  const { layoutActions } = SwaggerUIBundle({
    spec,
    dom_id: '#docs',
    deepLinking: true,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    defaultModelsExpandDepth: 0,
    // Its themes are inline styles with colors of their own.
    syntaxHighlight: { activated: false },
    // The default sends the document to a validator on another host.
    validatorUrl: null,
    plugins: [
      {
        wrapComponents: { execute: renamed('Send') },
        statePlugins: { layout: { wrapActions: { scrollToElement } } },
      },
    ],
  })
  // Swagger UI reads the address only once.
  addEventListener('hashchange', () => layoutActions.parseDeepLinkHash(location.hash))
  new MutationObserver(oneMain).observe(document.getElementById('docs'), { childList: true, subtree: true })
})

/** Scrolls to the operation of an address below the header; the top of a tag is that of the page. */
function scrollToElement(_, { layoutActions }) {
  return (target) => {
    layoutActions.clearScrollTo()
    if (target.querySelector('.opblock-tag-section') === null) target.scrollIntoView()
  }
}

/** A button of Swagger UI with another label. */
function renamed(label) {
  return (Button, { React }) =>
    class extends Button {
      render() {
        return React.cloneElement(super.render(), {}, label)
      }
    }
}

/** Swagger UI has a main element, as this page has. */
function oneMain(_, observer) {
  const operations = document.querySelector('#docs main')
  if (operations === null) return
  observer.disconnect()
  operations.setAttribute('role', 'group')
  operations.setAttribute('aria-label', 'Operations')
}
