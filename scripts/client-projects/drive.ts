import { deepStrictEqual, match } from 'node:assert/strict'
import type { createTestServer } from '../../apps/server/src/testing/testing.ts'
import type { openBrowser } from '../../packages/browser-test/src/browser.ts'
import { type Client, createClient } from '../../packages/client/src/index.ts'

type Browser = Awaited<ReturnType<typeof openBrowser>>
type Page = Awaited<ReturnType<Awaited<ReturnType<Browser['newContext']>>['newPage']>>
type Server = Awaited<ReturnType<typeof createTestServer>>

export function driveNode(stdout: string): void {
  deepStrictEqual(JSON.parse(stdout), [24.5, 'invalid_input'])
}

/** Creates the first key, after which every call needs one. */
export async function createKey(server: Server): Promise<string> {
  return (await createClient({ baseUrl: server.url }).keys.create.mutate({ name: 'app', role: 'admin' })).key
}

/** Logs in with a key, meets a 400, a 409 and a 412, and reads the pages of books to the end. */
export async function driveVite(browser: Browser, url: string, server: Server): Promise<void> {
  // The second run has the key of the first.
  key ??= await createKey(server)
  const client = createClient({ baseUrl: server.url, apiKey: key })
  await using context = await browser.newContext({ viewport: { width: 800, height: 400 } })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  await page.goto(url)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Log in' }).click()

  const email = page.getByLabel('email')
  const add = page.getByRole('button', { name: 'Add user' })
  await page.getByLabel('name').first().fill('Grace Hopper')
  await email.fill('grace')
  await add.click()
  await page.getByText('must be a valid e-mail address').waitFor()
  await email.fill('ADA@example.com')
  await add.click()
  await page.getByText('already in use by another user').waitFor()
  await email.fill(`grace${Date.now()}@example.com`)
  await add.click()
  await page.getByText('Added Grace Hopper').waitFor()

  const price = page.getByLabel('Price of Lamp')
  await price.fill('30')
  await client.items.update.mutate({ id: 1, price: 26 })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The price is now 26. Save again to replace it.').waitFor()
  const saved = page.waitForResponse(/items\.update/)
  await page.getByRole('button', { name: 'Save' }).click()
  deepStrictEqual((await saved).status(), 200)
  deepStrictEqual((await client.items.get.query({ id: 1 })).price, 30)

  const titles = page.getByText(/^Book \d\d$/)
  await page.getByText('Book 20').waitFor()
  deepStrictEqual((await titles.count()) < 50, true)
  const more = page.getByRole('button', { name: 'More books' })
  for (const last of ['Book 40', 'Book 50']) {
    await more.click()
    await page.getByText(last).waitFor()
  }
  await page.getByText('No more books').waitFor()
  deepStrictEqual(await titles.count(), 50)
  await driveOffline(page, client)
}

/** Adds a book without a network, reloads the page, and expects it to have been added once. */
async function driveOffline(page: Page, client: Client): Promise<void> {
  const count = async () => (await client.books.list.query({ title_contains: 'Kindred' })).books.length
  const before = await count()
  // Only the event: without a network the page could not be reloaded.
  await page.evaluate("dispatchEvent(new Event('offline'))")
  await page.getByRole('button', { name: 'Add Kindred' }).click()
  await page.getByRole('button', { name: 'Waiting for the network' }).waitFor()
  deepStrictEqual(await count(), before)
  const written = page.waitForResponse(/books\.create/)
  await page.reload()
  deepStrictEqual((await written).status(), 200)
  await page.getByText('Book 20').waitFor()
  await page.reload()
  await page.getByText('Book 20').waitFor()
  deepStrictEqual(await count(), before + 1)
}

let key: string | undefined

/** Expects a list rendered by the server, which the browser does not fetch again until a mutation. */
export async function driveNext(browser: Browser, url: string): Promise<void> {
  match(await (await fetch(url)).text(), /<li>Book 20<\/li>/)
  await using context = await browser.newContext()
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const calls: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/trpc')) calls.push(`${request.method()} ${pathname}`)
  })
  await page.goto(url)
  await page.getByText('Book 20').waitFor()
  // Before React has taken over the page of the server, a click has no effect.
  await page.waitForFunction(
    "Object.keys(document.querySelector('button')).some((key) => key.startsWith('__reactProps'))",
  )
  const listed = page.waitForResponse(/books\.list/)
  await page.getByRole('button', { name: 'Add Kindred' }).click()
  await listed
  deepStrictEqual(calls, ['POST /trpc/books.create', 'GET /trpc/books.list'])
}
