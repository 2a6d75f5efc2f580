import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '@resource/client'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import {
  consoleTest,
  layoutFaults,
  loseAnswers,
  pauseCalls,
  seed,
  setWidth,
  shareBrowser,
  startSession,
  type Visit,
  violations,
  visitConsole,
} from './console.ts'
import { startService } from './service.ts'

shareBrowser()

// The browser logs each rejected request.
const expected = /Failed to load resource: the server responded with a status of 40[139]/

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

type Role = 'reader' | 'writer' | 'admin'

/** Creates records and a key of each role. From then on the service requires a key. */
async function createKeys({ client, service }: Visit) {
  await seed(client)
  const { key: admin } = await client.keys.create.mutate({ name: 'operator', role: 'admin' })
  const operator = createClient({ baseUrl: service.url, apiKey: admin })
  const create = async (role: Role) => operator.keys.create.mutate({ name: role, role })
  return { operator, admin, reader: await create('reader'), writer: await create('writer') }
}

async function logIn(page: Page, key: string) {
  await page.getByLabel('API key').fill(key)
  await page.locator('form.login').getByRole('button', { name: 'Log in' }).click()
}

async function logOut(page: Page) {
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('button', { name: 'Log out' }).click()
}

/** Revokes a key and waits until the service rejects it. */
async function revoke({ service }: Visit, operator: Client, { id, key }: { id: number; key: string }) {
  await operator.keys.revoke.mutate({ id })
  const headers = { Authorization: `Bearer ${key}` }
  const status = async () => (await fetch(`${service.url}/items`, { headers })).status
  await expect.poll(status).toBe(401)
}

/** Presses what the dialog of the log-in may already cover: it opens by itself once the feed of changes has ended. */
function press(target: Locator) {
  return target.evaluate((element: HTMLElement) => element.click())
}

consoleTest(
  'a visitor without a key logs in and sees the linked page; scripts cannot read the key',
  async (visit) => {
    const { page, open } = visit
    const { admin } = await createKeys(visit)
    await open('/items?sort=price_desc')
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await logIn(page, `${admin.slice(0, -1)}-`)
    await page.getByText('This API key is unknown. Copy all of it, or ask an administrator for another.').waitFor()
    await logIn(page, admin)
    await page.getByRole('row', { name: 'Kettle 27' }).waitFor()
    expect(new URL(page.url()).search).toBe('?sort=price_desc')
    await page.getByRole('button', { name: 'Account: operator' }).waitFor()
    const readable = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.innerHTML])',
    )
    expect(readable).not.toContain(admin.slice(16))
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ name: 'session', httpOnly: true, sameSite: 'Strict' })
    expect(cookie?.value).toMatch(/^[\w-]{43}$/)

    await page.reload()
    await page.getByRole('row', { name: 'Kettle 27' }).waitFor()
    await page.getByRole('button', { name: 'New item' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Bench')
    await page.getByRole('dialog').getByLabel('Price').fill('120')
    await page.getByRole('button', { name: 'Create item' }).click()
    await page.getByText('Bench created').waitFor()
  },
  { expected },
)

consoleTest(
  'a revoked key opens a login dialog; after login the form keeps its input and can be sent',
  async (visit) => {
    const { page, open } = visit
    const { operator, admin, writer } = await createKeys(visit)
    await open('/items')
    await logIn(page, writer.key)
    await page.getByRole('button', { name: 'New item' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Bench')
    await page.getByRole('dialog').getByLabel('Price').fill('120')
    await revoke(visit, operator, writer)
    await press(page.getByRole('button', { name: 'Create item' }))
    const again = page.getByRole('dialog', { name: 'Log in again' })
    await again.waitFor()
    expect(await violations(page)).toEqual([])
    await logIn(page, admin)
    await again.waitFor({ state: 'detached' })
    expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).toBe('Bench')
    await page.getByText('You are logged out. Log in with an API key, then try again.').waitFor()
    await page.getByRole('button', { name: 'Create item' }).click()
    await page.getByText('Bench created').waitFor()
    expect(await operator.items.list.query({ sort: 'id_desc', limit: 1 })).toMatchObject({ items: [{ name: 'Bench' }] })
  },
  { expected },
)

consoleTest(
  'a form keeps its input if a key is required from now on, although the session could not be read',
  async (visit) => {
    const { page, open } = visit
    await page.route('**/console/session', (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    )
    await open('/items?open=new')
    await page.getByRole('dialog').getByLabel('Name').fill('Bench')
    await page.getByRole('dialog').getByLabel('Price').fill('120')
    const { admin } = await createKeys(visit)
    await page.getByRole('button', { name: 'Create item' }).click()
    await page.getByRole('dialog', { name: 'Log in again' }).waitFor()
    await logIn(page, admin)
    await page.getByText('You are logged out. Log in with an API key, then try again.').waitFor()
    await page.getByRole('button', { name: 'Create item' }).click()
    await page.getByText('Bench created').waitFor()
  },
  { expected: /Failed to load resource/ },
)

consoleTest(
  'a view without a valid key offers to log in, without words of the protocol',
  async (visit) => {
    const { page, open } = visit
    const { operator, admin, reader } = await createKeys(visit)
    await open('/items')
    await logIn(page, reader.key)
    await page.getByRole('row', { name: 'Kettle 3', exact: false }).first().waitFor()
    await revoke(visit, operator, reader)
    await press(page.getByRole('link', { name: 'Books' }))
    const again = page.getByRole('dialog', { name: 'Log in again' })
    await again.press('Escape')
    await page.getByText('You are logged out. Log in with an API key, then try again.').waitFor()
    expect(await page.locator('#console').textContent()).not.toMatch(/Authorization|Bearer|401/)
    await page.getByRole('button', { name: 'Log in' }).click()
    await again.waitFor()
    await logIn(page, admin)
    await page.getByRole('row', { name: 'Solaris' }).waitFor()
  },
  { expected },
)

consoleTest(
  'a reader sees disallowed actions disabled with the reason, or not at all',
  async (visit) => {
    const { page, open } = visit
    const { reader } = await createKeys(visit)
    await open('/users?open=new')
    await logIn(page, reader.key)
    await page.getByRole('row', { name: 'Ada Lovelace' }).waitFor()
    const reason =
      'New user, Import, Edit, and Delete need the role writer; yours is reader. Delete all matching needs the role admin; yours is reader.'
    await page.getByText(reason).waitFor()
    for (const name of ['New user', 'Import…']) {
      const button = page.getByRole('button', { name, description: reason })
      expect(await button.getAttribute('aria-disabled')).toBe('true')
      await button.click({ force: true })
    }
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await page.getByRole('checkbox').count()).toBe(0)
    expect(await page.getByRole('button', { name: /^(Edit|Delete|Activate|Deactivate) [A-Z]/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Export…' }).click()
    await page.getByRole('dialog').waitFor()
  },
  { expected },
)

consoleTest(
  'a writer changes records, and sees that bulk deletion requires the role admin',
  async (visit) => {
    const { page, open } = visit
    const { writer } = await createKeys(visit)
    await open('/users')
    await logIn(page, writer.key)
    // She is an administrator.
    await page.getByRole('button', { name: 'Deactivate Ada Lovelace' }).click()
    await page.getByText('Ada Lovelace not deactivated').waitFor()
    await page.getByRole('button', { name: 'Deactivate Grace Hopper' }).click()
    await page.getByText('Grace Hopper deactivated').waitFor()
    await page.getByRole('checkbox', { name: 'Select Grace Hopper' }).check()
    await page.getByRole('checkbox', { name: 'Select Alan Turing' }).check()
    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('2 users deleted').waitFor()
    await page.getByText('Delete all matching needs the role admin; yours is writer.').waitFor()
  },
  { expected },
)

consoleTest(
  'logging out clears the data and the cookie and asks for a key',
  async (visit) => {
    const { page, open } = visit
    const { reader } = await createKeys(visit)
    await open('/users')
    await logIn(page, reader.key)
    await page.getByRole('row', { name: 'Ada Lovelace' }).waitFor()
    await logOut(page)
    await page.getByLabel('API key').waitFor()
    expect(await page.getByText('Ada Lovelace').count()).toBe(0)
    expect(await page.context().cookies()).toEqual([])
    await page.reload()
    await page.getByLabel('API key').waitFor()
  },
  { expected },
)

consoleTest(
  'a failed logout is reported, keeps the data, and can be tried again',
  async (visit) => {
    const { page, open } = visit
    const { reader } = await createKeys(visit)
    await open('/users')
    await logIn(page, reader.key)
    const row = page.getByRole('row', { name: 'Ada Lovelace' })
    await row.waitFor()
    await page.route('**/console/session', (route) => route.abort())
    await logOut(page)
    await page.getByText('Logging out failed, so you are still logged in.').waitFor()
    expect(await row.isVisible()).toBe(true)
    await page.unrouteAll()
    await logOut(page)
    await page.getByLabel('API key').waitFor()
    expect(await page.context().cookies()).toEqual([])
  },
  { expected: /Failed to load resource/ },
)

consoleTest(
  'the login dialog shows although its script was removed after the page had loaded',
  async (visit) => {
    const { page, open } = visit
    const { operator, reader } = await createKeys(visit)
    await open('/items')
    const [script] = await Promise.all([page.waitForResponse('**/assets/LoginDialog-*'), logIn(page, reader.key)])
    await script.finished()
    await page.route('**/assets/LoginDialog-*', (route) => route.abort())
    await revoke(visit, operator, reader)
    await press(page.getByRole('link', { name: 'Books' }))
    await page.getByRole('dialog', { name: 'Log in again' }).waitFor()
  },
  { expected },
)

consoleTest(
  'a login dialog that cannot be loaded shows a notice, and the form keeps its input',
  async (visit) => {
    const { page, open } = visit
    await page.route('**/assets/LoginDialog-*', (route) => route.abort())
    const { operator, writer } = await createKeys(visit)
    await open('/items')
    await logIn(page, writer.key)
    await page.getByRole('button', { name: 'New item' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Bench')
    await page.getByRole('dialog').getByLabel('Price').fill('120')
    await revoke(visit, operator, writer)
    await press(page.getByRole('button', { name: 'Create item' }))
    await page.getByText('A dialog could not be loaded.').waitFor()
    expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).toBe('Bench')
  },
  { expected: /Failed to load resource|dynamically imported module/ },
)

consoleTest(
  'a rejected form is empty for the next user',
  async (visit) => {
    const { page, open } = visit
    const { admin, writer } = await createKeys(visit)
    await open('/users')
    await logIn(page, admin)
    await page.getByRole('button', { name: 'New user' }).click()
    const form = page.getByRole('dialog', { name: 'New user' })
    await form.getByLabel('Name').fill('Another')
    await form.getByLabel('E-mail').fill('ada@example.com')
    await form.getByLabel('Password').fill('correct horse battery')
    const calls = await pauseCalls(page, 'users.create')
    await page.getByRole('button', { name: 'Create user' }).click()
    await calls.paused
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'detached' })
    calls.resume()
    await page.getByRole('link', { name: 'Open the form: The user was not saved.' }).waitFor()
    await logOut(page)
    await logIn(page, writer.key)
    await page.getByRole('button', { name: 'New user' }).click()
    const values = ['Name', 'E-mail', 'Password'].map((label) => form.getByLabel(label).inputValue())
    expect(await Promise.all(values)).toEqual(['', '', ''])
  },
  { expected },
)

consoleTest(
  'a record that may exist already is not created with another key without a question',
  async (visit) => {
    const { page, open } = visit
    const { operator, admin, writer } = await createKeys(visit)
    await open('/items')
    await logIn(page, writer.key)
    await page.getByRole('button', { name: 'New item' }).click()
    const form = page.getByRole('dialog', { name: 'New item' })
    const create = page.getByRole('button', { name: 'Create item' })
    await form.getByLabel('Name').fill('Bench')
    await form.getByLabel('Price').fill('120')
    await loseAnswers(page, 'items.create')
    await create.click()
    await form.getByText('The service cannot be reached.').waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await revoke(visit, operator, writer)
    await press(create)
    await page.getByRole('dialog', { name: 'Log in again' }).waitFor()
    await logIn(page, admin)
    await page.getByRole('dialog', { name: 'Log in again' }).waitFor({ state: 'detached' })
    await create.click()
    await form.getByText('Another API key sent this item, so it may exist already.').waitFor()
    const benches = async () => (await operator.items.list.query({ name_contains: 'Bench' })).items.length
    expect(await benches()).toBe(1)
    await create.click()
    await page.getByText('Bench created').waitFor()
    expect(await benches()).toBe(2)
  },
  { expected: /Failed to load resource/ },
)

test('a user of the identity provider signs in and sees the linked page; one without a role learns why', async () => {
  const act = async ({ page, open }: Visit) => {
    // The provider's pages have fonts of another host.
    await page.route('https://**', (route) => route.abort())
    const signIn = async (name: string) => {
      await page.getByRole('link', { name: /^Continue with 127\.0\.0\.1:\d+$/ }).click()
      await page.locator('input[name=login]').fill(name)
      await page.locator('input[name=password]').fill('secret')
      await page.getByRole('button', { name: 'Sign-in' }).click()
      await page.getByRole('button', { name: 'Continue' }).click()
    }
    await open('/items?sort=price_desc')
    await page.getByText('Your session ends after 12 hours without use.').waitFor()
    expect(await violations(page)).toEqual([])
    await signIn('owner')
    await page.getByText('The identity provider knows you, but you have no role here.').waitFor()
    expect(new URL(page.url()).search).toBe('')
    await page.context().clearCookies()
    await open('/items?sort=price_desc')
    await signIn('writer')
    await page.getByRole('button', { name: 'Account: writer' }).waitFor()
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/console/items?sort=price_desc')
    await page.getByRole('button', { name: 'New item' }).waitFor()
  }
  // The provider's form takes the focus itself, unless the test already has filled it in.
  const expected = /Failed to load|Autofocus processing was blocked/
  await visitConsole(await startService('sign-in'), act, { expected, elsewhere: /^https?:/ })
})

consoleTest(
  'the sessions page shows who is logged in and where, and ends sessions, also all others and this one',
  async (visit) => {
    const { page, service, open } = visit
    const { admin, reader } = await createKeys(visit)
    const startElsewhere = async (key: string) => {
      const headers = { Authorization: `Bearer ${key}`, 'User-Agent': FIREFOX }
      const answer = await fetch(`${service.url}/console/session`, { method: 'POST', headers })
      return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
    }
    const cookies = [await startElsewhere(reader.key), await startElsewhere(admin), await startElsewhere(admin)]
    const statuses = () =>
      Promise.all(cookies.map(async (Cookie) => (await fetch(`${service.url}/items`, { headers: { Cookie } })).status))
    await open('/sessions')
    await logIn(page, admin)
    await page.getByRole('heading', { name: 'Sessions 4' }).waitFor()
    const rows = page.getByRole('table', { name: 'Sessions' }).getByRole('row')
    expect(await rows.nth(1).textContent()).toMatch(
      /^Chrome on Linuxthis session127\.0\.0\.1operator · 127\.0\.0\.1admin/,
    )
    expect(await rows.nth(4).textContent()).toMatch(/^Firefox on Linux127\.0\.0\.1reader · 127\.0\.0\.1reader/)
    await page.getByRole('button', { name: 'Log out session 1 of key 2' }).click()
    await page.getByText('1 session ended').waitFor()
    expect(await statuses()).toEqual([401, 200, 200])
    await page.getByRole('button', { name: 'Log out everywhere else' }).click()
    await page.getByText('2 sessions ended').waitFor()
    expect(await statuses()).toEqual([401, 401, 401])
    await page.getByRole('button', { name: 'Log out of this session' }).click()
    await page.getByLabel('API key').waitFor()
    expect(await page.context().cookies()).toEqual([])
  },
  { expected },
)

consoleTest('a service without keys asks for no key and shows no user', async ({ page, client, open }) => {
  await seed(client)
  await open('/users')
  await page.getByRole('row', { name: 'Ada Lovelace' }).waitFor()
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).waitFor()
  expect(await page.getByRole('button', { name: 'Log out' }).count()).toBe(0)
  expect(await page.getByText('anonymous').count()).toBe(0)
})

consoleTest(
  'every page says while the service has no key that it is open, and no page does once it has one',
  async (visit) => {
    const { page, open } = visit
    const warning = page.getByRole('button', { name: 'Account: open to anyone' })
    for (const path of ['/', '/items']) {
      await open(path)
      await warning.waitFor()
    }
    const { admin } = await createKeys(visit)
    await startSession(visit, admin)
    await open('/items')
    await page.getByRole('button', { name: 'Account: operator' }).waitFor()
    expect(await warning.count()).toBe(0)
  },
  { expected },
)

// `SHOTS=1 pnpm test` saves a screenshot of every view.
const SHOTS = process.env.SHOTS && fileURLToPath(new URL('../shots/', import.meta.url))

for (const colorScheme of ['light', 'dark'] as const) {
  consoleTest(
    `login and a reader's pages fit 320 to 1920 px in ${colorScheme} and have no axe violations`,
    async (visit) => {
      const { page, open } = visit
      const { operator, reader } = await createKeys(visit)
      const check = async (name: string) => {
        expect(await violations(page), name).toEqual([])
        for (const width of [320, 390, 1280, 1920]) {
          await setWidth(page, width)
          expect(await layoutFaults(page), name).toEqual([])
          if (SHOTS) await page.screenshot({ path: `${SHOTS}${name}-${width}-${colorScheme}.png` })
        }
      }
      if (SHOTS) await mkdir(SHOTS, { recursive: true })
      await open('/users')
      await page.getByLabel('API key').waitFor()
      await check('login')
      await logIn(page, 'rsk_no-key')
      await page.getByText('This API key is unknown.').waitFor()
      await check('login-wrong')
      await logIn(page, reader.key)
      await page.getByRole('row', { name: 'Ada Lovelace' }).waitFor()
      await check('reader')
      await revoke(visit, operator, reader)
      await press(page.getByRole('link', { name: 'Books' }))
      await page.getByRole('dialog', { name: 'Log in again' }).waitFor()
      await check('login-again')
    },
    { colorScheme, expected },
  )
}
