import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, pauseCalls, seed, shareBrowser, type Visit } from './console.ts'

shareBrowser()

// Tasks of an operator. Each starts on the page of its noun and may take at most six steps: a click, a key, a choice in a
// list, or a chosen file. Typed words and values are no steps; selecting their field is one.
const MAX_STEPS = 6

// Set by hand: among how many other records, without a mouse, and on a processor slowed so many times, where the paint after an
// interaction may take so long.
const MAX_PAINT_MS = 100
const { VITEST_RECORDS = '0', VITEST_KEYBOARD, VITEST_SLOWDOWN } = process.env
const OTHERS = Number(VITEST_RECORDS) / 2

/** Acts as an operator and counts the steps. */
class Operator {
  steps = 0
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  async click(target: Locator) {
    this.steps++
    if (VITEST_KEYBOARD === undefined) return target.click()
    await reach(target)
    const toggles = await target.evaluate((element) => element.matches('[type=checkbox]'))
    await this.#page.keyboard.press(toggles ? 'Space' : 'Enter')
  }

  /** Begins to edit a cell. */
  async edit(target: Locator) {
    this.steps += 2
    if (VITEST_KEYBOARD === undefined) return target.dblclick()
    await reach(target)
    await this.#page.keyboard.press('F2')
  }

  async press(key: string) {
    this.steps++
    await this.#page.keyboard.press(key)
  }

  async type(text: string) {
    await this.#page.keyboard.type(text)
  }

  async chooseFile(name: string, text: string) {
    this.steps++
    await this.#page
      .locator('input[type=file]')
      .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
  }

  async download(target: Locator): Promise<string> {
    const [file] = await Promise.all([this.#page.waitForEvent('download'), this.click(target)])
    return readFile(await file.path(), 'utf8')
  }
}

/** Moves the focus to an element as the keyboard does: by tabs, and within a table by arrows. */
async function reach(target: Locator) {
  await target.waitFor()
  const keyboard = target.page().keyboard
  const next = () => target.evaluate(nextKey)
  const keys: string[] = []
  for (let key = await next(); key !== undefined; key = await next()) {
    keys.push(key)
    if (keys.length > 150) throw new Error(`${target} cannot be reached: ${keys.slice(-20).join(' ')}`)
    await keyboard.press(key)
  }
}

/** The key that brings the focus nearer to an element; undefined if it has the focus. */
function nextKey(element: Element): string | undefined {
  const { activeElement: focused } = document
  if (focused === null || focused === element) return undefined
  const table = element.closest('[role=grid]')
  if (table === null || !table.contains(focused)) return 'Tab'
  const place = (of: Element) => {
    const cell = of.closest<HTMLTableCellElement>('td, th')
    return { row: cell?.closest('tr')?.rowIndex ?? 0, column: cell?.cellIndex ?? 0 }
  }
  const [from, to] = [place(focused), place(element)]
  if (from.row !== to.row) return from.row < to.row ? 'ArrowDown' : 'ArrowUp'
  if (from.column !== to.column) return from.column < to.column ? 'ArrowRight' : 'ArrowLeft'
  return element.contains(focused) ? undefined : 'Tab'
}

/** Records that no task is about. */
async function addOthers({ client }: Visit) {
  for (let from = 0; from < OTHERS; from += 1000) {
    const numbers = Array.from({ length: Math.min(1000, OTHERS - from) }, (_, n) => from + n)
    await Promise.all([
      client.users.createMany.mutate({
        users: numbers.map((n) => ({ name: `Other ${n}`, email: `o${n}@example.org`, status: 'inactive' })),
      }),
      client.items.createMany.mutate({ items: numbers.map((n) => ({ name: `Other ${n}`, price: n % 80 })) }),
    ])
  }
}

/** Begins to measure, and returns what gives the interactions whose paint took too long, as `128 ms: click on Delete…, 90 in handlers`. */
async function measurePaints(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate((limit) => {
    const slow = new Map<number, string>()
    Object.assign(globalThis, { slow })
    new PerformanceObserver((list) => {
      // An interaction has several events. That of the longest handlers tells the most.
      const events = (list.getEntries() as (PerformanceEventTiming & { interactionId: number })[])
        .filter(({ interactionId, duration }) => interactionId > 0 && duration > limit)
        .sort((a, b) => a.processingEnd - a.processingStart - (b.processingEnd - b.processingStart))
      for (const { name, target, duration, processingStart, processingEnd, interactionId } of events) {
        const text = target instanceof Element ? (target.getAttribute('aria-label') ?? target.textContent) : ''
        const handled = Math.round(processingEnd - processingStart)
        slow.set(interactionId, `${duration} ms: ${name} on ${text?.slice(0, 40)}, ${handled} in handlers`)
      }
    }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit)
  }, MAX_PAINT_MS)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: Number(VITEST_SLOWDOWN) })
  return () => page.evaluate(() => [...(globalThis as unknown as { slow: Map<number, string> }).slow.values()])
}

function task(
  name: string,
  noun: 'users' | 'items',
  steps: number,
  act: (visit: Visit, operator: Operator) => Promise<void>,
) {
  consoleTest(`${name}: ${steps} steps`, async (visit) => {
    const operator = new Operator(visit.page)
    await seed(visit.client)
    await addOthers(visit)
    await visit.open(`/${noun}`)
    await visit.page.locator('.records tbody tr').first().waitFor()
    const slowPaints = VITEST_SLOWDOWN === undefined ? undefined : await measurePaints(visit.page)
    await act(visit, operator)
    if (slowPaints !== undefined) expect(await slowPaints()).toEqual([])
    expect(operator.steps).toBe(steps)
    expect(steps).toBeLessThanOrEqual(MAX_STEPS)
  })
}

const button = ({ page }: Visit, name: string) => page.getByRole('button', { name })
const row = ({ page }: Visit, name: string) => page.getByRole('row', { name }).first()
const cell = (visit: Visit, name: string, column: string) => row(visit, name).locator(`[data-label="${column}"]`)

const focused = ({ page }: Visit, element: string) =>
  page.waitForFunction((element) => document.activeElement?.tagName === element, element)

task('find a user by half a name, and open it', 'users', 3, async (visit, operator) => {
  await operator.press('/')
  await operator.type('lisk')
  await operator.press('Enter')
  await visit.page.getByText('1 user', { exact: true }).waitFor()
  await operator.click(visit.page.getByRole('link', { name: 'Barbara Liskov' }))
  await visit.page.getByRole('heading', { name: 'Barbara Liskov' }).waitFor()
})

task('find who has an e-mail address', 'users', 2, async (visit, operator) => {
  await operator.press('/')
  await operator.type('grace@example.com')
  await operator.press('Enter')
  await visit.page.getByText('1 user', { exact: true }).waitFor()
  await row(visit, 'Grace Hopper').waitFor()
})

task('raise the prices of all lamps by 10 %', 'items', 5, async (visit, operator) => {
  await operator.press('/')
  await operator.type('lamp')
  await operator.press('Enter')
  await visit.page.getByText('5 items', { exact: true }).waitFor()
  await operator.click(visit.page.getByRole('checkbox', { name: 'Select all on this page' }))
  await operator.click(button(visit, 'Change…'))
  await focused(visit, 'INPUT')
  await operator.type('+10%')
  await visit.page.getByRole('region', { name: 'Preview' }).waitFor()
  await operator.press('Enter')
  await visit.page.getByText('5 items changed').waitFor()
  const { items } = await visit.client.items.list.query({ q: 'lamp' })
  // 5.50, 47.50, 89.50, 41.50 and 83.50 before.
  expect(items.map(({ price }) => price)).toEqual([6.05, 52.25, 98.45, 45.65, 91.85])
})

task('undo a mistake: 14 users deactivated', 'users', 2, async (visit, operator) => {
  await visit.page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await operator.click(button(visit, 'Deactivate 11'))
  await operator.click(button(visit, 'Undo: 11 users deactivated'))
  await visit.page.getByText('11 users restored').waitFor()
  expect((await visit.client.users.list.query({ status: 'active', count: true })).total).toBe(11)
})

task('correct 50 rows that an import refused', 'items', 5, async (visit, operator) => {
  const rows = Array.from({ length: 200 }, (_, index) => `Thing ${index},${index % 4 === 0 ? 'free' : index}`)
  await button(visit, 'Import…').click()
  await visit.page
    .locator('input[type=file]')
    .setInputFiles({ name: 'items.csv', mimeType: 'text/csv', buffer: Buffer.from(['name,price', ...rows].join('\n')) })
  await button(visit, 'Import 150 items').click()
  await visit.page.getByText('150 items created, 50 rows failed').waitFor()
  const remaining = await operator.download(button(visit, 'Download remaining rows'))
  await operator.click(button(visit, 'Done'))
  await operator.click(button(visit, 'Import…'))
  await operator.chooseFile('corrected.csv', remaining.replaceAll(',free,', ',0,'))
  await operator.click(button(visit, 'Import 50 items'))
  await visit.page.getByText('50 items created').waitFor()
  expect((await visit.client.items.list.query({ q: 'thing', count: true })).total).toBe(200)
})

task('make a user an administrator', 'users', 4, async (visit, operator) => {
  await operator.edit(cell(visit, 'Grace Hopper', 'Role'))
  await focused(visit, 'SELECT')
  await operator.press('a')
  await operator.press('Enter')
  await visit.page.getByText('Grace Hopper saved').waitFor()
  expect((await visit.client.users.get.query({ id: 2 })).role).toBe('admin')
})

task('find the dearest item of a category', 'items', 2, async (visit, operator) => {
  await operator.click(visit.page.getByRole('link', { name: 'Overview', exact: true }))
  const kitchen = visit.page.getByRole('table', { name: 'Items by category' }).getByRole('row', { name: 'kitchen' })
  await operator.click(kitchen.getByRole('link', { name: '47.79' }))
  await visit.page.getByText('7 items').waitFor()
  await expect.poll(() => visit.page.locator('.records tbody .name').first().textContent()).toBe('Kettle 3')
})

task('delete all items that cost over 88', 'items', 6, async (visit, operator) => {
  await operator.click(visit.page.getByRole('button', { name: 'Filter', exact: true }))
  await operator.click(visit.page.locator('.anchored').getByRole('button', { name: 'Price' }))
  await focused(visit, 'INPUT')
  await operator.type('88')
  await operator.press('Enter')
  await visit.page.getByText('3 items', { exact: true }).waitFor()
  await operator.click(visit.page.getByRole('checkbox', { name: 'Select all on this page' }))
  await operator.click(button(visit, 'Delete…'))
  await operator.click(visit.page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }))
  await visit.page.getByText('3 items deleted').waitFor()
  expect((await visit.client.items.list.query({ price_gte: 88, count: true })).total).toBe(0)
})

task('delete 12,000 items', 'items', 4, async (visit, operator) => {
  const { page, client } = visit
  for (let from = 0; from < 12_000; from += 1000) {
    const items = Array.from({ length: 1000 }, (_, n) => ({ name: `Thing ${from + n}`, price: n }))
    await client.items.createMany.mutate({ items })
  }
  await visit.open('/items?q=thing')
  await page.getByText('12,000 items', { exact: true }).waitFor()
  await operator.click(page.getByRole('checkbox', { name: 'Select all on this page' }))
  await operator.click(button(visit, 'Select all 12,000'))
  await operator.click(button(visit, 'Delete…'))
  await page.getByText('Exactly this is written, in several steps. You can undo it.').waitFor()
  await operator.click(button(visit, 'Delete 12,000 items'))
  await page.getByRole('heading', { name: 'No items match' }).waitFor()
  // They were deleted in steps, which are undone together.
  await button(visit, 'Undo: 12,000 items deleted').click()
  await page.getByText('12,000 items restored').waitFor()
  const total = async () => (await client.items.list.query({ q: 'thing', limit: 1, count: true })).total ?? 0
  expect(await total()).toBe(12_000)
  // A deletion stops after the current step, and what it deleted can be undone.
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await button(visit, 'Select all 12,000').click()
  await button(visit, 'Delete…').click()
  const calls = await pauseCalls(page, 'items.deleteWhere')
  await button(visit, 'Delete 12,000 items').click()
  await calls.paused
  await button(visit, 'Stop').click()
  calls.resume()
  const undo = page.getByRole('button', { name: /^Undo: [\d,]+ items deleted$/ })
  await undo.waitFor()
  expect(await total()).toBeGreaterThan(0)
  expect(await total()).toBeLessThan(12_000)
  await undo.click()
  await expect.poll(total).toBe(12_000)
})

task('undo an import of 1,200 rows', 'items', 1, async (visit, operator) => {
  const { page, client } = visit
  const rows = Array.from({ length: 1200 }, (_, n) => `Thing ${n},${n}`)
  await button(visit, 'Import…').click()
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'items.csv', mimeType: 'text/csv', buffer: Buffer.from(['name,price', ...rows].join('\n')) })
  await button(visit, 'Import 1,200 items').click()
  // Without a mouse, the dialog keeps the focus until it is closed.
  if (VITEST_KEYBOARD !== undefined) await page.keyboard.press('Escape')
  await operator.click(button(visit, 'Undo: 1,200 items imported'))
  await page.getByText('1,200 items reverted').waitFor()
  expect((await client.items.list.query({ limit: 1, count: true })).total).toBe(30 + OTHERS)
})

task('export the items of a search', 'items', 4, async (visit, operator) => {
  await operator.press('/')
  await operator.type('clock')
  await operator.press('Enter')
  await visit.page.getByText('5 items', { exact: true }).waitFor()
  await operator.click(button(visit, 'Export…'))
  const file = await operator.download(visit.page.getByRole('button', { name: 'CSV', exact: true }))
  expect(file.trimEnd().split('\r\n').length).toBe(6)
})
