import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, fill, shareBrowser, type Visit, violations } from './console.ts'

shareBrowser()

// To look at: `SHOTS=1 pnpm test` leaves every view as a picture.
const SHOTS = process.env.SHOTS && fileURLToPath(new URL('../shots/', import.meta.url))

const VIEWS: Record<string, (visit: Visit) => Promise<void>> = {
  overview: async ({ page, open }) => {
    await open('/')
    await page.getByText('Prices by category').waitFor()
    await page.getByText('Users by role').waitFor()
  },
  users: async ({ page, open }) => {
    await open('/users')
    await page.getByRole('row', { name: 'Ada Lovelace' }).waitFor()
  },
  books: async ({ page, open }) => {
    await open('/books')
    await page.getByRole('row', { name: 'Solaris' }).waitFor()
  },
  items: async ({ page, open }) => {
    await open('/items?category=kitchen&sort=price_desc')
    await page.getByRole('row', { name: 'Kettle 3' }).waitFor()
  },
  edit: async ({ page, open }) => {
    await open('/users?open=1')
    await page.getByRole('heading', { name: 'Edit Ada Lovelace' }).waitFor()
  },
  import: async ({ page, open }) => {
    await open('/users?open=import')
    await page.locator('input[type=file]').setInputFiles({
      name: 'users.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('name,email,age\nTony Hoare,tony@example.com,90\n,nobody,old\n'),
    })
    await page.getByText('1 user can be imported').waitFor()
  },
  empty: async ({ page, open }) => {
    await open('/items?category=none-such')
    await page.getByRole('heading', { name: 'No item matches' }).waitFor()
  },
  missing: async ({ page, open }) => {
    await open('/nowhere')
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  },
}

for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [390, 1280]) {
    const options = { colorScheme, viewport: { width, height: 900 } }
    consoleTest(
      `every view fits ${width} px in ${colorScheme}, and axe finds nothing in it`,
      async (visit) => {
        await fill(visit.client)
        for (const [name, show] of Object.entries(VIEWS)) {
          await show(visit)
          expect(await violations(visit.page), name).toEqual([])
          expect(await visit.page.evaluate('document.documentElement.scrollWidth'), name).toBe(width)
          await shoot(visit.page, `${name}-${width}-${colorScheme}`)
        }
      },
      options,
    )
  }
}

consoleTest(
  'the widest screen holds every view',
  async (visit) => {
    await fill(visit.client)
    for (const show of Object.values(VIEWS)) await show(visit)
    expect(await visit.page.evaluate('document.documentElement.scrollWidth')).toBe(1920)
  },
  { viewport: { width: 1920, height: 1080 } },
)

async function shoot(page: Page, name: string) {
  if (!SHOTS) return
  await mkdir(SHOTS, { recursive: true })
  await page.screenshot({ path: `${SHOTS}${name}.png` })
}
