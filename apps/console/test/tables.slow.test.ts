import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, openCondition, pauseCalls, seed, shareBrowser } from './console.ts'
import { hold } from './held-timers.ts'

shareBrowser()

const names = (page: Page) => page.locator('.records tbody .name').allTextContents()
const firstRow = (page: Page, name: string) =>
  page.locator('.records tbody tr').first().filter({ hasText: name }).waitFor()

consoleTest('the service applies filters and sort, and the URL reproduces them', async (visit) => {
  const { page, client, open } = visit
  await seed(client)
  await open('/items')
  await openCondition(page, 'Category')
  await page.getByLabel('Category', { exact: true }).fill('kitchen')
  await page.getByLabel('Category', { exact: true }).press('Enter')
  await page.getByRole('button', { name: 'Price', exact: true }).click()
  await firstRow(page, 'Rug 23')
  await page.getByRole('button', { name: 'Price', exact: true }).click()
  await firstRow(page, 'Kettle 3')
  const shown = await names(page)
  const link = new URL(page.url())
  expect(Object.fromEntries(link.searchParams)).toEqual({ category: 'kitchen', sort: 'price_desc' })
  await open(link.pathname.replace('/console', '') + link.search)
  await firstRow(page, 'Kettle 3')
  expect(await names(page)).toEqual(shown)
  await page.goBack()
  await firstRow(page, 'Rug 23')
})

consoleTest('the pager shows the position and leads to any page, also from a shared link', async (visit) => {
  const { page, client, open } = visit
  await seed(client)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const pageInput = page.getByRole('textbox', { name: 'Page' })
  await open('/items?limit=10&page=2')
  await firstRow(page, 'Rug 11')
  await page.getByText('11–20 of 30').waitFor()
  await press('Previous')
  await firstRow(page, 'Lamp 1')
  expect(await page.getByRole('button', { name: 'Previous' }).isDisabled()).toBe(true)
  await press('Last')
  await firstRow(page, 'Kettle 21')
  await page.getByText('21–30 of 30').waitFor()
  expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)
  await page.reload()
  await firstRow(page, 'Kettle 21')
  await press('First')
  await firstRow(page, 'Lamp 1')
  await pageInput.fill('2')
  await pageInput.press('Enter')
  await firstRow(page, 'Rug 11')
  await pageInput.fill('99')
  await pageInput.press('Enter')
  await firstRow(page, 'Kettle 21')
  expect(new URL(page.url()).search).toBe('?limit=10&page=3')
})

consoleTest('beyond the first 100,000 records the pager uses cursors', async ({ page, client, open }) => {
  await seed(client)
  const { items } = await client.items.list.query({})
  // As if these were the records after the first 100,000.
  await page.route('**/trpc/items.list*', (route) =>
    route.fulfill({ json: [{ result: { data: { items, limit: 100, next: 'cursor', total: 100_300 } } }] }),
  )
  const whole = { value: null, count: 100_300, minimum: null, mean: null, maximum: null }
  await page.route('**/trpc/items.summarize*', (route) =>
    route.fulfill({ json: [{ result: { data: { summaries: [whole], as_of: new Date().toISOString() } } }] }),
  )
  await open('/items?limit=100&page=1001')
  await page.getByText('100,001–100,030 of 100,300').waitFor()
  await page.getByText('Pages beyond the first 100,000 records open only by Next.').waitFor()
  expect(await page.getByRole('button', { name: 'Last' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('100,101–').waitFor()
  expect(new URL(page.url()).search).toBe('?limit=100&page=1002&after=cursor')
  await page.reload()
  await page.getByText('100,101–').waitFor()
  await page.getByRole('button', { name: 'Previous' }).click()
  await page.getByText('100,001–').waitFor()
})

consoleTest('a range is one control and one chip; an invalid value shows an error', async ({ page, client, open }) => {
  await seed(client)
  await open('/items')
  await openCondition(page, 'Price')
  await page.getByLabel('Price at most').fill('cheap')
  await page.getByText('Enter a number, such as 12.50').waitFor()
  await page.getByLabel('Price at most').fill('8')
  await page.getByLabel('Price at least').fill('5')
  await page.keyboard.press('Enter')
  await page.getByText('1 item', { exact: true }).waitFor()
  expect(new URL(page.url()).search).toBe('?price_lte=8&price_gte=5')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Filter')
  await page.getByRole('button', { name: 'Price 5 – 8', exact: true }).click()
  expect(await page.getByLabel('Price at least').inputValue()).toBe('5')
  await page.getByLabel('Price at least').fill('')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Price at most 8', exact: true }).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Remove Price 5 – 8' }).click()
  await page.getByText('30 items', { exact: true }).waitFor()
})

consoleTest('a filter applies before the button that takes its focus', async ({ page, client, open }) => {
  await seed(client)
  await open('/items')
  await openCondition(page, 'Category')
  await page.getByLabel('Category', { exact: true }).fill('kitchen')
  await page.getByRole('button', { name: 'Export…' }).click()
  await page.getByText('7 items on all pages where category is kitchen').waitFor()
})

consoleTest('a handwritten link applies valid parameters and names the others', async ({ page, client, open }) => {
  await client.items.createMany.mutate({
    items: [
      { name: 'Year', price: 1, category: '2024' },
      { name: 'Yes', price: 2, category: 'true' },
    ],
  })
  await open('/items?category=2024&price_lt=abc&limit=7&sort=colour_asc')
  await page.getByText('1 item').waitFor()
  await page.getByText('invalid and have no effect: price_lt=abc, sort=colour_asc.').waitFor()
  expect(await names(page)).toEqual(['Year'])
  await open('/items?category=true')
  await firstRow(page, 'Yes')
  expect(await names(page)).toEqual(['Yes'])
})

consoleTest(
  'an invalid cursor, or a page whose rows were deleted, offers a way back',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/items?limit=10&after=nonsense')
    await page.getByRole('heading', { name: 'This page is empty' }).waitFor()
    await page.getByRole('button', { name: 'Go to the first page' }).click()
    await firstRow(page, 'Lamp 1')
    await page.getByRole('button', { name: 'Next' }).click()
    await firstRow(page, 'Rug 11')
    await page.getByRole('button', { name: 'Next' }).click()
    await firstRow(page, 'Kettle 21')
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'This page is empty' }).waitFor()
    await page.getByRole('button', { name: 'Previous' }).click()
    await firstRow(page, 'Rug 11')
  },
  { expected: /Failed to load resource/ },
)

consoleTest(
  'a selection spans the pages of a list; Shift-click selects a range; other filters start anew',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/items?limit=10')
    const all = page.getByRole('checkbox', { name: 'Select all on this page' })
    await all.check()
    await page.getByText('10 items selected').waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await firstRow(page, 'Rug 11')
    await page.getByText('10 items selected, 10 on other pages').waitFor()
    expect(await all.isChecked()).toBe(false)
    await page.getByRole('checkbox', { name: 'Select Rug 11' }).click()
    await page.getByRole('checkbox', { name: 'Select Shelf 16' }).click({ modifiers: ['Shift'] })
    await page.getByText('16 items selected, 10 on other pages').waitFor()
    await page.getByRole('button', { name: 'Change…' }).click()
    await page.getByLabel('New price').fill('7')
    await page.getByRole('button', { name: 'Change 16 items' }).click()
    await page.getByText('16 items changed').waitFor()
    expect((await client.items.list.query({ price_lt: 7.5, price_gt: 6.5, count: true })).total).toBe(16)
    await all.check()
    await page.getByText('10 items selected', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Previous' }).click()
    await firstRow(page, 'Lamp 1')
    await page.getByText('10 items selected, 10 on other pages').waitFor()
    await page.getByRole('button', { name: 'Price', exact: true }).click()
    await page.getByText('items selected').waitFor({ state: 'detached' })
  },
)

consoleTest('the rows per page stay in this browser, and a link keeps its own', async ({ page, client, open }) => {
  await seed(client)
  await open('/items')
  await page.getByText('1–25 of 30').waitFor()
  await page.getByLabel('Rows per page').selectOption('10')
  await page.getByText('1–10 of 30').waitFor()
  await page.getByRole('link', { name: 'Users' }).click()
  await page.getByText('1–10 of 14').waitFor()
  await open('/items?limit=25')
  await page.getByText('1–25 of 30').waitFor()
  await open('/items')
  await page.getByText('1–10 of 30').waitFor()
})

consoleTest('a click on a row acts at once, although a search or a filter was just typed', async (visit) => {
  const { page, client, open } = visit
  await seed(client)
  await open('/items')
  const rug = page.getByRole('checkbox', { name: 'Select Rug 5' })
  await rug.waitFor()
  const { x = 0, y = 0 } = (await rug.boundingBox()) ?? {}
  const pressRug = async () => {
    await page.mouse.move(x + 5, y + 5)
    await page.mouse.down()
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    await page.mouse.up()
  }
  // The time after which a text applies by itself.
  await hold(page, 300)
  await page.keyboard.press('/')
  await page.keyboard.type('rug')
  await pressRug()
  await page.getByText('5 items', { exact: true }).waitFor()
  expect(new URL(page.url()).search).toBe('?q=rug')
  await open('/items')
  const kettle = page.getByRole('link', { name: 'Kettle 3', exact: true })
  await kettle.waitFor()
  await hold(page, 300)
  await openCondition(page, 'Category')
  await page.getByLabel('Category', { exact: true }).fill('lighting')
  const box = (await kettle.boundingBox()) ?? { x: 0, y: 0 }
  await page.mouse.move(box.x + 5, box.y + 5)
  await page.mouse.down()
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  await page.mouse.up()
  await page.getByRole('heading', { name: 'Kettle 3' }).waitFor()
})

consoleTest('editing a cell moves no column and no row', async ({ page, client, open }) => {
  await seed(client)
  await open('/users')
  const row = page.getByRole('row', { name: 'Grace Hopper' })
  await row.waitFor()
  const boxes = () =>
    row.locator('td, th').evaluateAll((cells) =>
      cells.map((cell) => {
        const { left, top, width, height } = cell.getBoundingClientRect()
        return [left, top, width, height].map(Math.round)
      }),
    )
  const before = await boxes()
  for (const column of ['Name', 'E-mail', 'Role', 'Status', 'Age']) {
    await row.locator(`[data-label="${column}"]`).click({ position: { x: 3, y: 3 } })
    await row.locator(`[data-label="${column}"]`).press('F2')
    await page.getByLabel(`${column} of Grace Hopper`, { exact: true }).waitFor()
    expect(await boxes()).toEqual(before)
    await page.keyboard.press('Escape')
  }
})

consoleTest('a late answer keeps a selection made meanwhile on another page', async ({ page, client, open }) => {
  await seed(client)
  await open('/users?limit=10')
  await page.getByRole('checkbox', { name: 'Select Ada Lovelace' }).check()
  const calls = await pauseCalls(page, 'users.updateMany')
  await page.getByRole('button', { name: 'Deactivate 1' }).click()
  await calls.paused
  await page.getByRole('button', { name: 'Next' }).click()
  const other = page.getByRole('checkbox', { name: 'Select Ken Thompson' })
  await other.check()
  calls.resume()
  await page.getByText('Ada Lovelace deactivated').waitFor()
  expect(await other.isChecked()).toBe(true)
})

consoleTest('the actions on the selection are visible and move no row', async ({ page, client, open }) => {
  await seed(client)
  await open('/items')
  const third = page.getByRole('row', { name: 'Kettle 3' })
  await third.waitFor()
  const before = await third.boundingBox()
  await page.getByRole('checkbox', { name: 'Select Lamp 1', exact: true }).check()
  const bar = await page.getByRole('button', { name: 'Delete…' }).boundingBox()
  expect(await third.boundingBox()).toEqual(before)
  expect((bar?.y ?? 900) + (bar?.height ?? 0)).toBeLessThan(900)
})

consoleTest('pressing Next twice skips no page, and Previous still works', async ({ page, client, open }) => {
  await seed(client)
  await open('/items?limit=10')
  await firstRow(page, 'Lamp 1')
  const calls = await pauseCalls(page, 'items.list')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Next' }).click({ force: true })
  calls.resume()
  await firstRow(page, 'Rug 11')
  await page.getByRole('button', { name: 'Previous' }).click()
  await firstRow(page, 'Lamp 1')
})

consoleTest('the Back button closes a dialog and does not reopen a closed one', async ({ page, client, open }) => {
  await seed(client)
  await open('/books')
  await page.getByRole('link', { name: 'Kindred', exact: true }).click()
  await page.getByRole('button', { name: 'Edit…' }).click()
  await page.getByRole('dialog').waitFor()
  expect(new URL(page.url()).pathname).toBe('/console/books/2')
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Edit…' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.goBack()
  await page.getByRole('heading', { name: 'Books' }).waitFor()
  expect(await page.title()).toBe('Books · Resource Console')
})

consoleTest('the console keeps the selected theme after a reload', async ({ page, open }) => {
  await open('/')
  const dark = page.getByRole('group', { name: 'Theme' }).getByRole('radio', { name: 'Dark' })
  await page.getByRole('button', { name: 'Account' }).click()
  await dark.check()
  await page.reload()
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
  await page.getByRole('button', { name: 'Account' }).click()
  expect(await dark.isChecked()).toBe(true)
})

consoleTest('the sort order of a link is shown, whatever it sorts by', async ({ page, client, open }) => {
  await seed(client)
  const shown = () =>
    page
      .getByLabel('Sort')
      .evaluate((select) => (select as unknown as { selectedOptions: { text: string }[] }).selectedOptions[0]?.text)
  await open('/users?sort=created_at_desc')
  await page.getByRole('button', { name: 'Columns' }).click()
  expect(await shown()).toBe('Created, descending')
  await page.getByLabel('Sort').selectOption('Oldest first')
  await page.waitForURL('**/users?sort=id_asc')
  await open('/users?sort=username_asc')
  await page.getByRole('button', { name: 'Columns' }).click()
  expect(await shown()).toBe('username_asc')
})
