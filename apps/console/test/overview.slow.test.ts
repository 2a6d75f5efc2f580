import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, layoutFaults, seed, shareBrowser } from './console.ts'

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

consoleTest('the overview counts the records and their groups, with the range of a number', async (visit) => {
  const { page, client, open } = visit
  await seed(client)
  await client.items.create.mutate({ name: 'Box', price: 1000, category: 'no category' })
  await open('/')
  expect(await cells(page, 'Users by role')).toEqual([
    ['user', '11', '22', '27.9', '34'],
    ['admin', '3', '21', '26.0', '31'],
  ])
  expect((await cells(page, 'Books by author')).length).toBe(3)
  expect(await cells(page, 'Items by category')).toEqual([
    ['furniture', '8', '10.50', '54.25', '94.50'],
    ['lighting', '8', '5.50', '51.00', '89.50'],
    ['none', '7', '14.50', '46.21', '84.50'],
    ['kitchen', '7', '9.50', '47.79', '79.50'],
    ['no category', '1', '1,000.00', '1,000.00', '1,000.00'],
  ])
  await page.getByRole('link', { name: '31 items' }).waitFor()
})

consoleTest('the figures of the overview link to their records', async ({ page, client, open }) => {
  await seed(client)
  await open('/')
  const kitchen = page.getByRole('table', { name: 'Items by category' }).getByRole('row', { name: 'kitchen' })
  // The row's link covers the bar.
  await kitchen.locator('svg').click({ force: true })
  await page.getByText('7 items').waitFor()
  expect(new URL(page.url()).search).toBe('?category=kitchen')
  await page.goBack()
  await kitchen.getByRole('link', { name: '79.50' }).click()
  await page.getByText('7 items').waitFor()
  expect(await page.locator('.records tbody .name').first().textContent()).toBe('Kettle 3')
  await page.goBack()
  await page.getByRole('table', { name: 'Items by category' }).getByRole('link', { name: 'none' }).click()
  await page.getByText('30 items').waitFor()
  expect(await page.locator('.records tbody .name').first().textContent()).toBe('Shelf 4')
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
    await page.setViewportSize({ width, height: 900 })
    await page.waitForFunction(`innerWidth === ${width}`)
    expect(await layoutFaults(page)).toEqual([])
    const isCut = await page
      .locator('.card td')
      .evaluateAll((all) => all.some((cell) => cell.scrollWidth > cell.clientWidth))
    expect(isCut).toBe(false)
  }
})
