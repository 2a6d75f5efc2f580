const SECOND = 1_000
const REFRESH_MS = 5 * SECOND
const byId = (id) => document.getElementById(id)

/** Shows a fact, whose element or its parent is hidden until then. */
function show(id, text) {
  byId(id).textContent = text
  byId(id).closest('[hidden]')?.removeAttribute('hidden')
}

async function showState() {
  const response = await fetch('/readyz').catch(() => undefined)
  byId('dot').className = response?.ok ? 'dot' : 'dot danger'
  const state = response?.ok ? 'Running' : response === undefined ? 'Out of reach' : 'Not ready'
  // A status that is written again would be read out again.
  if (byId('state').textContent !== state) byId('state').textContent = state
}

function duration(ms) {
  const minutes = Math.floor(ms / (60 * SECOND))
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24]
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`
}

/** What a caller with any role may know: the facts of the running service. */
async function showFacts() {
  const response = await fetch('/console/status').catch(() => undefined)
  if (!response?.ok) return
  const { database, started_at, requests: seconds } = await response.json()
  // The last second has just begun.
  const requests = seconds.slice(0, -1)
  show('database', database)
  show('uptime', duration(Date.now() - Date.parse(started_at)))
  const sum = requests.reduce((sum, count) => sum + count, 0)
  const digits = sum < 600 ? 1 : 0
  show(
    'rate',
    (sum / requests.length).toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  )
  const largest = Math.max(1, ...requests)
  const bars = requests.map((count, index) => {
    const bar = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
    const height = count === 0 ? 1 : 2 + (54 * count) / largest
    if (index === requests.length - 1) bar.setAttribute('class', 'now')
    const at = { x: index * 4 + 4, y: 56 - height, width: 3, height, rx: 1 }
    for (const [name, value] of Object.entries(at)) bar.setAttribute(name, value)
    return bar
  })
  byId('pulse')
    .querySelector('svg')
    .replaceChildren(...bars)
}

async function showCounts() {
  const counts = await Promise.all(
    [...document.querySelectorAll('[data-path]')].map(async (element) => {
      const response = await fetch(`${element.dataset.path}?limit=1&count=true`)
      const count = Number(response.ok ? response.headers.get('x-total-count') : Number.NaN)
      if (!Number.isNaN(count)) element.textContent = count.toLocaleString('en')
      return count
    }),
  )
  const sum = counts.reduce((sum, count) => sum + count, 0)
  if (!Number.isNaN(sum)) show('records', sum.toLocaleString('en'))
}

showState()
setInterval(() => !document.hidden && showState(), REFRESH_MS)

caller.then((session) => {
  show('keys', session?.name === 'anonymous' ? 'no key yet' : 'keys required')
  if (session === undefined) return
  showFacts()
  setInterval(() => !document.hidden && showFacts(), REFRESH_MS)
  showCounts().catch(() => {})
  // Without keys, a request with a made-up one is refused.
  if (session.name === 'anonymous') for (const line of document.querySelectorAll('.key')) line.remove()
})

const panels = [...document.querySelectorAll('[role=tabpanel]')]
const texts = document.createTreeWalker(byId('first').parentElement, NodeFilter.SHOW_TEXT)
while (texts.nextNode()) {
  texts.currentNode.data = texts.currentNode.data.replace('http://localhost:3000', location.origin)
}

const tabs = panels.map((panel, index) => {
  const tab = document.createElement('button')
  tab.type = 'button'
  tab.role = 'tab'
  tab.className = 'row'
  tab.id = `tab-${index}`
  tab.textContent = panel.ariaLabel
  tab.addEventListener('click', () => choose(index))
  return tab
})
document.querySelector('[role=tablist]').append(...tabs)
document.querySelector('[role=tablist]').addEventListener('keydown', ({ key }) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key]
  if (step === undefined) return
  const next = (tabs.findIndex((tab) => tab.ariaSelected === 'true') + step + tabs.length) % tabs.length
  choose(next)
  tabs[next].focus()
})
choose(0)

function choose(chosen) {
  for (const [index, tab] of tabs.entries()) {
    tab.ariaSelected = String(index === chosen)
    tab.tabIndex = index === chosen ? 0 : -1
    panels[index].hidden = index !== chosen
    // Code that scrolls must be reachable by keyboard.
    panels[index].tabIndex = 0
  }
}

byId('copy').addEventListener('click', async () => {
  const panel = panels.find(({ hidden }) => !hidden)
  try {
    await navigator.clipboard.writeText(panel.textContent)
  } catch {
    // Browsers have no clipboard for pages without TLS, except from this machine.
    getSelection().selectAllChildren(panel)
    document.execCommand('copy')
  }
  const label = byId('copy').querySelector('span')
  label.textContent = 'Copied'
  setTimeout(() => {
    label.textContent = 'Copy'
  }, 2 * SECOND)
})
