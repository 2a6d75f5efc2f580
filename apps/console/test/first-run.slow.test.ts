import { expect } from 'vitest'
import { consoleTest, layoutFaults, setWidth, shareBrowser, violations } from './console.ts'

shareBrowser()

consoleTest(
  'the first run creates a key and logs in with it, loads and removes samples, and notices the first request',
  async ({ page, service, open }) => {
    await open('/')
    await page.getByRole('heading', { name: 'Welcome to your Resource Service' }).waitFor()
    const code = page.getByRole('tabpanel')
    expect(await code.textContent()).not.toContain('Authorization')
    expect(await violations(page)).toEqual([])

    await page.getByRole('button', { name: 'Create key' }).click()
    const key = (await page.locator('.secret code').textContent()) ?? ''
    expect(key).toMatch(/^rsk_/)
    expect((await fetch(`${service.url}/items`)).status).toBe(401)
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
    const count = async (path: string) =>
      (await fetch(`${service.url}${path}?limit=1&count=true`, { headers })).headers.get('X-Total-Count')

    await page.getByText('200 users, 300 books and 1,000 items. One click removes them again.').waitFor()
    await page.getByRole('button', { name: 'Load samples' }).click()
    await page.getByRole('button', { name: 'Remove samples' }).waitFor()
    expect(await Promise.all(['/api/users', '/books', '/items'].map(count))).toEqual(['200', '300', '1000'])
    // Its own changes may arrive for two seconds longer, which begin here and end below.
    await page.evaluate('{ const ms = performance.now(); performance.now = () => ms }')
    await page.getByRole('button', { name: 'Remove samples' }).click()
    await page.getByRole('button', { name: 'Load samples' }).waitFor()
    expect(await Promise.all(['/api/users', '/books', '/items'].map(count))).toEqual(['0', '0', '0'])

    expect(await code.textContent()).toContain(`-H 'Authorization: Bearer ${key}'`)
    await page.getByRole('tab', { name: 'cURL' }).press('ArrowRight')
    expect(await code.textContent()).toContain(`apiKey: '${key}'`)
    const body = JSON.stringify({ name: 'Desk lamp', price: 24.5, category: 'lighting' })
    const create = () => fetch(`${service.url}/items`, { method: 'POST', headers, body })
    // The page has received its own changes when it shows later ones.
    const oneItem = page.getByRole('link', { name: 'Items 1', exact: true })
    const { headers: created } = await create()
    await oneItem.waitFor()
    await fetch(`${service.url}${created.get('location')}`, { method: 'DELETE', headers })
    await oneItem.waitFor({ state: 'detached' })
    await page.getByText('Waiting for it').waitFor()
    await page.evaluate('{ const ms = performance.now() + 2_000; performance.now = () => ms }')
    await create()
    await page.getByText('It has arrived').waitFor()
    for (const width of [320, 390, 768, 1920]) {
      await setWidth(page, width)
      expect(await layoutFaults(page)).toEqual([])
    }
    expect(await violations(page)).toEqual([])

    await page.getByRole('link', { name: 'Items…' }).click()
    await page.getByRole('dialog', { name: 'Import items' }).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Hide this list' }).click()
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()
  },
  // Until the page has logged in with the key, its other requests are refused.
  { expected: /the server responded with a status of 401/ },
)
