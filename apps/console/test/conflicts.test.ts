import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, fill, hold, shareBrowser, violations } from './console.ts'

shareBrowser()

const expected = /Failed to load resource/

/** Fails every call of a procedure in the way given until it is called off. */
async function block(page: Page, procedure: string, status = 503) {
  await page.route(`**/trpc/${procedure}*`, (route) => route.fulfill({ status, body: 'broken' }))
}

consoleTest(
  'an edit that meets a newer version shows both side by side, and may go over it',
  async ({ page, client, open }) => {
    await client.items.create.mutate({ name: 'Lamp', price: 10, category: 'lighting' })
    await open('/items?open=1')
    await page.getByRole('dialog').getByLabel('Price').fill('12')
    await client.items.update.mutate({ id: 1, price: 11 })
    await page.getByRole('button', { name: 'Save' }).click()
    const table = page.getByRole('table', { name: 'Both versions' })
    await table.waitFor()
    expect(await table.getByRole('row', { name: 'Price' }).getByRole('cell').allTextContents()).toEqual(['12', '11'])
    expect(await violations(page)).toEqual([])
    expect((await client.items.get.query({ id: 1 })).price).toBe(11)
    await page.getByRole('button', { name: 'Save mine over it' }).click()
    await page.getByText('Lamp saved').waitFor()
    expect((await client.items.get.query({ id: 1 })).price).toBe(12)
  },
  { expected },
)

consoleTest(
  'what someone else changed beside it survives an edit that goes over theirs',
  async ({ page, client, open }) => {
    await client.items.create.mutate({ name: 'Lamp', price: 10, category: 'lighting' })
    await open('/items?open=1')
    await page.getByRole('dialog').getByLabel('Price').fill('12')
    await client.items.update.mutate({ id: 1, category: 'office' })
    await page.getByRole('button', { name: 'Save' }).click()
    const table = page.getByRole('table', { name: 'Both versions' })
    await table.waitFor()
    expect(await table.locator('.differs th').allTextContents()).toEqual(['Price differs'])
    await page.getByRole('button', { name: 'Save mine over it' }).click()
    await page.getByText('Lamp saved').waitFor()
    expect(await client.items.get.query({ id: 1 })).toMatchObject({ price: 12, category: 'office' })
  },
  { expected },
)

consoleTest('a change after a change is no conflict, however soon', async ({ page, client, open }) => {
  await client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
  await open('/users')
  await page.getByRole('button', { name: 'Deactivate Ada' }).waitFor()
  const answer = await hold(page, 'users.list')
  await page.getByRole('button', { name: 'Deactivate Ada' }).click()
  await page.getByText('Ada deactivated').waitFor()
  const again = page.getByRole('button', { name: 'Activate Ada', exact: true })
  await again.click({ force: true })
  answer()
  await again.click()
  await page.getByText('Ada activated').waitFor()
  expect((await client.users.get.query({ id: 1 })).version).toBe(3)
})

consoleTest(
  'a change that is put back leaves another one shown',
  async ({ page, client, open }) => {
    await fill(client)
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
  'a conflict whose stored version cannot be read is said as a failure',
  async ({ page, client, open }) => {
    await client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
    await open('/users')
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
  'a deactivation that meets a newer version shows both, and the stored one can be kept',
  async ({ page, client, open }) => {
    await client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
    await open('/users')
    await page.getByRole('button', { name: 'Deactivate Ada' }).waitFor()
    await client.users.update.mutate({ id: 1, name: 'Ada King' })
    await page.getByRole('button', { name: 'Deactivate Ada' }).click()
    await page.getByRole('heading', { name: 'Ada was changed meanwhile' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Keep the stored one' }).click()
    await page.getByRole('row', { name: 'Ada King' }).waitFor()
    expect(await client.users.get.query({ id: 1 })).toMatchObject({ name: 'Ada King', status: 'active' })
  },
  { expected },
)

consoleTest(
  'a change shows at once and is put back when the service refuses it',
  async ({ page, client, open }) => {
    await client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
    await open('/users')
    let refuse = () => {}
    const asked = new Promise<void>((resolve) => {
      refuse = resolve
    })
    await page.route('**/trpc/users.setStatus*', async (route) => {
      await asked
      await route.fulfill({ status: 500, body: 'broken' })
    })
    await page.getByRole('button', { name: 'Deactivate Ada' }).click()
    await page.getByRole('row', { name: 'Ada' }).getByText('inactive').waitFor()
    refuse()
    await page.getByText('Ada not deactivated').waitFor()
    await page.getByRole('row', { name: 'Ada' }).getByText('active', { exact: true }).waitFor()
    expect(await violations(page)).toEqual([])
  },
  { expected },
)

consoleTest(
  'a list that cannot be loaded says so, and is there after another try',
  async ({ page, client, open }) => {
    await fill(client)
    await block(page, 'books.list')
    await open('/books')
    await page.getByRole('heading', { name: 'Books cannot be loaded' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('row', { name: 'Solaris' }).waitFor()
  },
  { expected },
)

consoleTest('while a list loads, its place is kept', async ({ page, open }) => {
  await page.route('**/trpc/books.list*', () => {})
  await open('/books')
  await page.getByText('Loading books…').waitFor()
  expect(await violations(page)).toEqual([])
  await page.unrouteAll()
})

consoleTest(
  'without a network the page says so, keeps what it has, and goes on when it is back',
  async ({ page, client, open }) => {
    await fill(client)
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
