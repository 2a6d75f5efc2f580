import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, pauseCalls, seed, setWidth, shareBrowser, type Visit } from './console.ts'

shareBrowser()

const cell = (page: Page, row: string, column: string) =>
  page.getByRole('row', { name: row }).first().locator(`[data-label="${column}"]`)
const headers = async (page: Page) =>
  (await page.getByRole('columnheader').allTextContents()).filter((text) => !text.startsWith('Select'))
const waitForFocus = (page: Page, text: string) =>
  page.waitForFunction((wanted) => document.activeElement?.textContent?.trim() === wanted, text)

async function hundredUsers({ page, client, open }: Visit) {
  await client.users.createMany.mutate({
    users: Array.from({ length: 120 }, (_, index) => ({
      name: index === 1 ? `A ${'very '.repeat(30)}long name` : `Person ${index + 1}`,
      email: `person.${index + 1}@example.com`,
    })),
  })
  await open('/users?limit=100')
  await page.getByRole('row', { name: 'Person 100', exact: false }).waitFor()
}

consoleTest('a page of 100 rows has at most 30 tab stops; arrow keys move between its cells', async (visit) => {
  const { page } = visit
  await hundredUsers(visit)
  const stops = await page
    .locator('a, button, input, select, [tabindex="0"]')
    .evaluateAll(
      (elements) =>
        elements.filter((element) => (element as HTMLElement).tabIndex >= 0 && element.checkVisibility()).length,
    )
  expect(stops).toBeLessThanOrEqual(30)
  await page.getByRole('button', { name: 'Columns' }).press('Tab')
  await page.keyboard.press('ArrowRight')
  await waitForFocus(page, '1')
  await page.keyboard.press('ArrowDown')
  await waitForFocus(page, '2')
  await page.keyboard.press('PageDown')
  await waitForFocus(page, '12')
  await page.keyboard.press('Control+End')
  const focused = () => page.evaluate("document.activeElement.getAttribute('aria-label')")
  expect(await focused()).toBe('Actions for Person 100')
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('Actions for Person 100')
  await page.keyboard.press('Enter')
  await waitForFocus(page, 'Open')
  await page.keyboard.press('ArrowUp')
  await waitForFocus(page, 'Delete')
  await page.keyboard.press('Escape')
  expect(await focused()).toBe('Actions for Person 100')
  await page.keyboard.press('Control+Home')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/users?limit=100&sort=id_desc')
})

consoleTest('Space selects a row, Enter opens its record, and the link back keeps the page', async (visit) => {
  const { page, client, open } = visit
  await seed(client)
  await open('/items?limit=10&page=2')
  await cell(page, 'Rug 11', 'Price').press('Space')
  await page.getByText('1 item selected').waitFor()
  await page.keyboard.press('j')
  await waitForFocus(page, '52.50')
  await page.keyboard.press('x')
  await page.getByText('2 items selected').waitFor()
  await page.keyboard.press('k')
  await cell(page, 'Rug 11', 'Price').press('Enter')
  await page.getByRole('heading', { name: 'Rug 11' }).waitFor()
  const facts = await page.locator('.facts > div').allTextContents()
  expect(facts).toEqual(['ID11', 'NameRug 11', 'Price15.50', 'Categorykitchen'])
  expect(await page.title()).toBe('Rug 11 · Resource Console')
  await page.getByRole('link', { name: 'Items' }).last().click()
  await page.getByText('11–20 of 30').waitFor()
  await waitForFocus(page, 'Rug 11')
})

consoleTest('a cell is edited in place, and the edit can be undone', async ({ page, client, open }) => {
  await seed(client)
  await open('/items')
  await cell(page, 'Chair 2', 'Price').dblclick()
  await page.getByLabel('Price of Chair 2', { exact: true }).fill('12.25')
  await page.keyboard.press('Enter')
  await page.getByText('Chair 2 saved').waitFor()
  await waitForFocus(page, '12.25')
  expect(await client.items.get.query({ id: 2 })).toMatchObject({ price: 12.25, version: 2 })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Chair 2 restored').waitFor()
  expect(await client.items.get.query({ id: 2 })).toMatchObject({ price: 42.5, version: 3 })

  await cell(page, 'Chair 2', 'Category').press('F2')
  await page.getByLabel('Category of Chair 2', { exact: true }).fill('')
  await page.keyboard.press('Enter')
  await expect.poll(async () => (await client.items.get.query({ id: 2 })).category).toBeNull()
  await page.getByText('Chair 2 saved').waitFor()
  await page.keyboard.press('Control+z')
  await expect.poll(async () => (await client.items.get.query({ id: 2 })).category).toBe('furniture')

  await page.getByRole('link', { name: 'Overview', exact: true }).click()
  await page.getByRole('table', { name: 'Items by category' }).waitFor()
  await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Items' }).click()
  await cell(page, 'Rug 5', 'Price').dblclick()
  await page.getByLabel('Price of Rug 5', { exact: true }).fill('61')
  await page.goBack()
  await page.getByText('Rug 5 saved').waitFor()
  expect((await client.items.get.query({ id: 5 })).price).toBe(61)
  await page.goForward()

  await cell(page, 'Kettle 3', 'Price').press('F2')
  await page.getByLabel('Price of Kettle 3', { exact: true }).fill('cheap')
  await page.getByText('Enter a number, such as 12.50').waitFor()
  await page.keyboard.press('Escape')
  await waitForFocus(page, '79.50')
  expect((await client.items.get.query({ id: 3 })).version).toBe(1)
})

consoleTest('J goes to the name of the first row, which F2 edits', async ({ page, client, open }) => {
  await seed(client)
  await open('/items')
  await cell(page, 'Lamp 1', 'Price').waitFor()
  await page.keyboard.press('j')
  await waitForFocus(page, 'Lamp 1')
  await page.keyboard.press('F2')
  await page.getByLabel('Name of Lamp 1', { exact: true }).waitFor()
})

consoleTest(
  'an edit in place of an outdated version shows both versions, and keeps the other changes',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/books')
    await cell(page, 'Kindred', 'Author').dblclick()
    await page.getByLabel('Author of Kindred').fill('O. E. Butler')
    await client.books.replace.mutate({ id: 2, title: 'Kindred', author: 'Butler', published_date: '2000-01-01' })
    await page.keyboard.press('Enter')
    await page.getByRole('table', { name: 'The versions' }).waitFor()
    await page.getByRole('button', { name: 'Save this version' }).click()
    await page.getByText('Kindred saved').waitFor()
    expect(await client.books.get.query({ id: 2 })).toMatchObject({
      author: 'O. E. Butler',
      published_date: '2000-01-01',
    })
  },
  { expected: /Failed to load resource/ },
)

consoleTest('the columns and the density stay in this browser', async ({ page, client, open }) => {
  await seed(client)
  await open('/items')
  await cell(page, 'Lamp 1', 'ID').waitFor()
  expect(await headers(page)).toEqual(['ID', 'Name', 'Category', 'Price', 'Actions'])
  const height = async () =>
    (await page.getByRole('row', { name: 'Chair 2', exact: false }).first().boundingBox())?.height ?? 0
  const before = await height()
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'Category' }).uncheck()
  await page.getByRole('checkbox', { name: 'Version' }).check()
  await page.getByRole('checkbox', { name: 'Compact rows' }).check()
  await page.reload()
  await cell(page, 'Lamp 1', 'ID').waitFor()
  expect(await headers(page)).toEqual(['ID', 'Name', 'Price', 'Version', 'Actions'])
  expect(await height()).toBeLessThan(before)
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('button', { name: 'Reset columns' }).click()
  await page.getByRole('columnheader', { name: 'Category' }).waitFor()
})

consoleTest(
  'the header stays in view, a long text shows whole on focus and hover, and values do not break',
  async (visit) => {
    const { page } = visit
    await hundredUsers(visit)
    const long = page.getByRole('rowheader', { name: 'A very very' })
    await long.hover()
    expect(await long.getAttribute('data-whole')).toMatch(/^A very .* long name$/)
    await page.getByRole('row', { name: 'Person 3', exact: false }).first().hover()
    expect(await long.getAttribute('data-whole')).toBeNull()
    await long.getByRole('link').focus()
    expect(await long.getAttribute('data-whole')).toMatch(/^A very .* long name$/)
    await page.getByRole('row', { name: 'Person 100', exact: false }).scrollIntoViewIfNeeded()
    for (const width of [700, 1280, 1920]) {
      await setWidth(page, width)
      expect((await page.getByRole('columnheader', { name: 'E-mail' }).boundingBox())?.y).toBeLessThan(60)
      const table = await page.getByRole('grid', { name: 'Users' }).boundingBox()
      expect(table?.width).toBeGreaterThan((width - (width < 1024 ? 0 : 224)) * 0.95)
      const heights = await page.locator('.records tbody tr').evaluateAll((rows) => rows.map((row) => row.clientHeight))
      expect(Math.max(...heights) - Math.min(...heights)).toBeLessThanOrEqual(1)
    }
  },
)

consoleTest('prices have as many decimals as the one that needs most', async ({ page, client, open }) => {
  await client.items.createMany.mutate({
    items: [2, 0.125, 1204.5].map((price, index) => ({ name: `Lamp ${index}`, price })),
  })
  await open('/items')
  await page.getByRole('row', { name: 'Lamp 2' }).waitFor()
  expect(await page.locator('.records td.number').allTextContents()).toEqual(['2.000', '0.125', '1,204.500'])
})

consoleTest(
  'a dialog that moves in gives the focus to its first field, and back to its opener',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/users/1')
    const focused = (name: string) =>
      page.waitForFunction((wanted) => (document.activeElement as HTMLInputElement).name === wanted, name)
    await page.getByRole('button', { name: 'Edit…' }).waitFor()
    const calls = await pauseCalls(page, 'users.get')
    await page.getByRole('button', { name: 'Edit…' }).click()
    await calls.paused
    calls.resume()
    await focused('name')
    await page.keyboard.press('Escape')
    await waitForFocus(page, 'Edit…')
    await page.getByRole('link', { name: 'Users' }).first().click()
    await page.getByRole('button', { name: 'New user' }).press('Enter')
    await focused('name')
    await page.keyboard.press('Escape')
    await waitForFocus(page, 'New user')
  },
  { reducedMotion: 'no-preference' },
)

consoleTest('? lists the shortcuts, which can be turned off', async ({ page, client, open }) => {
  await seed(client)
  await open('/books')
  await page.getByRole('row', { name: 'Solaris' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.getByRole('checkbox', { name: 'as shortcuts' }).uncheck()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await page.getByRole('button', { name: 'New book' }).click()
  await page.getByRole('dialog', { name: 'New book' }).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(1)
})
