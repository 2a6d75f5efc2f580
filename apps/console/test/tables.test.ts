import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, fill, shareBrowser } from './console.ts'

shareBrowser()

const names = (page: Page) => page.locator('.records td.name').allTextContents()
const firstRow = (page: Page, name: string) =>
  page.locator('.records tbody tr').first().filter({ hasText: name }).waitFor()

consoleTest('filters and sort are the service’s, stand in the URL, and a link reproduces them', async (visit) => {
  const { page, client, open } = visit
  await fill(client)
  await open('/items')
  await page.getByRole('textbox', { name: 'Category' }).fill('kitchen')
  await page.getByRole('textbox', { name: 'Category' }).press('Enter')
  await page.getByRole('columnheader', { name: 'Price' }).click()
  await firstRow(page, 'Rug 23')
  await page.getByRole('columnheader', { name: 'Price' }).click()
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
  'pages follow the cursor forward and back, and a link leads into the middle',
  async ({ page, client, open }) => {
    await fill(client)
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

consoleTest(
  'the keyboard alone selects a row, opens it, and is back there when it closes',
  async ({ page, client, open }) => {
    await fill(client)
    await open('/books')
    await page.getByRole('row', { name: 'Kindred' }).focus()
    await page.keyboard.press('Space')
    await page.getByText('1 book selected').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('1 book selected').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Edit Kindred' }).press('Enter')
    await page.getByRole('heading', { name: 'Edit Kindred' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  },
)

consoleTest(
  'the overview counts users by role and status and shows prices by category',
  async ({ page, client, open }) => {
    await fill(client)
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

consoleTest('the chosen theme stays at the next visit', async ({ page, open }) => {
  await open('/')
  await page.getByLabel('Theme').selectOption('dark')
  await page.reload()
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
  expect(await page.getByLabel('Theme').inputValue()).toBe('dark')
})
