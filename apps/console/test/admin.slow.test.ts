import { createClient } from '@resource/client'
import { expect } from 'vitest'
import { consoleTest, seed, shareBrowser } from './console.ts'

shareBrowser()

const expected = /Failed to load resource/
const KINDRED = { title: 'Kindred', author: 'Octavia E. Butler', published_date: '1979-06-01' }

consoleTest(
  'the first key is created, shown once and used by the page; keys are rotated and revoked',
  async ({ page, service, open }) => {
    const isValid = async (key: string) => {
      const { status } = await fetch(`${service.url}/items`, { headers: { Authorization: `Bearer ${key}` } })
      return status === 200
    }
    const shownKey = () => page.locator('.secret code').textContent()
    await open('/keys')
    await page.getByRole('heading', { name: 'No key yet' }).waitFor()
    await page.getByRole('button', { name: 'New key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('This is the first key.').waitFor()
    expect(await dialog.getByLabel('Role').inputValue()).toBe('admin')
    await page.keyboard.press('Enter')
    await dialog.getByText('Enter a name').waitFor()
    await page.keyboard.type('operator')
    await dialog.getByLabel('Expires').fill('2020-01-01')
    await page.keyboard.press('Enter')
    await dialog.getByText('Expires must be in the future').waitFor()
    await dialog.getByLabel('Expires').fill('2099-01-01')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Key “operator” created' }).waitFor()
    const first = (await shownKey()) ?? ''
    expect(first).toMatch(/^rsk_\w{44}$/)
    expect(await page.getByRole('tabpanel').textContent()).toContain(`-H 'Authorization: Bearer ${first}'`)
    await page.getByRole('tab', { name: 'cURL' }).press('ArrowRight')
    expect(await page.getByRole('tabpanel').textContent()).toContain(`apiKey: '${first}'`)
    await page.getByRole('row', { name: /^operator rsk_.* admin none just now now, this session 2099-01-01/ }).waitFor()

    await page.getByRole('button', { name: 'New key' }).click()
    await dialog.getByLabel('Name').fill('nightly import')
    await dialog.getByLabel('Role').selectOption('writer')
    await dialog.getByLabel('Owner').fill('Mira')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('heading', { name: 'Key “nightly import” created' }).waitFor()
    const second = (await shownKey()) ?? ''
    await page.getByRole('button', { name: 'I have stored it' }).click()
    expect(await page.locator('.secret').count()).toBe(0)
    await page.getByRole('row', { name: /^nightly import rsk_.* writer Mira just now never used never/ }).waitFor()

    await page.getByRole('button', { name: 'Rotate nightly import…' }).click()
    await dialog.getByLabel('The former secret stops working').selectOption('In an hour')
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    await page.getByRole('heading', { name: 'Key “nightly import” rotated' }).waitFor()
    await page.getByText('former secret ends in 59 min.').waitFor()
    expect(await Promise.all([second, (await shownKey()) ?? ''].map(isValid))).toEqual([true, true])
    await page.getByRole('button', { name: 'Rotate operator…' }).click()
    await dialog.getByText('You are logged in with this key.').waitFor()
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    await page.getByRole('heading', { name: 'Key “operator” rotated' }).waitFor()
    const own = (await shownKey()) ?? ''
    expect(await Promise.all([first, own].map(isValid))).toEqual([false, true])

    await page.getByRole('button', { name: 'Revoke nightly import…' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Key “nightly import” revoked').waitFor()
    await page.getByText('Show 1 revoked or expired key').click()
    await page.getByRole('row', { name: 'nightly import' }).getByText('revoked').waitFor()
    expect(await isValid(second)).toBe(false)
    const operator = createClient({ baseUrl: service.url, apiKey: own })
    expect((await operator.audit.list.query({ resource: 'keys' })).audit.map(({ procedure }) => procedure)).toEqual([
      ...['keys.revoke', 'keys.rotate', 'keys.rotate', 'keys.create', 'keys.create'],
    ])
  },
  { expected },
)

consoleTest(
  'the audit log shows changes as they happen, by request, with undo, and filters them',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/')
    await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Audit log' }).click()
    const row = (name: string) => page.getByRole('row', { name })
    await row('created 30 items').waitFor()
    const who = await row('created 30 items').getByText('anonymous').boundingBox()
    expect(who?.height).toBeLessThan(24)
    await row('created 3 books').waitFor()
    await client.items.update.mutate({ id: 3, price: 10, category: 'lighting' })
    await row('changed Kettle 3 price 79.50 → 10.00 category kitchen → lighting').waitFor()
    await page.getByRole('button', { name: 'Undo: anonymous changed Kettle 3' }).click()
    await row('undid Kettle 3 price 10.00 → 79.50').waitFor()
    await row('changed Kettle 3 undone').waitFor()
    expect(await page.getByRole('button', { name: 'Undo: anonymous changed Kettle 3' }).count()).toBe(0)
    expect((await client.items.get.query({ id: 3 })).price).toBe(79.5)

    const input = { id: 1, price: 8 }
    await client.proposals.create.mutate({ operation: 'items.update', input, reason: 'A typing error.' })
    await client.proposals.setStatus.mutate({ id: 1, status: 'applied' })
    await row('changed Lamp 1 price').waitFor()
    await page.getByRole('button', { name: 'Details: anonymous changed Lamp 1' }).click()
    await page.getByRole('link', { name: 'A typing error.' }).waitFor()
    await page.getByLabel('What').selectOption('items.update')
    await row('created 30 items').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove the filter What' }).click()
    const search = page.getByRole('searchbox', { name: 'Record or request' })
    await search.fill('lamp')
    await search.press('Enter')
    await page.getByText('Must be an ID such as 27').waitFor()
    await search.fill('books 2')
    await search.press('Enter')
    await row('created Kindred').waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    await row('created Kindred').getByRole('link', { name: 'Kindred' }).click()
    await page.getByRole('heading', { name: 'Kindred' }).waitFor()
  },
)

consoleTest('a request of more entries than a page is one line with its count', async ({ page, client, open }) => {
  const items = Array.from({ length: 250 }, (_, n) => ({ name: `Lamp ${n}`, price: 1 }))
  await client.items.createMany.mutate({ items })
  const books = Array.from({ length: 100 }, (_, n) => ({ ...KINDRED, title: `Kindred ${n}` }))
  for (const book of books) await client.books.create.mutate(book)
  await client.items.deleteWhere.mutate({ id_gte: 1 })
  await open('/audit')
  await page.getByRole('row', { name: 'deleted 250 items' }).waitFor()
  // A hundred entries: the last deletion, which the line has passed all others of, and 99 books.
  await page.getByText('The newest 100 changes', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Load older' }).click()
  await page.getByRole('row', { name: 'created 250 items' }).waitFor()
  await page.getByText('All changes are shown').waitFor()
  await page.getByRole('button', { name: 'Details: anonymous deleted 250 items' }).click()
  await page.getByText('7 of 250 shown.').waitFor()
  await page.getByRole('button', { name: 'Undo: anonymous deleted 250 items' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('row', { name: 'undid 250 items' }).waitFor()
  expect((await client.items.list.query({ count: true, limit: 1 })).total).toBe(250)
})

consoleTest(
  'the requests of a group are one line, which undoes them all, and a write between them has its own',
  async ({ page, client, open }) => {
    const group = '0198a1c4-7d52-4b0e-9c3f-5a2f8e6b1d07'
    const items = (start: number) =>
      Array.from({ length: 200 }, (_, n) => ({ name: `Lamp ${start + n}`, price: 1, category: 'lighting' }))
    await client.items.createMany.mutate({ items: items(0) }, { group })
    await client.books.create.mutate(KINDRED)
    await client.items.createMany.mutate({ items: items(200) }, { group })
    await open('/audit')
    await page.getByRole('row', { name: 'created 400 items one group of requests' }).waitFor()
    await page.getByRole('row', { name: 'created Kindred' }).waitFor()
    await page.getByText('All changes are shown').waitFor()
    expect(await page.getByRole('row').count()).toBe(3)
    await page.getByRole('button', { name: 'Details: anonymous created 400 items' }).click()
    const table = page.getByRole('region', { name: 'Records of the request' })
    expect(await table.getByRole('columnheader').allTextContents()).toEqual(['ID', 'Name', 'Price', 'Category'])
    await table.getByRole('row', { name: '400 Lamp 399 1.00 lighting' }).waitFor()
    await page.getByRole('button', { name: 'Undo: anonymous created 400 items' }).click()
    const dialog = page.getByRole('dialog', { name: 'Undo: created 400 items?' })
    await dialog.getByText('This undoes 2 requests, the newest first.').waitFor()
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByRole('row', { name: 'undid 400 items' }).waitFor()
    await page.getByRole('row', { name: 'created 400 items undone' }).waitFor()
    expect((await client.items.list.query({ count: true, limit: 1 })).total).toBe(0)
  },
)

consoleTest('the log offers Undo only for a change that nothing has changed since', async (visit) => {
  const { page, client, open } = visit
  await client.items.create.mutate({ name: 'Lamp', price: 1 })
  for (const price of [2, 3, 2]) await client.items.update.mutate({ id: 1, price })
  const named = page.waitForResponse(/items\.get/)
  await open('/audit')
  await page.getByRole('row', { name: 'price 3.00 → 2.00' }).getByRole('button', { name: 'Undo' }).waitFor()
  // The price is the same again.
  for (const name of ['price 1.00 → 2.00 price changed since', 'price 2.00 → 3.00 price changed since'])
    expect(await page.getByRole('row', { name }).getByRole('button', { name: 'Undo' }).count()).toBe(0)
  // Otherwise the log may read the name of a record that no longer exists.
  await named
  await client.items.delete.mutate({ id: 1 })
  await page.getByRole('row', { name: 'price 3.00 → 2.00 deleted since' }).waitFor()
  await page.getByRole('row', { name: 'deleted Lamp' }).getByRole('button', { name: 'Undo' }).waitFor()
})

consoleTest(
  'whether a person or a program made a change shows alike everywhere, however they called the service',
  async ({ page, client, service, open }) => {
    const { key: mira } = await client.keys.create.mutate({ name: 'Mira', role: 'admin' })
    const person = createClient({ baseUrl: service.url, apiKey: mira })
    const nightly = { name: 'nightly-import', role: 'writer', owner: 'Mira' } as const
    const { key } = await person.keys.create.mutate(nightly)
    await person.items.create.mutate({ name: 'Lamp', price: 1 })
    await createClient({ baseUrl: service.url, apiKey: key }).items.update.mutate({ id: 1, price: 2 })
    await open('/items/1')
    await page.getByLabel('API key').fill(mira)
    await page.locator('form.login').getByRole('button', { name: 'Log in' }).click()
    const change = page.getByRole('listitem').filter({ hasText: 'nightly-import changed' })
    await change.locator('.lucide-bot').waitFor()
    await open('/')
    await change.locator('.lucide-bot').waitFor()
    await page.getByRole('listitem').filter({ hasText: 'Mira created Lamp' }).getByText('M', { exact: true }).waitFor()
    await open('/audit')
    await page.getByRole('row', { name: 'nightly-import changed Lamp' }).locator('.lucide-bot').waitFor()
    await page.getByRole('row', { name: 'Mira created Lamp' }).locator('.lucide-user-round').waitFor()
  },
  { expected },
)
