import { createClient } from '@resource/client'
import { expect } from 'vitest'
import { consoleTest, seed, shareBrowser } from './console.ts'

shareBrowser()

const expected = /Failed to load resource/

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
  await client.items.deleteWhere.mutate({ id_gte: 1 })
  await open('/audit')
  await page.getByRole('row', { name: 'deleted 250 items' }).waitFor()
  await page.getByText('The newest 1 change', { exact: true }).waitFor()
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
