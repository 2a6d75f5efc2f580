import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { openBrowser } from '@resource/browser-test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { holdTimers } from './held-timers.ts'
import { type Service, startService } from './service.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export interface Visit {
  page: Page
  service: Service
  client: Service['client']
  /** Opens a path under `/console`. */
  open: (path: string) => Promise<void>
}

interface Options extends BrowserContextOptions {
  /** Allowed messages on the browser console, such as the one for each failed request. */
  expected?: RegExp
  /** Pages of other hosts that the test visits. */
  elsewhere?: RegExp
}

/** A test of the console in a real browser, with its own service and database. */
export function consoleTest(name: string, act: (visit: Visit) => Promise<void>, options: Options = {}) {
  test(name, async () => visitConsole(await startService(), act, options))
}

// Animations take a fifth of the time of all tests, so a test that needs them sets `no-preference`.
const DEFAULTS = { viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' } as const

let browser: Browser

/** Starts the browser that all tests of this process share; it ends with the process. */
export function shareBrowser() {
  beforeAll(async () => {
    browser ??= await openBrowser()
  })
}

/**
 * Runs the test and stops the service, then asserts that there was no error, no violation of the Content-Security-Policy and no request to
 * another host.
 */
export async function visitConsole(
  service: Service,
  act: (visit: Visit) => Promise<void>,
  { expected, elsewhere, ...options }: Options,
) {
  await using _ = service
  await using context = await browser.newContext({ ...DEFAULTS, ...options })
  await holdTimers(context)
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const problems: string[] = []
  page.on('console', (message) => {
    if (!expected?.test(message.text())) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(service.url) && !/^(blob|about):/.test(url) && !elsewhere?.test(url)) problems.push(url)
  })
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    console.error('stopped by policy', event.effectiveDirective, event.blockedURI))`)
  const open = async (path: string) => void (await page.goto(`${service.url}/console${path}`))
  await act({ page, service, client: service.client, open }).catch(async (error: Error) => {
    // Without a picture of the page, a failure elsewhere cannot be explained.
    const text = await page
      .locator('body')
      .ariaSnapshot({ timeout: 1_000 })
      .catch(() => 'no text')
    error.message += `\n\nThe page ${page.url()}:\n${text.slice(0, 2_000)}`
    throw error
  })
  expect(problems).toEqual([])
}

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** The rules whose outcome depends on the colors. */
export const COLOR_RULES = ['color-contrast', 'link-in-text-block']

// Some repeat without an end.
const ANIMATIONS_END = `Promise.allSettled(document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().endTime < 10_000)
  .map(({ finished }) => finished))`

/** Violations of WCAG 2.2 A and AA and of axe's best practices, or of these rules alone, as `rule: element`. */
export async function violations(page: Page, rules = TAGS): Promise<string[]> {
  if (await page.evaluate('window.axe === undefined')) await page.evaluate(AXE)
  // What fades in has less contrast until then.
  await page.evaluate(ANIMATIONS_END)
  const found = await page.evaluate(`axe.run({ resultTypes: ['violations'], runOnly: ${JSON.stringify(rules)} })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`)
  return found as string[]
}

/** Changes the width of the viewport, and waits until the page has it. */
export async function setWidth(page: Page, width: number) {
  await page.setViewportSize({ width, height: 900 })
  await page.evaluate(async (width) => {
    while (innerWidth !== width) await new Promise(requestAnimationFrame)
  }, width)
}

/**
 * What is wrong with the layout: a window that scrolls next to the console, a second scrollbar in one direction, and elements
 * beyond the page, also those that are hidden from view.
 */
export async function layoutFaults(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const name = ({ tagName, id, className }: Element) => `${tagName.toLowerCase()}#${id}.${className}`
    const { scrollWidth, scrollHeight, clientWidth, clientHeight } = document.documentElement
    const faults: string[] = []
    if (scrollWidth > clientWidth) faults.push(`the window scrolls sideways, ${scrollWidth} px`)
    if (scrollHeight > clientHeight) faults.push(`the window scrolls, ${scrollHeight} px`)
    const all = [...document.body.querySelectorAll('*')].filter((element) => element.checkVisibility())
    const scrolls = (element: Element, axis: 'X' | 'Y') => {
      const { overflowX, overflowY } = getComputedStyle(element)
      const [style, excess] =
        axis === 'X'
          ? [overflowX, element.scrollWidth - element.clientWidth]
          : [overflowY, element.scrollHeight - element.clientHeight]
      return /auto|scroll/.test(style) && excess > 0
    }
    // Notices and menus are above everything, and a table in a dialog and a row of chips have their own scrollbars.
    const frames = all.filter((element) => !element.matches('.notices, .scroll, .chips, .anchored'))
    for (const axis of ['X', 'Y'] as const) {
      const found = frames.filter((element) => scrolls(element, axis)).map(name)
      if (found.length > (axis === 'X' ? 0 : 1)) faults.push(`scrollbars ${axis}: ${found.join(', ')}`)
    }
    const content = document.getElementById('console')
    const frame = content?.getBoundingClientRect()
    if (content === null || frame === undefined) return faults
    const end = Math.max(...[...content.children].map((child) => child.getBoundingClientRect().bottom), frame.bottom)
    if (content.scrollHeight > end - frame.top + content.scrollTop + 1) faults.push(`empty space below the page`)
    for (const element of all) {
      // A table in a dialog and a row of chips scroll, and a drawing clips its parts.
      if (element.closest('.scroll, .chips, svg > *') !== null) continue
      const { left, right } = element.getBoundingClientRect()
      if (left < -0.5 || right > innerWidth + 0.5) faults.push(`${name(element)} from ${left} to ${right} px`)
    }
    return faults
  })
}

/** Opens the input of a condition of a list. */
export async function openCondition(page: Page, name: string) {
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.locator('.anchored').getByRole('button', { name, exact: true }).click()
}

/** Holds back the calls of a procedure until `resume`. `paused` resolves when the first one has been sent. */
export async function pauseCalls(page: Page, procedure: string) {
  const { promise: paused, resolve: pause } = Promise.withResolvers<void>()
  const { promise: resumed, resolve: resume } = Promise.withResolvers<void>()
  await page.route(`**/trpc/${procedure}*`, async (route) => {
    pause()
    await resumed
    await route.continue()
  })
  return { paused, resume }
}

/** Opens a page that changes by others do not reach. */
export async function openOutdated({ page, open }: Visit, path: string) {
  await page.route('**/api/changes?*', (route) => route.fulfill({ status: 404 }))
  await open(path)
}

/** Lets the service handle the calls of a procedure, but loses its answers, until the route is removed. */
export async function loseAnswers(page: Page, procedure: string) {
  await page.route(`**/trpc/${procedure}*`, async (route) => {
    await route.fetch()
    await route.abort()
  })
}

/** Logs in with a key, without the login form. */
export async function startSession({ page, service }: Pick<Visit, 'page' | 'service'>, key: string) {
  await page.request.post(`${service.url}/console/session`, { headers: { Authorization: `Bearer ${key}` } })
}

/** Creates enough records of each noun for tables, filters and charts. */
export async function seed(client: Service['client']) {
  await client.users.createMany.mutate({
    users: PEOPLE.map((name, index) => ({
      name,
      email: `${name.split(' ')[0]?.toLowerCase()}@example.com`,
      role: index % 5 === 0 ? ('admin' as const) : ('user' as const),
      status: index % 4 === 3 ? ('inactive' as const) : ('active' as const),
      age: index % 3 === 2 ? null : 21 + index,
    })),
  })
  await client.books.createMany.mutate({ books: BOOKS })
  await client.items.createMany.mutate({
    items: Array.from({ length: 30 }, (_, index) => ({
      name: `${THINGS[index % 6]} ${index + 1}`,
      price: 5 + ((index * 37) % 90) + 0.5,
      category: CATEGORIES[index % 4] ?? null,
    })),
  })
}

const PEOPLE = [
  'Ada Lovelace',
  'Grace Hopper',
  'Alan Turing',
  'Edsger Dijkstra',
  'Barbara Liskov',
  'Donald Knuth',
  'Radia Perlman',
  'John McCarthy',
  'Frances Allen',
  'Niklaus Wirth',
  'Margaret Hamilton',
  'Ken Thompson',
  'Shafi Goldwasser',
  'Leslie Lamport',
]
const BOOKS = [
  { title: 'The Left Hand of Darkness', author: 'Ursula K. Le Guin', published_date: '1969-03-01' },
  { title: 'Kindred', author: 'Octavia E. Butler', published_date: '1979-06-01' },
  { title: 'Solaris', author: 'Stanisław Lem', published_date: '1961-06-01' },
]
const THINGS = ['Lamp', 'Chair', 'Kettle', 'Shelf', 'Rug', 'Clock']
const CATEGORIES = ['lighting', 'furniture', 'kitchen', null]
