const isEnvelope = location.search === '?envelope'
// Resources that the service has in addition to its collections.
const GROUPS = { Changes: ['Changes', 'Previews', 'Proposals', 'Reversals', 'Audit'], Access: ['Keys', 'Sessions'] }

for (const link of document.querySelectorAll('.segments a')) {
  if (link.search === location.search) link.setAttribute('aria-current', 'page')
}

caller.then((session) => {
  const text =
    session === undefined
      ? 'Requests need a key: log in to the console, or press Authorize. They change real data.'
      : session.name === 'anonymous'
        ? 'Requests need no key until the first one exists. They change real data.'
        : `Requests use the session of ${session.name}, ${session.role}. They change real data.`
  document.getElementById('caller').textContent = text
})

fetch(isEnvelope ? '/openapi-envelope.json' : '/openapi.json')
  .then((response) => response.json())
  .then((spec) => {
    SwaggerUIBundle({
      spec,
      dom_id: '#docs',
      deepLinking: true,
      displayRequestDuration: true,
      // Its themes are inline styles with colors of their own.
      syntaxHighlight: { activated: false },
      // The default sends the document to a validator on another host.
      validatorUrl: null,
    })
    showOperations(spec)
    new MutationObserver(oneMain).observe(document.getElementById('docs'), { childList: true, subtree: true })
  })

/** Swagger UI has a main element, as this page has. */
function oneMain(_, observer) {
  const operations = document.querySelector('#docs main')
  if (operations === null) return
  observer.disconnect()
  operations.setAttribute('role', 'group')
  operations.setAttribute('aria-label', 'Operations')
}

/** The tags in the sidebar, each with the number of its operations. */
function showOperations({ tags, paths }) {
  const counts = new Map()
  for (const operations of Object.values(paths)) {
    for (const { tags: [tag] = [] } of Object.values(operations)) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  }
  const others = Object.values(GROUPS).flat()
  const names = tags.map(({ name }) => name).filter((name) => counts.has(name))
  const groups = { Collections: names.filter((name) => !others.includes(name)), ...GROUPS }
  const nav = document.getElementById('tags')
  const conventions = element('a', 'Conventions')
  conventions.href = '/redoc'
  nav.append(conventions)
  for (const [title, members] of Object.entries(groups)) {
    const section = element('section', '', element('h2', title))
    for (const name of members.filter((name) => names.includes(name))) {
      const link = element('a', '', element('span', name), element('small', String(counts.get(name))))
      // The id that Swagger UI gives the heading of a tag.
      link.href = `#operations-tag-${name.replaceAll(' ', '_')}`
      link.addEventListener('click', () => nav.matches(':popover-open') && nav.hidePopover())
      section.append(link)
    }
    if (section.children.length > 1) nav.append(section)
  }
}

function element(name, text, ...children) {
  const node = document.createElement(name)
  node.append(...(text === '' ? children : [text]))
  return node
}
