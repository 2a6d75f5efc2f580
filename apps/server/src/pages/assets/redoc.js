const dark = matchMedia('(prefers-color-scheme: dark)')
const style = getComputedStyle(document.documentElement)

/** The value of a token. Of a color, the one of the current theme: Redoc computes with colors. */
function token(name) {
  const value = style.getPropertyValue(`--${name}`).trim()
  const [, light, night] = /^light-dark\((\S+), (\S+)\)$/.exec(value) ?? []
  const { theme } = document.documentElement.dataset
  return (theme === 'dark' || (theme !== 'light' && dark.matches) ? night : light) ?? value
}

function themeOf() {
  const font = { fontFamily: token('font') }
  const heading = { ...font, fontWeight: '600' }
  const gray = { main: token('soft'), light: token('faint'), dark: token('ink'), contrastText: token('surface') }
  return {
    // Samples have a column of their own, or stand below what they belong to.
    breakpoints: { small: '48rem', medium: '72rem', large: '72rem' },
    spacing: { unit: 4, sectionHorizontal: 0, sectionVertical: 16 },
    colors: {
      tonalOffset: 0,
      primary: { main: token('accent') },
      success: { ...gray, main: token('good') },
      warning: { ...gray, main: token('warning') },
      error: { ...gray, main: token('danger') },
      gray: { 50: token('sunken'), 100: token('hover') },
      text: { primary: token('ink'), secondary: token('soft') },
      border: { dark: token('line-strong'), light: token('line') },
    },
    schema: {
      linesColor: 'transparent',
      typeNameColor: token('soft'),
      typeTitleColor: token('soft'),
      requireLabelColor: token('faint'),
      nestedBackground: token('sunken'),
    },
    typography: {
      ...font,
      fontSize: '14px',
      lineHeight: '1.5',
      headings: heading,
      heading1: { ...heading, fontSize: '1.5rem', color: token('ink') },
      heading2: { ...heading, fontSize: '1rem', color: token('ink') },
      heading3: { ...heading, fontSize: '0.875rem', color: token('ink') },
      code: {
        fontFamily: token('mono'),
        fontSize: '13px',
        color: token('ink'),
        backgroundColor: token('sunken'),
      },
      links: { color: token('accent'), visited: token('accent'), hover: token('accent') },
    },
    sidebar: { width: '0px' },
    rightPanel: { backgroundColor: token('surface'), textColor: token('ink'), width: '42%' },
    codeBlock: { backgroundColor: token('sunken') },
  }
}

function draw(spec) {
  // Redoc cannot change the theme of an element that it has drawn.
  const element = document.createElement('div')
  element.id = 'redoc'
  document.getElementById('redoc').replaceWith(element)
  // Redoc's search runs in a worker created from a blob, which the page's policy forbids. The palette of the console and the
  // browser's search work.
  const options = {
    disableSearch: true,
    hideDownloadButtons: true,
    hideFab: true,
    hideSchemaPattern: true,
    jsonSamplesExpandLevel: 'all',
    nativeScrollbars: true,
    pathInMiddlePanel: true,
    scrollYOffset: 'header',
    theme: themeOf(),
  }
  Redoc.init(spec, options, element)
  new MutationObserver(() => amend(element)).observe(element, { childList: true, subtree: true })
}

/** What Redoc has no option for, also in a response that is opened. */
function amend(element) {
  for (const heading of element.querySelectorAll('h5:not([aria-level])')) {
    // They follow headings of level 2 and 3.
    heading.ariaLevel = '3'
    heading.parentElement.classList.toggle('headers', heading.textContent.startsWith('header'))
    heading.firstChild.data = heading.firstChild.data.replace(/: *$/, ' ')
  }
  // It lists the servers, of which there is one.
  for (const button of element.querySelectorAll('button:enabled:has(> .http-verb)')) button.disabled = true
  for (const span of element.querySelectorAll('td span:not(:has(*))')) {
    const words = inWords(span.textContent)
    if (words === span.textContent) continue
    // React keeps its nodes.
    const [first, ...others] = span.childNodes
    first.data = words
    for (const other of others) other.data = ''
  }
}

/** Redoc's notation of a limit, a format or examples, in words. */
function inWords(text) {
  return text
    .replace(/^( *)\[ (\S+) \.\. (\S+) \]/, (_, space, least, most) => `${space}${grouped(least)} to ${grouped(most)}`)
    .replace(
      /^( *)(<=|>=) (\d+)/,
      (_, space, sign, limit) => `${space}at ${sign === '<=' ? 'most' : 'least'} ${grouped(limit)}`,
    )
    .replace(/^( *)<([\w-]+) *>/, (_, space, format) => (/^(double|int\d+)$/.test(format) ? space : space + format))
    .replace(/^( *)Examples?:/, '$1such as')
}

function grouped(number) {
  return Number(number).toLocaleString('en', { maximumFractionDigits: 20 })
}

let isDrawn = false

showViews('tag/', (spec) => {
  // Redoc goes on to write the sections of a document that it has drawn into the address.
  if (isDrawn) return location.reload()
  isDrawn = true
  document.getElementById('redoc').before(tableOf(spec))
  let theme
  const drawAgain = () => {
    if (theme === token('ink')) return
    theme = token('ink')
    draw(spec)
  }
  drawAgain()
  for (const event of ['theme', 'storage']) addEventListener(event, drawAgain)
  dark.addEventListener('change', drawAgain)
})

/** Links to the operations of a document, in the order in which Redoc shows them. */
function tableOf({ paths }) {
  const list = element('ul')
  list.className = 'operations'
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { tags, operationId, summary }] of Object.entries(operations)) {
      const verb = element('span', method)
      verb.className = `http-verb ${method}`
      const link = element('a', verb, element('code', path), element('span', summary))
      link.href = `#tag/${tags[0].replaceAll(' ', '-')}/operation/${operationId}`
      list.append(element('li', link))
    }
  }
  return list
}
