import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, openOutdated, pauseCalls, seed, shareBrowser, violations } from './console.ts'

shareBrowser()

const expected = /Failed to load resource/

/** Makes every call of a procedure fail with a status, until the route is removed. */
async function block(page: Page, procedure: string, status = 503) {
  await page.route(`**/trpc/${procedure}*`, (route) => route.fulfill({ status, body: 'broken' }))
}

consoleTest(
  'an edit of an outdated version shows all versions, and each field is chosen',
  async ({ page, client, open }) => {
    await client.items.create.mutate({ name: 'Lamp', price: 10, category: 'lighting' })
    await open('/items?open=1')
    await page.getByRole('dialog').getByLabel('Price').fill('12')
    await client.items.update.mutate({ id: 1, price: 11 })
    await page.getByRole('button', { name: 'Save' }).click()
    const table = page.getByRole('table', { name: 'The versions' })
    await table.waitFor()
    await page.getByRole('heading', { name: 'anonymous saved this item while you were editing' }).waitFor()
    expect(await table.getByRole('row', { name: 'Price' }).getByRole('cell').allTextContents()).toEqual([
      '10.00',
      '11.00',
      '12.00',
    ])
    expect(await violations(page)).toEqual([])
    expect((await client.items.get.query({ id: 1 })).price).toBe(11)
    await table.getByRole('radio', { name: '11.00' }).check()
    await page.getByText('Lamp, 11.00, lighting').waitFor()
    await table.getByRole('radio', { name: '12.00' }).check()
    await page.getByText('Lamp, 12.00, lighting').waitFor()
    await page.getByRole('button', { name: 'Save this version' }).click()
    await page.getByText('Lamp saved').waitFor()
    expect((await client.items.get.query({ id: 1 })).price).toBe(12)
  },
  { expected },
)

consoleTest(
  'an edit of other fields than another user has changed is saved without a question, and keeps their changes',
  async ({ page, client, open }) => {
    await client.items.create.mutate({ name: 'Lamp', price: 10, category: 'lighting' })
    await open('/items?open=1')
    await page.getByRole('dialog').getByLabel('Price').fill('12')
    await client.items.update.mutate({ id: 1, category: 'office' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Lamp saved and merged: price from 10.00 to 12.00').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await client.items.get.query({ id: 1 })).toMatchObject({ price: 12, category: 'office' })
  },
  { expected },
)

consoleTest(
  "a conflict keeps what was typed: the form goes on with it, and with the other user's values of other fields",
  async ({ page, client, open }) => {
    await client.books.create.mutate({ title: 'Kindred', author: 'Butler', published_date: '1979-06-01' })
    await open('/books?open=1')
    await page.getByRole('dialog').getByLabel('Author').fill('Octavia E. Butler')
    await client.books.replace.mutate({ id: 1, title: 'Kindred!', author: 'O. Butler', published_date: '1979-06-01' })
    await page.getByRole('button', { name: 'Save' }).click()
    const table = page.getByRole('table', { name: 'The versions' })
    await table.waitFor()
    expect(await table.getByRole('columnheader').allTextContents()).toEqual([
      'Field',
      'When you opened it',
      'Stored now, by anonymous',
      'Yours',
    ])
    expect(await table.locator('tbody tr').allTextContents()).toEqual([
      'TitleKindredKindred!unchanged',
      'AuthorButlerO. ButlerOctavia E. Butler',
    ])
    await page.getByText('Published is the same in all.').waitFor()
    await page.getByRole('button', { name: 'Back to my edits' }).click()
    expect(await page.getByRole('dialog').getByLabel('Title').inputValue()).toBe('Kindred!')
    expect(await page.getByRole('dialog').getByLabel('Author').inputValue()).toBe('Octavia E. Butler')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Kindred! saved: author from O. Butler to Octavia E. Butler').waitFor()
    expect(await client.books.get.query({ id: 1 })).toMatchObject({ title: 'Kindred!', author: 'Octavia E. Butler' })
  },
  { expected },
)

consoleTest('two quick changes in a row cause no conflict', async ({ page, client, open }) => {
  await client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
  await open('/users')
  await page.getByRole('button', { name: 'Deactivate Ada' }).waitFor()
  const calls = await pauseCalls(page, 'users.list')
  await page.getByRole('button', { name: 'Deactivate Ada' }).click()
  await page.getByText('Ada deactivated').waitFor()
  await calls.paused
  const again = page.getByRole('button', { name: 'Activate Ada', exact: true })
  await again.click({ force: true })
  calls.resume()
  await again.click()
  await page.getByText('Ada activated').waitFor()
  expect((await client.users.get.query({ id: 1 })).version).toBe(3)
})

consoleTest(
  'a reverted change leaves a concurrent change visible',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/users')
    await page.getByRole('button', { name: 'Deactivate Grace Hopper' }).waitFor()
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/trpc/users.setStatus*', async (route) => {
      const isFirst = (route.request().postData() ?? '').includes('"id":1,')
      if (!isFirst) await promise
      if (isFirst) await route.fulfill({ status: 500, body: 'broken' })
      else await route.continue()
    })
    await page.getByRole('button', { name: 'Deactivate Ada Lovelace' }).click()
    await page.getByRole('row', { name: 'Ada Lovelace' }).getByText('inactive').waitFor()
    await page.getByRole('button', { name: 'Deactivate Grace Hopper' }).click()
    await page.getByText('Ada Lovelace not deactivated').waitFor()
    await page.getByRole('row', { name: 'Ada Lovelace' }).getByText('active', { exact: true }).waitFor()
    expect(await page.getByRole('row', { name: 'Grace Hopper' }).getByText('inactive').isVisible()).toBe(true)
    resolve()
    await page.getByText('Grace Hopper deactivated').waitFor()
  },
  { expected },
)

consoleTest(
  'a conflict whose stored version cannot be read shows as a failure',
  async (visit) => {
    const { page, client } = visit
    await client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
    await openOutdated(visit, '/users')
    await page.getByRole('button', { name: 'Deactivate Ada' }).waitFor()
    await client.users.update.mutate({ id: 1, name: 'Ada King' })
    await block(page, 'users.get')
    await page.getByRole('button', { name: 'Deactivate Ada' }).click()
    await page.getByText('Ada not deactivated.').waitFor()
    await page.getByRole('row', { name: 'Ada King' }).waitFor()
  },
  { expected },
)

consoleTest(
  'a deactivation of an outdated version shows both versions, and can keep the stored one',
  async (visit) => {
    const { page, client } = visit
    await client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
    await openOutdated(visit, '/users')
    await page.getByRole('button', { name: 'Deactivate Ada' }).waitFor()
    await client.users.update.mutate({ id: 1, name: 'Ada King' })
    await page.getByRole('button', { name: 'Deactivate Ada' }).click()
    await page.getByRole('heading', { name: 'Ada was changed by someone else' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Take the stored version' }).click()
    await page.getByRole('row', { name: 'Ada King' }).waitFor()
    expect(await client.users.get.query({ id: 1 })).toMatchObject({ name: 'Ada King', status: 'active' })
  },
  { expected },
)

consoleTest(
  'a change shows at once and is reverted if the service rejects it',
  async ({ page, client, open }) => {
    await client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
    await open('/users')
    let reject = () => {}
    const rejected = new Promise<void>((resolve) => {
      reject = resolve
    })
    await page.route('**/trpc/users.setStatus*', async (route) => {
      await rejected
      await route.fulfill({ status: 500, body: 'broken' })
    })
    await page.getByRole('button', { name: 'Deactivate Ada' }).click()
    await page.getByRole('row', { name: 'Ada' }).getByText('inactive').waitFor()
    reject()
    await page.getByText('Ada not deactivated').waitFor()
    await page.getByRole('row', { name: 'Ada' }).getByText('active', { exact: true }).waitFor()
    expect(await violations(page)).toEqual([])
  },
  { expected },
)

consoleTest('a placeholder shows while a list loads', async ({ page, open }) => {
  await page.route('**/trpc/books.list*', () => {})
  await open('/books')
  await page.getByText('Loading books…').waitFor()
  expect(await violations(page)).toEqual([])
  await page.unrouteAll()
})

consoleTest(
  'an offline page shows a warning, keeps its data, and loads the rest when it is back online',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/books')
    await page.getByRole('row', { name: 'Solaris' }).waitFor()
    await page.context().setOffline(true)
    await page.getByText('You are offline.').waitFor()
    await page.getByRole('row', { name: 'Solaris' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('link', { name: 'Items' }).click()
    await page.getByRole('heading', { name: 'You are offline' }).waitFor()
    await page.context().setOffline(false)
    await page.getByText('You are offline.').waitFor({ state: 'detached' })
    await page.getByRole('row', { name: 'Lamp 1', exact: false }).first().waitFor()
  },
  { expected },
)

consoleTest(
  'two conflicts are asked one after the other, and differ in what each action changes',
  async (visit) => {
    const { page, client } = visit
    await client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
    await client.users.create.mutate({ name: 'Eve', email: 'eve@example.com' })
    await openOutdated(visit, '/users')
    await page.getByRole('button', { name: 'Deactivate Eve' }).waitFor()
    for (const id of [1, 2]) await client.users.update.mutate({ id, age: 36 })
    const calls = await pauseCalls(page, 'users.setStatus')
    await page.getByRole('button', { name: 'Deactivate Ada' }).click()
    await page.getByRole('button', { name: 'Deactivate Eve' }).click()
    calls.resume()
    // The answers may arrive in any order.
    for (const _ of [1, 2]) {
      const heading = page.getByRole('heading', { name: 'was changed by someone else' })
      const title = await heading.textContent()
      expect(await page.getByRole('rowheader').allTextContents()).toEqual(expect.arrayContaining(['Status', 'Age']))
      const answer = title?.startsWith('Ada') ? 'Take the stored version' : 'Deactivate anyway'
      await page.getByRole('button', { name: answer }).click()
      await page.getByRole('heading', { name: String(title) }).waitFor({ state: 'detached' })
    }
    await page.getByText('Eve deactivated').waitFor()
    const { users } = await client.users.list.query({})
    expect(users.map(({ status, age }) => [status, age])).toEqual([
      ['active', 36],
      ['inactive', 36],
    ])
  },
  { expected },
)
