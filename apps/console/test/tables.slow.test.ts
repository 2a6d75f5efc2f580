import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, pauseCalls, seed, shareBrowser } from './console.ts'

shareBrowser()

const names = (page: Page) => page.locator('.records tbody .name').allTextContents()
const focused = (page: Page) => page.evaluate("document.activeElement.getAttribute('aria-label')")
const firstRow = (page: Page, name: string) =>
  page.locator('.records tbody tr').first().filter({ hasText: name }).waitFor()

consoleTest('the service applies filters and sort, and the URL reproduces them', async (visit) => {
  const { page, client, open } = visit
  await seed(client)
  await open('/items')
  await page.getByRole('textbox', { name: 'Category' }).fill('kitchen')
  await page.getByRole('textbox', { name: 'Category' }).press('Enter')
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

consoleTest(
  'the pager goes forward and back by cursor, and a reload keeps the page',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/items?limit=10')
    await firstRow(page, 'Lamp 1')
    await page.getByRole('button', { name: 'Next' }).click()
    await firstRow(page, 'Rug 11')
    await page.getByRole('button', { name: 'Next' }).click()
    await firstRow(page, 'Kettle 21')
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Previous' }).click()
    await firstRow(page, 'Rug 11')
    await page.reload()
    await firstRow(page, 'Rug 11')
    await page.getByRole('button', { name: 'First' }).click()
    await firstRow(page, 'Lamp 1')
  },
)

consoleTest('the keyboard selects and opens rows, and the focus returns when a dialog closes', async (visit) => {
  const { page, client, open } = visit
  await seed(client)
  await open('/books')
  await page.getByRole('checkbox', { name: 'Select Kindred' }).press('Space')
  await page.getByText('1 book selected').waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Edit Kindred' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await focused(page)).toBe('Edit Kindred')
})

consoleTest('a filter keeps the focus, and an invalid value shows an error', async ({ page, client, open }) => {
  await seed(client)
  await open('/items')
  await page.getByRole('textbox', { name: 'Price below' }).fill('cheap')
  await page.getByText('Price below must be a number').waitFor()
  await page.getByRole('textbox', { name: 'Price below' }).fill('8')
  await page.keyboard.press('Enter')
  await page.getByText('1 item').waitFor()
  expect(await page.evaluate('document.activeElement.value')).toBe('8')
  await page.goBack()
  await page.getByText('30 items').waitFor()
  expect(await page.getByRole('textbox', { name: 'Price below' }).inputValue()).toBe('')
})

consoleTest('a filter applies before the button that takes its focus', async ({ page, client, open }) => {
  await seed(client)
  await open('/items')
  await page.getByRole('textbox', { name: 'Category' }).fill('kitchen')
  await page.getByRole('button', { name: 'Export…' }).click()
  await page.getByText('7 items on all pages with category kitchen').waitFor()
})

consoleTest('a handwritten link applies valid parameters and ignores the rest', async ({ page, client, open }) => {
  await client.items.createMany.mutate({
    items: [
      { name: 'Year', price: 1, category: '2024' },
      { name: 'Yes', price: 2, category: 'true' },
    ],
  })
  await open('/items?category=2024&price_lt=abc&limit=7&sort=colour_asc')
  await page.getByText('1 item').waitFor()
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
    await page.getByRole('button', { name: 'Delete 10…' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'This page is empty' }).waitFor()
    await page.getByRole('button', { name: 'Previous' }).click()
    await firstRow(page, 'Rug 11')
  },
  { expected: /Failed to load resource/ },
)

consoleTest('another page starts without a selection; Shift-click selects a range', async ({ page, client, open }) => {
  await seed(client)
  await open('/items?limit=10')
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await page.getByText('10 items selected').waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await firstRow(page, 'Rug 11')
  await page.getByText('items selected').waitFor({ state: 'detached' })
  await page.getByRole('checkbox', { name: 'Select Rug 11' }).click()
  await page.getByRole('checkbox', { name: 'Select Shelf 16' }).click({ modifiers: ['Shift'] })
  await page.getByText('6 items selected').waitFor()
})

consoleTest('the actions on the selection are visible and move no row', async ({ page, client, open }) => {
  await seed(client)
  await open('/items')
  const third = page.getByRole('row', { name: 'Kettle 3' })
  await third.waitFor()
  const before = await third.boundingBox()
  await page.getByRole('checkbox', { name: 'Select Lamp 1', exact: true }).check()
  const bar = await page.getByRole('button', { name: 'Delete 1…' }).boundingBox()
  expect(await third.boundingBox()).toEqual(before)
  expect((bar?.y ?? 900) + (bar?.height ?? 0)).toBeLessThan(900)
})

consoleTest('pressing Next twice skips no page, and Previous still works', async ({ page, client, open }) => {
  await seed(client)
  await open('/items?limit=10')
  await firstRow(page, 'Lamp 1')
  const resume = await pauseCalls(page, 'items.list')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('button', { name: 'Next' }).click({ force: true })
  resume()
  await firstRow(page, 'Rug 11')
  await page.getByRole('button', { name: 'Previous' }).click()
  await firstRow(page, 'Lamp 1')
})

consoleTest('the Back button closes a dialog and does not reopen a closed one', async ({ page, client, open }) => {
  await seed(client)
  await open('/')
  await page.getByRole('link', { name: 'Books', exact: true }).click()
  await page.getByRole('button', { name: 'Edit Kindred' }).click()
  await page.getByRole('dialog').waitFor()
  expect(new URL(page.url()).search).toBe('?open=2')
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Edit Kindred' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.goBack()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  expect(await page.title()).toBe('Overview · Resource Console')
})

consoleTest(
  'the overview counts users by role and status and shows prices by category',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/')
    const row = (table: string, name: string) =>
      page.getByRole('table', { name: table }).getByRole('row', { name }).textContent()
    await page.getByRole('table', { name: 'Prices by category' }).waitFor()
    await page.getByRole('table', { name: 'Users by role' }).waitFor()
    expect(await row('Users by role', 'admin')).toBe('admin3')
    expect(await row('Users by status', 'inactive')).toBe('inactive3')
    expect(await row('Prices by category', 'kitchen')).toBe('kitchen79.547.7979.5')
    await page.getByRole('link', { name: '30 items' }).waitFor()
  },
)

consoleTest('the console keeps the selected theme after a reload', async ({ page, open }) => {
  await open('/')
  await page.getByLabel('Theme').selectOption('dark')
  await page.reload()
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
  expect(await page.getByLabel('Theme').inputValue()).toBe('dark')
})
