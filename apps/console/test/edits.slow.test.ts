import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, pauseCalls, seed, shareBrowser } from './console.ts'

shareBrowser()

const expected = /Failed to load resource/

const cell = (page: Page, row: string, column: string) =>
  page.getByRole('row', { name: row }).first().locator(`[data-label="${column}"]`)

/** Types a value into a cell, and saves it with Enter. */
async function edit(page: Page, row: string, column: string, value: string) {
  await cell(page, row, column).dblclick()
  const input = page.getByLabel(`${column} of ${row}`, { exact: true })
  if (await input.evaluate((element) => element.tagName === 'SELECT')) await input.selectOption(value)
  else await input.fill(value)
  await input.press('Enter')
}

consoleTest(
  'twenty edits on three pages are undone and redone one by one, and each notice names the record and its values',
  async ({ page, client, open }) => {
    await seed(client)
    const all = async () => ({
      users: (await client.users.list.query({})).users.map(({ id, age }) => [id, age]),
      books: (await client.books.list.query({})).books.map(({ id, author }) => [id, author]),
      items: (await client.items.list.query({})).items.map(({ id, price }) => [id, price]),
    })
    const before = await all()
    const notices: { name: string; from: string; to: string; field: string; place: string }[] = []
    const change = async (place: string, name: string, column: string, from: string, to: string, typed = to) => {
      await edit(page, name, column, typed)
      const field = column.toLowerCase()
      await page.getByText(`${name} saved: ${field} from ${from} to ${to}`, { exact: true }).waitFor()
      notices.push({ name, from, to, field, place })
    }
    await open('/items?limit=10&page=2')
    await cell(page, 'Rug 11', 'Price').waitFor()
    // Items 11 to 18: 5.5 + (37 × index mod 90).
    const prices = ['15.50', '52.50', '89.50', '36.50', '73.50', '20.50', '57.50', '94.50']
    for (const [index, from] of prices.entries()) {
      const name = `${['Rug', 'Clock', 'Lamp', 'Chair', 'Kettle', 'Shelf', 'Rug', 'Clock'][index]} ${index + 11}`
      await change('Items, page 2', name, 'Price', from, `${index + 100}.00`, String(index + 100))
    }
    await page.getByRole('link', { name: 'Users' }).click()
    await cell(page, 'Ada Lovelace', 'Age').waitFor()
    for (const [name, from] of [
      ['Ada Lovelace', '21'],
      ['Grace Hopper', '22'],
      ['Alan Turing', 'none'],
      ['Edsger Dijkstra', '24'],
      ['Barbara Liskov', '25'],
      ['Donald Knuth', 'none'],
    ] as const) {
      await change('Users', name, 'Age', from, '70')
    }
    await page.getByRole('link', { name: 'Books' }).click()
    await cell(page, 'Kindred', 'Author').waitFor()
    for (const to of ['A', 'B', 'C', 'D', 'E', 'F']) {
      const from = notices.at(-1)?.field === 'author' ? String(notices.at(-1)?.to) : 'Octavia E. Butler'
      await change('Books', 'Kindred', 'Author', from, to)
    }
    expect(notices.length).toBe(20)
    const after = await all()
    const where = (place: string) => (place === 'Books' ? '' : ` (${place})`)
    for (const { name, from, to, field, place } of notices.toReversed()) {
      await page.keyboard.press('Control+z')
      await page.getByText(`${name} restored: ${field} from ${to} to ${from}${where(place)}`, { exact: true }).waitFor()
    }
    expect(await all()).toEqual(before)
    await page.keyboard.press('Control+z')
    for (const [index, { name, from, to, field, place }] of notices.entries()) {
      await page.keyboard.press(index % 2 === 0 ? 'Control+Shift+z' : 'Control+y')
      const text = `${name} saved again: ${field} from ${from} to ${to}${where(place)}`
      await page.getByText(text, { exact: true }).waitFor()
      if (index === 3) {
        await page.getByRole('link', { name: `Show: ${text}` }).click()
        await page.waitForURL('**/items?limit=10&page=2')
        await cell(page, 'Rug 11', 'Price').getByText('100.00').waitFor()
        await page.goBack()
        await cell(page, 'Kindred', 'Author').waitFor()
      }
    }
    expect(await all()).toEqual(after)
  },
)

consoleTest(
  'Ctrl+Z pressed twenty times at once undoes twenty edits, also those without an answer',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/items')
    const record = (price: number) => (price % 2 === 0 ? 'Chair 2' : 'Kettle 3')
    for (let price = 101; price <= 114; price++) await edit(page, record(price), 'Price', String(price))
    const calls = await pauseCalls(page, 'items.update')
    for (let price = 115; price <= 120; price++) await edit(page, record(price), 'Price', String(price))
    await calls.paused
    for (let count = 0; count < 20; count++) await page.keyboard.press('Control+z')
    calls.resume()
    const prices = async () =>
      Promise.all(
        [2, 3].map(async (id) => (({ price, version }) => [price, version])(await client.items.get.query({ id }))),
      )
    await expect.poll(prices).toEqual([
      [42.5, 21],
      [79.5, 21],
    ])
    await page.keyboard.press('Control+y')
    await expect.poll(prices).toEqual([
      [42.5, 21],
      [101, 22],
    ])
  },
)

consoleTest(
  'undo does not overwrite the change of another user, and says so',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/items')
    await edit(page, 'Chair 2', 'Price', '12.25')
    await page.getByText('Chair 2 saved').waitFor()
    await edit(page, 'Kettle 3', 'Price', '30')
    await page.getByText('Kettle 3 saved').waitFor()
    await client.items.update.mutate({ id: 3, price: 31 })
    await page.keyboard.press('Control+z')
    await page
      .getByText('Kettle 3 not restored (price from 30.00 to 79.50). Kettle 3: price was changed since.')
      .waitFor()
    await page.keyboard.press('Control+z')
    await page.getByText('Chair 2 restored: price from 12.25 to 42.50').waitFor()
    expect((await client.items.get.query({ id: 3 })).price).toBe(31)
    // A change of another field stays.
    await page.keyboard.press('Control+y')
    await page.getByText('Chair 2 saved again').waitFor()
    await client.items.update.mutate({ id: 2, category: 'office' })
    await page.keyboard.press('Control+z')
    await page.getByText('Chair 2 restored: price from 12.25 to 42.50').last().waitFor()
    expect(await client.items.get.query({ id: 2 })).toMatchObject({ price: 42.5, category: 'office', version: 6 })
  },
  { expected },
)

consoleTest(
  'an undo that the service cannot take stays on the stack, and a new edit ends what can be redone',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/items')
    await edit(page, 'Chair 2', 'Price', '12.25')
    await page.getByText('Chair 2 saved').waitFor()
    await page.route('**/trpc/reversals.create*', (route) => route.fulfill({ status: 500, body: 'broken' }))
    await page.keyboard.press('Control+z')
    await page.getByText('Chair 2 not restored (price from 12.25 to 42.50). The service has a problem.').waitFor()
    await page.unrouteAll()
    await page.keyboard.press('Control+z')
    await page.getByText('Chair 2 restored').waitFor()
    await edit(page, 'Chair 2', 'Price', '13')
    await page.getByText('Chair 2 saved: price from 42.50 to 13.00').waitFor()
    await page.keyboard.press('Control+y')
    await page.keyboard.press('Control+z')
    await page.getByText('Chair 2 restored: price from 13.00 to 42.50').waitFor()
    expect((await client.items.get.query({ id: 2 })).version).toBe(5)
  },
  { expected },
)

consoleTest('Ctrl+Z in an input undoes the typing, and no edit of a record', async ({ page, client, open }) => {
  await seed(client)
  await open('/items')
  await edit(page, 'Chair 2', 'Price', '12.25')
  await page.getByText('Chair 2 saved').waitFor()
  await cell(page, 'Chair 2', 'Category').dblclick()
  const input = page.getByLabel('Category of Chair 2', { exact: true })
  await page.keyboard.type('x')
  await page.keyboard.press('Control+z')
  expect(await input.inputValue()).toBe('furniture')
  await page.keyboard.press('Escape')
  expect((await client.items.get.query({ id: 2 })).price).toBe(12.25)
})

consoleTest(
  'edits that begin before the answer to an earlier one are all stored: cells, rows, forms, actions, selections',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/items')
    const items = await pauseCalls(page, 'items.update')
    await edit(page, 'Chair 2', 'Price', '12.25')
    await items.paused
    await cell(page, 'Chair 2', 'Price').press('F2')
    await page.getByLabel('Price of Chair 2', { exact: true }).fill('13')
    await page.keyboard.press('Enter')
    await edit(page, 'Chair 2', 'Category', 'office')
    await edit(page, 'Kettle 3', 'Price', '30')
    await page.getByRole('link', { name: 'Chair 2', exact: true }).click()
    await page.getByRole('button', { name: 'Edit…' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Stool 2')
    await page.getByRole('button', { name: 'Save' }).click()
    items.resume()
    await page.getByText('Stool 2 saved').waitFor()
    expect(await client.items.get.query({ id: 2 })).toMatchObject({
      name: 'Stool 2',
      price: 13,
      category: 'office',
      version: 5,
    })
    expect((await client.items.get.query({ id: 3 })).price).toBe(30)

    // A replacement takes all fields, so it needs those of the edit before.
    await open('/books')
    const books = await pauseCalls(page, 'books.replace')
    await edit(page, 'Kindred', 'Author', 'O. E. Butler')
    await books.paused
    await edit(page, 'Kindred', 'Published', '1979-07-01')
    books.resume()
    await expect
      .poll(() => client.books.get.query({ id: 2 }))
      .toMatchObject({ author: 'O. E. Butler', published_date: '1979-07-01', version: 3 })

    await open('/users')
    const users = await pauseCalls(page, 'users.update')
    await edit(page, 'Ada Lovelace', 'Age', '36')
    await users.paused
    await page.getByRole('button', { name: 'Deactivate Ada Lovelace' }).click()
    await edit(page, 'Grace Hopper', 'Age', '37')
    await page.getByRole('checkbox', { name: 'Select Ada Lovelace' }).check()
    await page.getByRole('checkbox', { name: 'Select Grace Hopper' }).check()
    await page.getByRole('button', { name: 'Change…' }).click()
    await page.getByLabel('New role').selectOption('user')
    users.resume()
    await page.getByRole('button', { name: 'Change 1 user' }).click()
    await page.getByText('Ada Lovelace changed').waitFor()
    expect((await client.users.list.query({ limit: 2 })).users).toMatchObject([
      { role: 'user', age: 36, status: 'inactive' },
      { role: 'user', age: 37, status: 'active' },
    ])
  },
)

consoleTest(
  'after an edit that the service rejects, the next one is stored, and its undo restores the stored value',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/items')
    const { promise: paused, resolve: pause } = Promise.withResolvers<void>()
    const { promise: resumed, resolve: resume } = Promise.withResolvers<void>()
    // Not `times: 1`, which ends the interception just as the page sends the next request.
    let calls = 0
    await page.route('**/trpc/items.update*', async (route) => {
      if (++calls > 1) return route.continue()
      pause()
      await resumed
      await route.fulfill({ status: 500, body: 'broken' })
    })
    await edit(page, 'Chair 2', 'Price', '12.25')
    await paused
    await edit(page, 'Chair 2', 'Price', '13')
    resume()
    await page.getByText('Chair 2 not saved (price from 42.50 to 12.25). The service has a problem.').waitFor()
    await page.getByText('Chair 2 saved: price from 42.50 to 13.00').waitFor()
    await page.keyboard.press('Control+z')
    await page.getByText('Chair 2 restored: price from 13.00 to 42.50').waitFor()
    expect((await client.items.get.query({ id: 2 })).price).toBe(42.5)
  },
  { expected },
)

consoleTest('an action, a form, a creation and a deletion can be undone, too', async ({ page, client, open }) => {
  await seed(client)
  await open('/users')
  await page.getByRole('button', { name: 'Deactivate Ada Lovelace' }).click()
  await page.getByText('Ada Lovelace deactivated: status from active to inactive').waitFor()
  await open('/users/1')
  await page.getByRole('button', { name: 'Activate' }).click()
  await page.getByText('Ada Lovelace activated').waitFor()
  await page.getByRole('button', { name: 'Edit…' }).click()
  await page.getByRole('dialog').getByLabel('Age').fill('36')
  await page.getByRole('dialog').getByLabel('Password').fill('correct horse')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Undo: Ada Lovelace saved: age from 21 to 36' }).click()
  await page.getByText('Ada Lovelace restored: age from 36 to 21').waitFor()
  await page.keyboard.press('Control+z')
  await page.getByText('Ada Lovelace restored: status from active to inactive').waitFor()
  expect(await client.users.get.query({ id: 1 })).toMatchObject({ status: 'inactive', age: 21 })

  await open('/books/2')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Undo: Kindred deleted' }).click()
  await page.getByText('Kindred restored').waitFor()
  expect(await client.books.get.query({ id: 2 })).toMatchObject({ author: 'Octavia E. Butler' })
  await page.getByRole('button', { name: 'New book' }).click()
  await page.getByRole('dialog').getByLabel('Title').fill('Fiasco')
  await page.getByRole('dialog').getByLabel('Author').fill('Lem')
  await page.getByRole('dialog').getByLabel('Published').fill('1986-01-01')
  await page.getByRole('button', { name: 'Create book' }).click()
  await page.getByText('Fiasco created').waitFor()
  await page.keyboard.press('Control+z')
  await page.getByText('Fiasco removed').waitFor()
  await page.keyboard.press('Control+y')
  await page.getByText('Fiasco created again').waitFor()
  expect((await client.books.list.query({ sort: 'id_asc' })).books.map(({ id, title }) => [id, title])).toEqual([
    [1, 'The Left Hand of Darkness'],
    [2, 'Kindred'],
    [3, 'Solaris'],
    [4, 'Fiasco'],
  ])
})
