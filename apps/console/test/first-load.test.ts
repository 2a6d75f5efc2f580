import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { consoleTest, seed, shareBrowser } from './console.ts'

shareBrowser()

const dist = new URL('../dist/', import.meta.url)

test('the first load is at most 160 kB of JavaScript, gzipped', async () => {
  const page = await readFile(new URL('index.html', dist), 'utf8')
  const scripts = [...page.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+\.js)"/g)].map(([, path]) => path ?? '')
  const sizes = await Promise.all(scripts.map(async (path) => gzipSync(await readFile(new URL(path, dist))).length))
  expect(scripts).not.toEqual([])
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(160_000)
})

consoleTest(
  'every view works without lazy chunks; one that fails to load shows an error or a notice, and a reload recovers',
  async ({ page, client, open }) => {
    await seed(client)
    await page.route(/assets\/(Dialogs|Shortcuts|csv)-/, (route) => route.abort())
    await open('/')
    await page.getByRole('table', { name: 'Items by category' }).waitFor()
    await open('/users')
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
    await page.getByText('A dialog could not be loaded.').waitFor()
    await page.getByRole('row', { name: 'Ada Lovelace' }).waitFor()
    await page.getByRole('button', { name: 'New user' }).click()
    await page.getByRole('heading', { name: 'This page stopped working' }).waitFor()
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Reload the page', exact: true }).click()
    await page.getByRole('heading', { name: 'New user' }).waitFor()
  },
  { expected: /Failed to load resource|dynamically imported module/ },
)
