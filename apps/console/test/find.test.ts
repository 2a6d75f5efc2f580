import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, openCondition, seed, shareBrowser } from './console.ts'

shareBrowser()

const names = (page: Page) => page.locator('.records tbody .name').allTextContents()
const filters = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

consoleTest('/ focuses the search box, and a search shows in the URL', async (visit) => {
  const { page, client, open } = visit
  await seed(client)
  await open('/users')
  await page.getByText('14 users').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('EXAMPLE.com tu')
  await page.keyboard.press('Enter')
  await page.getByText('1 user', { exact: true }).waitFor()
  expect(await names(page)).toEqual(['Alan Turing'])
  expect(filters(page)).toEqual({ q: 'EXAMPLE.com tu' })
  await page.keyboard.press('/')
  const search = page.getByRole('searchbox', { name: 'Search users' })
  const table = page.getByRole('grid', { name: 'Users' })
  const before = await table.boundingBox()
  await search.fill('a')
  expect(await search.getAttribute('aria-invalid')).toBe('false')
  await search.press('Enter')
  await page.getByText('Search must be words of at least 2 characters').waitFor()
  expect(await table.boundingBox()).toEqual(before)
  await search.fill('')
  await page.getByText('14 users').waitFor()
  expect(await page.getByRole('searchbox', { name: 'Search users' }).inputValue()).toBe('')
})

consoleTest('a panel appears with its content, and moves nothing', async (visit) => {
  const { page, client, open } = visit
  await seed(client)
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(/\/panels-/, (route) => released.then(() => route.continue()))
  await open('/users')
  await page.getByText('14 users').waitFor()
  const table = page.getByRole('grid', { name: 'Users' })
  const before = await table.boundingBox()
  await page.evaluate(() => {
    const seen: string[] = Object.assign(window, { seen: [] }).seen
    const note = () => {
      const panel = document.querySelector('.anchored:popover-open')
      const isShown = panel?.checkVisibility() === true
      if (isShown) seen.push(`${panel.className}: ${panel.querySelectorAll('input, select, button').length}`)
    }
    new MutationObserver(note).observe(document.body, { childList: true, subtree: true })
  })
  await page.getByRole('button', { name: 'Columns' }).click()
  // Answered after the click has been rendered.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  release()
  await page.getByRole('checkbox', { name: 'Compact rows' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.locator('.anchored').getByRole('button', { name: 'Role' }).waitFor()
  const seen: string[] = await page.evaluate('seen')
  expect(new Set(seen)).toEqual(new Set(['menu anchored options: 10', 'menu anchored: 7']))
  expect(await table.boundingBox()).toEqual(before)
})

consoleTest('a search runs while the user types, from two characters on', async ({ page, client, open }) => {
  await seed(client)
  await open('/users')
  await page.getByText('14 users').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('grace ')
  await page.getByText('1 user', { exact: true }).waitFor()
  const search = page.getByRole('searchbox', { name: 'Search users' })
  expect(await search.inputValue()).toBe('grace ')
  await page.keyboard.type('hop')
  await page.waitForURL('**/users?q=grace+hop')
  expect(await search.inputValue()).toBe('grace hop')
  expect(await page.evaluate('document.activeElement.type')).toBe('search')
  // Typing is one step back.
  await page.goBack()
  await page.getByText('14 users').waitFor()
  expect(await search.inputValue()).toBe('')
})

consoleTest(
  'a search for an integer finds the record with this id first, and the matches of the text',
  async ({ page, client, open }) => {
    await client.items.createMany.mutate({
      items: Array.from({ length: 30 }, (_, index) => ({ name: `Lamp ${100 - index}`, price: 1, category: 'light' })),
    })
    const search = async (text: string) => {
      await page.getByRole('searchbox').fill(text)
      await page.getByRole('searchbox').press('Enter')
      await page.waitForURL(`**q=${text}*`)
    }
    await open('/items')
    // The name of the record 3 is Lamp 98; the name of the record 20 is Lamp 81.
    await search('81')
    await page.getByText('1 item', { exact: true }).waitFor()
    await search('20')
    await expect.poll(() => names(page)).toEqual(['Lamp 81'])
    await search('3')
    await expect.poll(() => names(page)).toEqual(['Lamp 98'])
    await search('98')
    await expect.poll(() => names(page)).toEqual(['Lamp 98'])
    await client.items.update.mutate({ id: 7, name: 'Rug 20' })
    await page.reload()
    await search('20')
    await expect.poll(() => names(page)).toEqual(['Lamp 81', 'Rug 20'])
    await page.getByText('2 items', { exact: true }).waitFor()
    await open('/items?q=20&category=dark')
    await page.getByRole('heading', { name: 'No items match' }).waitFor()
  },
  { expected: /Failed to load resource/ },
)

consoleTest('cells and forms suggest the values of other records', async ({ page, client, open }) => {
  await seed(client)
  await open('/items')
  const options = page.locator('datalist option')
  const values = () => options.evaluateAll((all) => all.map((option) => (option as HTMLOptionElement).value))
  await page.getByRole('row', { name: 'Chair 2' }).first().locator('[data-label=Category]').dblclick()
  await expect.poll(values).toEqual(['furniture', 'lighting', 'kitchen'])
  const cell = page.getByLabel('Category of Chair 2', { exact: true })
  await cell.fill('ki')
  await expect.poll(values).toEqual(['kitchen'])
  expect(await cell.evaluate((input) => (input as HTMLInputElement).list?.id !== undefined)).toBe(true)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'New item' }).click()
  await page.getByRole('dialog').getByLabel('Category').fill('li')
  await expect.poll(values).toEqual(['lighting'])
})

consoleTest('filters by words, ranges and dates combine, and their links show the same records', async (visit) => {
  const { page, client, open } = visit
  await seed(client)
  await open('/books')
  await openCondition(page, 'Title contains')
  await page.getByLabel('Title contains').fill('dark')
  await page.keyboard.press('Enter')
  await openCondition(page, 'Published')
  await page.getByLabel('Published from').fill('1965-01-01')
  await page.getByLabel('Published until').fill('1969-03-01')
  await page.keyboard.press('Enter')
  await page.getByText('1 book', { exact: true }).waitFor()
  expect(await names(page)).toEqual(['The Left Hand of Darkness'])
  const expected = { title_contains: 'dark', published_date_gte: '1965-01-01', published_date_lte: '1969-03-01' }
  expect(filters(page)).toEqual(expected)
  await page.reload()
  await page.getByText('1 book', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Published 1965-01-01 – 1969-03-01', exact: true }).waitFor()

  await open('/users')
  await openCondition(page, 'Age')
  await page.getByLabel('Age at least').fill('30')
  await page.keyboard.press('Enter')
  await openCondition(page, 'Created')
  await page.getByLabel('Created before').fill('2020-01-01')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'No users match' }).waitFor()
  const start = await page.evaluate("new Date('2020-01-01T00:00').toISOString()")
  expect(filters(page)).toEqual({ age_gte: '30', created_at_lt: start })
  await page.getByText('4 would match without Created before 2020-01-01.').waitFor()
  await page.getByRole('button', { name: 'Remove this filter' }).click()
  await page.getByText('4 users').waitFor()
})

consoleTest('a filter by a value suggests the values of the matching records', async ({ page, client, open }) => {
  await seed(client)
  await open('/items?price_lt=30')
  await openCondition(page, 'Category')
  const input = page.getByLabel('Category', { exact: true })
  const options = page.locator('datalist option')
  await expect
    .poll(() => options.evaluateAll((all) => all.map((option) => (option as HTMLOptionElement).value)))
    .toEqual(['kitchen', 'lighting', 'furniture'])
  await input.fill('KI')
  await expect
    .poll(() => options.evaluateAll((all) => all.map((option) => option.outerHTML)))
    .toEqual(['<option value="kitchen">2</option>'])
  await input.fill('kitchen')
  await input.press('Enter')
  await page.getByText('2 items').waitFor()
})

consoleTest('of more than 500 values, those that begin with the text are suggested', async ({ page, client, open }) => {
  // The records without a value are a group as well.
  const items = Array.from({ length: 600 }, (_, index) => ({ name: 'Lamp', price: 1, category: `c${index}` }))
  await client.items.createMany.mutate({
    items: [...items.slice(0, 599), { name: 'Lamp', price: 1 }, { name: 'Rug', price: 1 }],
  })
  await client.items.create.mutate({ name: 'Rare', price: 1, category: 'zebra' })
  await open('/items')
  await openCondition(page, 'Category')
  await page.getByLabel('Category', { exact: true }).fill('ze')
  const options = page.locator('datalist option')
  await expect
    .poll(() => options.evaluateAll((all) => all.map((option) => (option as HTMLOptionElement).value)))
    .toEqual(['zebra'])
})

consoleTest('a search without an index shows how many records it covered', async ({ page, client, open }) => {
  await seed(client)
  const { items } = await client.items.list.query({ q: 'lamp' })
  await page.route('**/trpc/items.list*', (route) =>
    route.fulfill({ json: [{ result: { data: { items, limit: 25, next: null, total: 5, searched: 100_000 } } }] }),
  )
  await open('/items?q=lamp')
  await page.getByText('The database has no search index, so the search covers only the first 100,000 items.').waitFor()
})
