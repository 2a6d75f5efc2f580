import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, pauseCalls, seed, shareBrowser } from './console.ts'
import { hold, pass } from './held-timers.ts'

shareBrowser()

/** Opens the palette and types into it. */
async function type(page: Page, text: string) {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search or jump to' }).waitFor()
  await page.keyboard.type(text)
}

const selected = (page: Page) => page.getByRole('option', { selected: true })

consoleTest('the palette opens pages, records and actions with the keyboard alone', async ({ page, client, open }) => {
  await seed(client)
  await open('/')
  await page.getByRole('link', { name: 'Items 30' }).first().waitFor()
  const address = () => new URL(page.url()).pathname + new URL(page.url()).search

  // A page: Enter opens the first match.
  await type(page, 'boo')
  await selected(page).filter({ hasText: 'Books' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: 'Kindred' }).waitFor()
  await page.locator('.palette').waitFor({ state: 'detached' })

  // A record by its id, of one collection or of all.
  await type(page, 'items 27')
  await page.getByRole('option', { name: 'Kettle 27 27 · 67.50' }).waitFor()
  expect(await page.locator('.palette').getByRole('option').count()).toBe(1)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Kettle 27' }).waitFor()
  await type(page, '3')
  await page.getByRole('group', { name: 'Users' }).getByRole('option', { name: 'Alan Turing' }).waitFor()
  await page.getByRole('group', { name: 'Books' }).getByRole('option', { name: 'Solaris' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await selected(page).filter({ hasText: 'Solaris' }).waitFor()
  await page.keyboard.press('Escape')
  await page.locator('.palette').waitFor({ state: 'detached' })

  // By e-mail and by words; Enter waits for the records.
  await type(page, 'grace@example.com')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/users/2')
  await type(page, 'lamp 13')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console/items/13')
  await type(page, 'lamp')
  await page.getByRole('option', { name: 'All 5 items with “lamp”' }).waitFor()
  expect(await page.getByRole('option', { name: 'Lamp 1', exact: false }).locator('mark').first().textContent()).toBe(
    'Lamp',
  )
  await page.keyboard.press('Control+Enter')
  await page.getByText('1–5 of 5').waitFor()
  expect(address()).toBe('/console/items?q=lamp')

  // An action.
  await type(page, 'new us')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'New user' }).waitFor()
  await page.keyboard.press('Escape')
  await type(page, 'theme dark')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
  await type(page, 'shortcuts')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
})

consoleTest('a search waits for a pause of typing, needs two letters, and says what it finds', async (visit) => {
  const { page, client, open } = visit
  await seed(client)
  await open('/books')
  await page.getByRole('row', { name: 'Kindred' }).waitFor()
  const searches: string[] = []
  page.on('request', (request) => {
    if (/users\.list|users\.get/.test(request.url())) searches.push(request.url())
  })
  await page.getByRole('button', { name: 'Search or jump to' }).click()
  await page.keyboard.type('k')
  await page
    .getByText('Nothing matches.')
    .or(page.getByText(/^\d+ results?$/))
    .waitFor()
  expect(searches).toEqual([])
  // A slow machine types with pauses.
  await hold(page, 150)
  await page.keyboard.type('indred')
  await pass(page, 150)
  await page.getByRole('option', { name: 'Kindred' }).waitFor()
  expect(searches.length).toBe(1)
  await page.getByRole('status').getByText('1 result', { exact: true }).waitFor()
  await page.keyboard.type('zz')
  await page.getByText('Nothing matches.').waitFor()
  const held = await pauseCalls(page, '*users.list')
  await page.getByRole('combobox', { name: 'Search or jump to' }).fill('solaris')
  await held.paused
  const failed = page.waitForEvent('requestfailed')
  await page.getByRole('combobox', { name: 'Search or jump to' }).fill('kindred')
  expect((await failed).url()).toContain('solaris')
  held.resume()
  await page.getByRole('option', { name: 'Kindred' }).waitFor()
})
