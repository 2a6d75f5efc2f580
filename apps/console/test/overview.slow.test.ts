import { createClient } from '@resource/client'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, layoutFaults, seed, setWidth, shareBrowser } from './console.ts'

shareBrowser()

const cells = async (page: Page, table: string) => {
  await page.getByRole('table', { name: table }).waitFor()
  return page
    .getByRole('table', { name: table })
    .locator('tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) => [...row.children].map((cell) => cell.textContent).filter((text) => text !== '')),
    )
}

/** Shows another breakdown. */
const choose = (page: Page, title: string) => page.getByRole('combobox', { name: 'Breakdown' }).selectOption(title)

consoleTest('the overview counts the records and their groups, with the mean of a number', async (visit) => {
  const { page, client, open } = visit
  await seed(client)
  await client.items.create.mutate({ name: 'Box', price: 1000, category: 'no category' })
  await open('/')
  expect(await cells(page, 'Items by category')).toEqual([
    ['furniture', '54.25', '8'],
    ['lighting', '51.00', '8'],
    ['kitchen', '47.79', '7'],
    ['no category', '1,000.00', '1'],
    // Records without a value come last, as many as they are.
    ['none', '46.21', '7'],
  ])
  await choose(page, 'Users by role')
  expect(await cells(page, 'Users by role')).toEqual([
    ['user', '27.9', '11'],
    ['admin', '26.0', '3'],
  ])
  await choose(page, 'Books by author')
  expect((await cells(page, 'Books by author')).length).toBe(3)
  const records = page.getByRole('list', { name: 'Records' })
  await records.getByRole('link', { name: 'Items 31 +31 this week' }).waitFor()
  // The growth counts records, not changes.
  await client.items.deleteWhere.mutate({ category: 'kitchen' })
  await client.items.updateWhere.mutate({ id_gte: 1, changes: { set: { category: 'attic' } } })
  await records.getByRole('link', { name: 'Items 24 +24 this week' }).waitFor()
  await page.reload()
  await records.getByRole('link', { name: 'Items 24 +24 this week' }).waitFor()
  await page.getByText('0 errors in the last hour').waitFor()
})

consoleTest('the groups of the overview link to their records', async ({ page, client, open }) => {
  await seed(client)
  await open('/')
  const kitchen = page.getByRole('table', { name: 'Items by category' }).getByRole('row', { name: 'kitchen' })
  // The row's link covers the bar.
  await kitchen.locator('svg').click({ force: true })
  await page.getByRole('row', { name: 'Kettle 3' }).waitFor()
  expect(new URL(page.url()).search).toBe('?category=kitchen')
  await page.goBack()
  await kitchen.getByRole('link', { name: '47.79' }).click()
  await page.getByRole('row', { name: 'Kettle 3' }).waitFor()
  expect(await page.locator('.records tbody .name').first().textContent()).toBe('Kettle 3')
  await page.goBack()
  await page.getByRole('table', { name: 'Items by category' }).getByRole('link', { name: 'none' }).click()
  await page.getByRole('row', { name: 'Shelf 4' }).waitFor()
  expect(await page.locator('.records tbody .name').first().textContent()).toBe('Shelf 4')
})

consoleTest('recent changes name who did what, many records in one line, and arrive live', async (visit) => {
  const { page, client, service, open } = visit
  await seed(client)
  const { key } = await client.keys.create.mutate({ name: 'Deniz', role: 'admin' })
  const deniz = createClient({ baseUrl: service.url, apiKey: key })
  const secret = { headers: { Authorization: `Bearer ${key}` } }
  await page.context().request.post(`${service.url}/console/session`, secret)
  await open('/')
  const entries = page.getByRole('region', { name: 'Recent changes' }).getByRole('listitem')
  await entries.filter({ hasText: 'created 30 items' }).waitFor()
  expect(await entries.count()).toBe(4)
  await page.getByText('Live').first().waitFor()
  await deniz.items.update.mutate({ id: 1, price: 26.95 })
  await entries.filter({ hasText: 'Deniz changed Lamp 1' }).waitFor()
  expect(await entries.first().locator('.detail').textContent()).toBe('price 5.50 → 26.95')
  await entries.first().getByRole('link', { name: 'Lamp 1' }).click()
  await page.getByRole('heading', { name: 'Lamp 1' }).waitFor()
})

consoleTest('figures of any size fit a phone', async ({ page, client, open }) => {
  await client.items.createMany.mutate({
    items: [999_999.99, 1e12, 0.125].map((price, index) => ({
      name: `Safe ${index}`,
      price,
      category: 'x'.repeat(100),
    })),
  })
  await open('/')
  await page.getByRole('table', { name: 'Items by category' }).waitFor()
  for (const width of [320, 390, 768]) {
    await setWidth(page, width)
    expect(await layoutFaults(page)).toEqual([])
    const isCut = await page
      .locator('.shares td')
      .evaluateAll((all) => all.some((cell) => cell.scrollWidth > cell.clientWidth))
    expect(isCut).toBe(false)
  }
})
