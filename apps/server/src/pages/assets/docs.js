caller.then((session) => {
  const login = element('a', 'log in to the console')
  login.href = '/console/'
  const isLoggedIn = session !== undefined && session.name !== 'anonymous'
  const text = isLoggedIn
    ? ['Requests use your console session (', element('b', `${session.label}, ${session.role}`), ').']
    : session === undefined
      ? ['Requests need a key: ', login, ', or use one here.']
      : ['Requests need no key yet.']
  sayCaller(...text)
  document.getElementById('authorize').textContent = isLoggedIn ? 'Use another key…' : 'Use a key…'
})

const dialog = document.getElementById('key')
document.getElementById('authorize').addEventListener('click', () => {
  dialog.returnValue = ''
  dialog.showModal()
})
dialog.addEventListener('close', () => {
  const key = dialog.querySelector('input').value.trim()
  if (dialog.returnValue !== 'use' || key === '') return
  ui.preauthorizeApiKey('bearer', key)
  sayCaller('Requests use the key ', element('code', `${key.slice(0, 12)}…`), '.')
})

let ui

showViews('/', (spec) => {
  if (ui !== undefined) return ui.specActions.updateJsonSpec(spec)
  ui = SwaggerUIBundle({
    spec,
    dom_id: '#docs',
    deepLinking: true,
    tryItOutEnabled: true,
    defaultModelsExpandDepth: 0,
    // Its themes are inline styles with colors of their own.
    syntaxHighlight: { activated: false },
    // The default sends the document to a validator on another host.
    validatorUrl: null,
    plugins: [
      {
        fn: { resolveSubtree: resolveLocally },
        wrapComponents: { ...operationParts, execute: renamed('Send') },
        statePlugins: { layout: { wrapActions: { scrollToElement } } },
      },
    ],
  })
  // Swagger UI reads the address only once.
  addEventListener('hashchange', () => ui.layoutActions.parseDeepLinkHash(location.hash))
  new MutationObserver(oneMain).observe(document.getElementById('docs'), { childList: true, subtree: true })
})

/** Says who sends the requests. */
function sayCaller(...text) {
  document.getElementById('caller').replaceChildren(...text, ' They change real data.')
}

/** The part of a document at a path, with what it refers to. Swagger UI's own resolver takes a second for it. */
async function resolveLocally(spec, path) {
  const at = (keys) => keys.reduce((node, key) => node?.[key], spec)
  const resolve = (node, parents) => {
    if (typeof node !== 'object' || node === null) return node
    if (Array.isArray(node)) return node.map((item) => resolve(item, parents))
    const { $ref: reference, ...own } = node
    if (typeof reference !== 'string') {
      return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value, parents)]))
    }
    if (parents.includes(reference)) return node
    const target = at(
      reference
        .slice('#/'.length)
        .split('/')
        .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')),
    )
    return { ...resolve(target, [...parents, reference]), ...resolve(own, parents) }
  }
  return { errors: [], spec: resolve(at(path), []) }
}

/** Scrolls to the operation of an address below the header; the top of a tag is that of the page. */
function scrollToElement(_, { layoutActions }) {
  return (target) => {
    // An element that was removed.
    if (target === null) return
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
