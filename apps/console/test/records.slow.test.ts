import { expect } from 'vitest'
import { consoleTest, loseAnswers, openOutdated, pauseCalls, seed, shareBrowser, violations } from './console.ts'

shareBrowser()

const expected = /Failed to load resource/

consoleTest('a user is created, edited, deactivated, activated and deleted', async ({ page, client, open }) => {
  await open('/users')
  await page.getByRole('button', { name: 'Create the first user' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Ada Lovelace')
  await page.getByRole('dialog').getByLabel('E-mail').fill('ada@example.com')
  await page.getByRole('button', { name: 'Create user' }).click()
  await page.getByText('Ada Lovelace created').waitFor()
  await page.getByRole('link', { name: 'Ada Lovelace', exact: true }).click()
  await page.getByRole('button', { name: 'Edit…' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Ada King')
  await page.getByRole('dialog').getByLabel('Age').fill('36')
  await page.getByRole('dialog').getByLabel('E-mail').fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Enter an e-mail').waitFor()
  await page.getByRole('dialog').getByLabel('E-mail').fill('ada@example.com')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Ada King saved').waitFor()
  expect(await client.users.get.query({ id: 1 })).toMatchObject({ name: 'Ada King', age: 36, status: 'active' })
  await page.getByRole('button', { name: 'Deactivate' }).click()
  await page.getByText('Ada King deactivated').waitFor()
  expect((await client.users.get.query({ id: 1 })).status).toBe('inactive')
  await page.getByRole('button', { name: 'Activate', exact: true }).click()
  await page.getByText('Ada King activated').waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'No users yet' }).waitFor()
  expect((await client.users.list.query({})).users).toEqual([])
})

consoleTest(
  'the page of a record shows all its fields with its times, its place in the list and its code; a missing record offers the list',
  async ({ page, client, open }) => {
    await client.users.create.mutate({ name: 'Ada Lovelace', email: 'ada@example.com', age: 36 })
    await client.users.create.mutate({ name: 'Grace Hopper', email: 'grace@example.com', age: 40 })
    await client.users.create.mutate({ name: 'Alan Turing', email: 'alan@example.com', age: 20, role: 'admin' })
    const { created_at } = await client.users.get.query({ id: 1 })
    await open('/users/1')
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor()
    await page.getByText('version 1').waitFor()
    await page.getByText('created just now by anonymous').waitFor()
    expect(await page.locator('.facts dt').allTextContents()).toEqual([
      'ID',
      'Name',
      'E-mail',
      'Role',
      'Status',
      'Age',
      'Created',
      'Changed',
    ])
    expect(
      await page.locator('.facts time').evaluateAll((all) => all.map((time) => time.getAttribute('datetime'))),
    ).toEqual([created_at, created_at])
    await page.getByText('1 of 3').waitFor()
    const [previous, next] = [
      page.getByRole('button', { name: 'Previous user' }),
      page.getByRole('button', { name: 'Next user' }),
    ]
    expect(await previous.getAttribute('aria-disabled')).toBe('true')
    await next.press('Enter')
    await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor()
    await next.press('Enter')
    await page.getByRole('heading', { name: 'Alan Turing' }).waitFor()
    await page.getByText('3 of 3').waitFor()
    const code = page.getByRole('tabpanel')
    expect(JSON.parse((await code.textContent()) ?? '')).toMatchObject({ id: 3, name: 'Alan Turing', version: 1 })
    await page.getByRole('tab', { name: 'JSON' }).press('ArrowRight')
    expect(await code.textContent()).toContain('/api/users/3 ')
    await page.getByRole('tab', { name: 'cURL' }).press('ArrowRight')
    expect(await code.textContent()).toContain('const user = await client.users.get.query({ id: 3 })')

    // In the order and with the filter of the list from which the reader came, also from page to page.
    await open('/users?sort=age_desc&limit=10')
    await page.getByRole('link', { name: 'Ada Lovelace', exact: true }).click()
    await page.getByText('2 of 3').waitFor()
    await previous.click()
    await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor()
    await open('/users?role=user')
    await page.getByRole('link', { name: 'Ada Lovelace', exact: true }).click()
    await page.getByText('1 of 2').waitFor()
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Users' }).click()
    await page.waitForURL('**/users?role=user')
    await open('/users/999')
    await page.getByRole('heading', { name: 'This user does not exist' }).waitFor()
    await page.getByRole('heading', { name: 'History' }).waitFor({ state: 'detached' })
    expect(await page.locator('.position').count()).toBe(0)
    await page.getByRole('button', { name: 'Show all users' }).click()
    await page.getByRole('row', { name: 'Ada Lovelace' }).waitFor()
  },
  { expected },
)

consoleTest(
  'the history of a record has its changes, of which each can be undone, after a preview if it changed others, too',
  async ({ page, client, open }) => {
    await seed(client)
    await client.items.updateWhere.mutate({ id_in: [1, 2], changes: { set: { category: 'attic' } } })
    await client.items.update.mutate({ id: 2, price: 40 })
    await open('/items/2')
    const history = page.getByRole('region', { name: 'History' })
    await history.getByText('anonymous created the item').waitFor()
    expect(await history.locator('dl').allTextContents()).toEqual(['price42.50 → 40.00', 'categoryfurniture → attic'])
    expect(await violations(page)).toEqual([])
    await history.getByRole('button', { name: 'Undo: anonymous changed category' }).click()
    const dialog = page.getByRole('dialog', { name: 'Undo this change?' })
    await dialog.getByRole('row', { name: 'Lamp 1 attic → lighting' }).waitFor()
    await dialog.getByRole('row', { name: 'Chair 2 attic → furniture' }).waitFor()
    expect(await violations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByText('2 items restored').waitFor()
    expect(await client.items.get.query({ id: 2 })).toMatchObject({ price: 40, category: 'furniture' })
    // The undo is told with the change, which can be redone.
    const undone = history.getByRole('listitem').filter({ hasText: 'undoneby anonymous just now' })
    await undone.getByRole('button', { name: 'Redo: anonymous changed category' }).waitFor()
    expect(await history.getByRole('listitem').count()).toBe(3)
    expect(await violations(page)).toEqual([])
    await history.getByLabel('Field').selectOption('Category')
    expect(await history.getByRole('listitem').allTextContents()).toEqual([
      expect.stringContaining('furniture → attic'),
    ])
    await history.getByLabel('Field').selectOption('All fields')
    await undone.getByRole('button').click()
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click()
    await expect.poll(() => client.items.get.query({ id: 1 })).toMatchObject({ category: 'attic' })
    await history.getByText('redone').waitFor()

    await client.items.update.mutate({ id: 2, price: 41 })
    await client.items.update.mutate({ id: 2, price: 40 })
    await page.reload()
    await history.getByText('41.00 → 40.00').waitFor()
    // It has been changed since, although the price is the same again.
    const former = history.getByRole('listitem').filter({ hasText: '42.50 → 40.00' })
    await former.getByText('price changed since').waitFor()
    expect(await former.getByRole('button').count()).toBe(0)

    await client.items.delete.mutate({ id: 2 })
    await page.reload()
    await page.getByRole('heading', { name: 'This item does not exist' }).waitFor()
    await former.getByText('deleted since').waitFor()
    // It changes this record alone, and can be redone.
    await history.getByRole('button', { name: 'Undo: anonymous deleted the item' }).click()
    await page.getByText('Chair 2 restored').waitFor()
    await page.getByRole('heading', { name: 'Chair 2' }).waitFor()
    expect((await client.items.get.query({ id: 2 })).price).toBe(40)
  },
  { expected },
)

consoleTest('one form creates and edits books and items', async ({ page, client, open }) => {
  await open('/books?open=new')
  await page.getByRole('dialog').getByLabel('Title').fill('Kindred')
  await page.getByRole('dialog').getByLabel('Author').fill('Octavia E. Butler')
  await page.getByRole('dialog').getByLabel('Published').fill('1979-06-01')
  await page.getByRole('button', { name: 'Create book' }).click()
  await page.getByRole('link', { name: 'Kindred', exact: true }).click()
  await page.getByRole('button', { name: 'Edit…' }).click()
  await page.getByRole('dialog').getByLabel('Title').fill('Kindred (1979)')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Kindred (1979) saved').waitFor()
  await open('/items?open=new')
  await page.getByRole('dialog').getByLabel('Name').fill('Lamp')
  await page.getByRole('dialog').getByLabel('Price').fill('24.5')
  await page.getByRole('button', { name: 'Create item' }).click()
  await page.getByText('Lamp created').waitFor()
  expect((await client.books.get.query({ id: 1 })).title).toBe('Kindred (1979)')
  expect(await client.items.get.query({ id: 1 })).toMatchObject({ name: 'Lamp', price: 24.5, category: null })
})

consoleTest(
  "each invalid field shows the contract's rule, an empty one what to enter, and the first one gets the focus",
  async (visit) => {
    const { page, client, open } = visit
    await open('/users?open=new')
    await page.getByRole('dialog').getByLabel('E-mail').fill('nonsense')
    await page.getByRole('dialog').getByLabel('Age').fill('old')
    await page.getByRole('button', { name: 'Create user' }).click()
    const described = (label: string) =>
      page.getByRole('textbox', { name: label }).and(page.locator('[aria-invalid=true]'))
    await page.getByText('Enter a name').waitFor()
    await page.getByText('Enter an e-mail address, such as name@example.org').waitFor()
    await page.getByText('Enter a whole number, such as 12').waitFor()
    expect(await described('Name').evaluate((input) => input === document.activeElement)).toBe(true)
    await page.getByRole('dialog').getByLabel('Age').fill('36')
    await page.getByText('Enter a whole number').waitFor({ state: 'detached' })
    expect(await violations(page)).toEqual([])
    expect((await client.users.list.query({})).users).toEqual([])
  },
)

consoleTest(
  'an error from the service, such as a taken address, shows at its field',
  async ({ page, client, open }) => {
    await client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
    await open('/users?open=new')
    await page.getByRole('dialog').getByLabel('Name').fill('Another')
    await page.getByRole('dialog').getByLabel('E-mail').fill('ADA@example.com')
    await page.getByRole('button', { name: 'Create user' }).click()
    await page.getByText('E-mail already in use by another user').waitFor()
  },
  { expected },
)

consoleTest(
  'several selected users are deactivated and deleted at once, and both is undone',
  async (visit) => {
    const { page, client } = visit
    await seed(client)
    await openOutdated(visit, '/users?status=active')
    const select = (name: string) => page.getByRole('checkbox', { name: `Select ${name}` }).check()
    for (const name of ['Ada Lovelace', 'Grace Hopper', 'Alan Turing']) await select(name)
    await page.getByText('3 users selected').waitFor()
    await client.users.update.mutate({ id: 2, name: 'Grace B. Hopper' })
    await page.getByRole('button', { name: 'Deactivate 3' }).click()
    await page.getByText('1 user not deactivated. Grace Hopper: Someone else changed it in the meantime.').waitFor()
    await page.getByText('1 user selected').waitFor()
    expect(await page.getByRole('checkbox', { name: 'Select Grace B. Hopper' }).isChecked()).toBe(true)
    expect((await client.users.list.query({ status: 'inactive' })).users.map(({ id }) => id)).toEqual([1, 3, 4, 8, 12])
    await page.getByRole('button', { name: 'Undo: 2 users deactivated' }).click()
    await page.getByText('2 users restored').waitFor()
    expect((await client.users.list.query({ status: 'inactive' })).users.map(({ id }) => id)).toEqual([4, 8, 12])
    await select('Barbara Liskov')
    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('heading', { name: 'Delete 2 users?' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
    const restore = page.getByRole('button', { name: 'Undo: 2 users deleted' })
    await restore.waitFor()
    const total = async () => (await client.users.list.query({ limit: 1, count: true })).total
    expect(await total()).toBe(12)
    await restore.click()
    await page.getByText('2 users restored').last().waitFor()
    expect(await total()).toBe(14)
  },
  { expected },
)

consoleTest(
  'all matching users, on all pages, are changed or deleted after a preview, and both is undone',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/users?status=active&limit=10')
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
    await page.getByRole('button', { name: 'Select all 11' }).click()
    await page.getByText('All 11 users selected, on all pages').waitFor()
    await page.getByRole('button', { name: 'Deactivate…' }).click()
    const preview = page.getByRole('alertdialog', { name: 'Deactivate all 11 users?' })
    await preview.getByText('Status is active. Nothing is written yet.').waitFor()
    await preview.getByText('11 to change', { exact: true }).waitFor()
    expect(await violations(page)).toEqual([])
    await client.users.setStatus.mutate({ id: 1, status: 'inactive' })
    await preview.getByRole('button', { name: 'Deactivate 11 users' }).click()
    await page.getByText('The matching users have changed. Nothing was deactivated.').waitFor()
    await page.getByRole('button', { name: 'Deactivate 10 users' }).click()
    await page.getByText('10 users deactivated').waitFor()
    expect((await client.users.list.query({ status: 'active' })).users).toEqual([])
    await client.users.update.mutate({ id: 2, name: 'Grace B. Hopper' })
    await page.getByRole('button', { name: 'Undo: 10 users deactivated' }).click()
    await page.getByText('10 users restored').waitFor()
    expect((await client.users.list.query({ limit: 1, status: 'active', count: true })).total).toBe(10)
    expect(await client.users.get.query({ id: 2 })).toMatchObject({ name: 'Grace B. Hopper', status: 'active' })

    await open('/users?limit=10')
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
    await page.getByRole('button', { name: 'Select all 14' }).click()
    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('button', { name: 'Delete 14 users' }).click()
    await page.getByRole('heading', { name: 'No users yet' }).waitFor()
    expect((await client.users.list.query({})).users).toEqual([])
    await page.getByRole('button', { name: 'Undo: 14 users deleted' }).click()
    await page.getByRole('row', { name: 'Ada Lovelace' }).waitFor()
    expect((await client.users.list.query({ limit: 1, count: true })).total).toBe(14)
  },
  { expected },
)

consoleTest(
  'a change of all matching users whose answer was lost can be confirmed again, and undone',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/users?status=active&limit=10')
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
    await page.getByRole('button', { name: 'Select all 11' }).click()
    await page.getByRole('button', { name: 'Deactivate…' }).click()
    const confirm = page.getByRole('button', { name: 'Deactivate 11 users' })
    const active = async () => (await client.users.list.query({ limit: 1, status: 'active', count: true })).total
    await loseAnswers(page, 'users.updateWhere')
    await confirm.click()
    await page.getByText('The result is unknown.').waitFor()
    expect(await active()).toBe(0)
    await page.unrouteAll()
    await confirm.click()
    await page.getByRole('button', { name: 'Undo: 11 users deactivated' }).click()
    await page.getByText('11 users restored').waitFor()
    expect(await active()).toBe(11)
  },
  { expected },
)

consoleTest('the focus stays on a button that changes, and on the page if its button disappears', async (visit) => {
  const { page, client, open } = visit
  await seed(client)
  await open('/users')
  const focused = () => page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.id")
  await page.getByRole('button', { name: 'Deactivate Ada Lovelace' }).press('Enter')
  await page.getByText('Ada Lovelace deactivated').waitFor()
  expect(await focused()).toBe('Activate Ada Lovelace')
  // A record's buttons are disabled while a request is pending.
  await page.getByRole('button', { name: 'Activate Ada Lovelace', disabled: false }).waitFor()
  await page.getByRole('checkbox', { name: 'Select Ada Lovelace' }).press('Space')
  await page.getByRole('button', { name: 'Delete…' }).press('Enter')
  await page.getByRole('button', { name: 'Delete 1 user', disabled: false }).press('Enter')
  await page.getByText('Ada Lovelace deleted').waitFor()
  await expect.poll(focused).toBe('main')
})

consoleTest('a form closed while it saves does not affect the next form', async ({ page, client, open }) => {
  await client.books.createMany.mutate({
    books: [
      { title: 'Kindred', author: 'Octavia E. Butler', published_date: '1979-06-01' },
      { title: 'Solaris', author: 'Lem', published_date: '1961-06-01' },
    ],
  })
  await open('/books/1?open=1')
  const calls = await pauseCalls(page, 'books.replace')
  await page.getByRole('dialog').getByLabel('Title').fill('Kindred (1979)')
  await page.getByRole('button', { name: 'Save' }).click()
  await calls.paused
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Books' }).first().click()
  await page.getByRole('link', { name: 'Solaris', exact: true }).click()
  await page.getByRole('button', { name: 'Edit…' }).click()
  await page.getByRole('dialog').getByLabel('Author').fill('Stanisław Lem')
  calls.resume()
  await page.getByText('Kindred (1979) saved').waitFor()
  expect(await page.getByRole('dialog').getByLabel('Author').inputValue()).toBe('Stanisław Lem')
})

consoleTest('an edit that changes nothing sends nothing', async ({ page, client, open }) => {
  await client.items.create.mutate({ name: 'Lamp', price: 10 })
  await open('/items?open=1')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect((await client.items.get.query({ id: 1 })).version).toBe(1)
})
