// The documentation pages show one view at a time, named in the address: the operations of a tag, or the conventions.
const CONVENTIONS = 'Conventions'
// Resources that the service has in addition to its collections.
const GROUPS = { Changes: ['Changes', 'Previews', 'Proposals', 'Reversals', 'Audit'], Access: ['Keys', 'Sessions'] }
const documentPath = location.search === '?envelope' ? '/openapi-envelope.json' : '/openapi.json'

for (const link of document.querySelectorAll('.page-head .segments a')) {
  if (link.search === location.search) link.setAttribute('aria-current', 'page')
  link.addEventListener('click', () => {
    link.hash = location.hash
  })
}

/**
 * Shows the sidebar, and the view of the address whenever it changes.
 *
 * @param prefix what the page's library has in the fragment of a tag before its name
 * @param show draws the document of a view, after its title has been drawn
 */
globalThis.showViews = async (prefix, show) => {
  const spec = await (await fetch(documentPath)).json()
  const counts = new Map()
  for (const operations of Object.values(spec.paths)) {
    for (const { tags: [tag] = [] } of Object.values(operations)) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  }
  const tags = spec.tags.filter(({ name }) => counts.has(name))
  const views = [...tags, { name: CONVENTIONS, description: `Version ${spec.info.version}` }]
  const links = showSidebar(views, counts, prefix)
  const conventions = element('div', ...blocksOf(spec.info.description))
  conventions.id = 'conventions'
  document.querySelector('.page-head').after(conventions)
  let shown
  const choose = () => {
    const view = views.find(({ name }) => slug(name) === slugOfAddress()) ?? views[0]
    if (view === shown) return
    shown = view
    document.title = `${view.name} · ${document.title.split(' · ').slice(-2).join(' · ')}`
    document.querySelector('h1').textContent = view.name
    document.getElementById('about').replaceChildren(...withCode(view.description))
    document.body.dataset.view = view.name === CONVENTIONS ? 'conventions' : 'operations'
    for (const [name, link] of links) link.ariaCurrent = name === view.name ? 'page' : null
    scrollTo(0, 0)
    show(onlyTag(view.name, spec))
  }
  addEventListener('hashchange', choose)
  choose()
}

/** The part of the address that names the view: that of Swagger UI is `#/Users`, of Redoc `#tag/Users`. */
function slugOfAddress() {
  const [, name = ''] = /^#(?:tag)?\/?([^/]*)/.exec(location.hash) ?? []
  return name === 'section' ? slug(CONVENTIONS) : slug(decodeURIComponent(name))
}

function slug(name) {
  return name.replaceAll(/[ _]/g, '-').toLowerCase()
}

/** A link to each view, by its name: those to tags in groups, with the number of their operations. */
function showSidebar(views, counts, prefix) {
  const nav = document.getElementById('tags')
  const others = Object.values(GROUPS).flat()
  const names = views.map(({ name }) => name).filter((name) => name !== CONVENTIONS)
  const groups = { Collections: names.filter((name) => !others.includes(name)), ...GROUPS }
  const links = new Map()
  const link = (name, ...children) => {
    const anchor = element('a', element('span', name), ...children)
    anchor.href = `#${prefix}${name.replaceAll(' ', '-')}`
    anchor.addEventListener('click', () => nav.matches(':popover-open') && nav.hidePopover())
    links.set(name, anchor)
    return anchor
  }
  const conventions = link(CONVENTIONS)
  conventions.prepend(document.getElementById('info-icon').content)
  const sections = Object.entries(groups).map(([title, members]) => {
    const entries = members.filter((name) => names.includes(name))
    const anchors = entries.map((name) => link(name, element('small', String(counts.get(name)))))
    return element('section', element('h2', title), ...anchors)
  })
  const file = element('a', documentPath.slice(1))
  file.href = documentPath
  nav.append(element('section', conventions), ...sections.filter((section) => section.children.length > 1))
  nav.append(element('footer', file))
  return links
}

/** The document with the operations of one tag, and without the conventions, which the page shows itself. */
function onlyTag(tag, spec) {
  const paths = Object.entries(spec.paths).map(([path, operations]) => {
    const own = Object.entries(operations).filter(([, { tags }]) => tags?.[0] === tag)
    // As everywhere else on the pages: the slash at the end means something only where both paths exist.
    const bare = path.replace(/(.)\/$/, '$1')
    return [bare in spec.paths ? path : bare, Object.fromEntries(own)]
  })
  return {
    ...spec,
    info: { ...spec.info, description: '' },
    tags: spec.tags.filter(({ name }) => name === tag),
    paths: Object.fromEntries(paths.filter(([, operations]) => Object.keys(operations).length > 0)),
  }
}

/** The paragraphs and lists of a text. */
function blocksOf(text) {
  return text.split(/\n{2,}/).map((block) => {
    if (!block.startsWith('- ')) return element('p', ...withCode(block))
    const items = block.slice('- '.length).split('\n- ')
    return element('ul', ...items.map((item) => element('li', ...withCode(item))))
  })
}

/** A text, in which code stands between backticks. */
function withCode(text) {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : element('code', part)))
}

function element(name, ...children) {
  const node = document.createElement(name)
  node.append(...children)
  return node
}
