for (const link of document.querySelectorAll('.segments a')) {
  if (link.search === location.search) link.setAttribute('aria-current', 'page')
}

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
  const status = (name) => ({ color: token(name), backgroundColor: token(`${name}-tint`), tabTextColor: token(name) })
  const gray = { main: token('soft'), light: token('faint'), dark: token('ink'), contrastText: token('surface') }
  const [get, post, put, remove] = ['soft', 'good', 'warning', 'danger'].map(token)
  return {
    // One column: samples stand below what they belong to.
    breakpoints: { small: '48rem', medium: '999rem', large: '999rem' },
    spacing: { unit: 4, sectionHorizontal: 32, sectionVertical: 24 },
    colors: {
      tonalOffset: 0,
      primary: {
        main: token('accent'),
        light: token('accent'),
        dark: token('accent'),
        contrastText: token('on-accent'),
      },
      success: { ...gray, main: token('good') },
      warning: { ...gray, main: token('warning') },
      error: { ...gray, main: token('danger') },
      gray: { 50: token('sunken'), 100: token('hover') },
      text: { primary: token('ink'), secondary: token('soft') },
      border: { dark: token('line-strong'), light: token('line') },
      responses: {
        success: status('good'),
        error: status('danger'),
        redirect: status('warning'),
        info: status('warning'),
      },
      http: { get, post, put, patch: put, delete: remove, options: get, head: get, basic: get, link: get },
    },
    schema: {
      linesColor: token('line-strong'),
      typeNameColor: token('soft'),
      typeTitleColor: token('soft'),
      requireLabelColor: token('danger'),
      nestedBackground: token('sunken'),
      arrow: { color: token('faint') },
    },
    typography: {
      ...font,
      fontSize: '14px',
      lineHeight: '1.5',
      headings: heading,
      heading1: { ...heading, fontSize: '1.5rem', color: token('ink') },
      heading2: { ...heading, fontSize: '1.25rem', color: token('ink') },
      heading3: { ...heading, fontSize: '1rem', color: token('ink') },
      code: {
        fontFamily: token('mono'),
        fontSize: '13px',
        color: token('ink'),
        backgroundColor: token('sunken'),
      },
      links: { color: token('accent'), visited: token('accent'), hover: token('accent') },
    },
    sidebar: {
      width: '15rem',
      backgroundColor: token('ground'),
      textColor: token('soft'),
      activeTextColor: token('ink'),
      arrow: { color: token('faint') },
    },
    rightPanel: { backgroundColor: token('surface'), textColor: token('ink'), width: '100%' },
    codeBlock: { backgroundColor: token('sunken') },
    fab: { backgroundColor: token('raised'), color: token('ink') },
  }
}

function draw(spec) {
  // Redoc cannot change the theme of an element that it has drawn.
  const element = document.createElement('div')
  element.id = 'redoc'
  document.getElementById('redoc').replaceWith(element)
  // Redoc's search runs in a worker created from a blob, which the page's policy forbids. The browser's search works,
  // because the whole document is on the page.
  const options = { disableSearch: true, nativeScrollbars: true, scrollYOffset: 'header', theme: themeOf() }
  Redoc.init(spec, options, element)
}

fetch(location.search === '?envelope' ? '/openapi-envelope.json' : '/openapi.json')
  .then((response) => response.json())
  .then((spec) => {
    let drawn
    const drawAgain = () => {
      if (drawn === token('ink')) return
      drawn = token('ink')
      draw(spec)
    }
    drawAgain()
    for (const event of ['theme', 'storage']) addEventListener(event, drawAgain)
    dark.addEventListener('change', drawAgain)
  })
