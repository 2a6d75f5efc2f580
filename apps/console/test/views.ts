import { openCondition, openOutdated, startSession, type Visit } from './console.ts'

/** Shows a view, and waits until it is complete. */
export type Show = (visit: Visit) => Promise<unknown>

async function chooseFile({ page }: Visit, text: string) {
  const file = { name: 'users.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }
  await page.locator('input[type=file]').setInputFiles(file)
}

async function startImport({ page }: Visit) {
  await page.getByRole('combobox', { name: 'Field for Joined' }).selectOption('Do not import')
  await page.getByRole('button', { name: 'Check rows' }).click()
  await page.getByRole('button', { name: 'Import 2 users' }).click()
}

const FILE =
  'Name;E-Mail address;Age;Joined\nTony Hoare;tony@example.com;90;1,5\n;nobody;old;2\nAda;ADA@example.com;33,0;3\n'

/** Opens each view and state of the console, by name. The records come from `seed`. Some continue the view of `CONTINUES`. */
export const VIEWS = {
  overview: async ({ page, open }) => {
    await open('/')
    await page.getByRole('table', { name: 'Items by category' }).waitFor()
    await page.getByText('created 30 items').waitFor()
    await page.getByText('errors in the last hour').waitFor()
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
  filters: async ({ page, open }) => {
    await open('/users?q=ada&created_at_gte=2020-01-01T00:00:00.000Z&role=admin')
    await page.getByRole('row', { name: 'Ada Lovelace' }).waitFor()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.locator('.anchored').getByRole('button', { name: 'E-mail contains' }).waitFor()
  },
  'wrong-filter': async ({ page, open }) => {
    await open('/items')
    await page.getByRole('row', { name: 'Shelf 10' }).waitFor()
    await openCondition(page, 'Price')
    await page.getByLabel('Price at most').fill('cheap')
    await page.getByText('Enter a number').waitFor()
  },
  selected: async ({ page }) => {
    await page.getByRole('checkbox', { name: 'Select Ada Lovelace' }).check()
    await page.getByRole('checkbox', { name: 'Select Edsger Dijkstra' }).check()
    await page.getByText('2 users selected').waitFor()
  },
  record: async ({ page, open }) => {
    await open('/users/2')
    await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor()
    await page.getByRole('region', { name: 'History' }).getByText('created the user').waitFor()
  },
  'undo-change': async ({ page, client, open }) => {
    await client.users.updateWhere.mutate({ id_in: [2, 3], changes: { set: { age: 38, status: 'inactive' } } })
    await open('/users/2')
    await page.getByRole('button', { name: 'Undo: ' }).first().click()
    await page.getByRole('region', { name: 'Preview' }).waitFor()
  },
  columns: async ({ page }) => {
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'Created' }).check()
    await page.getByRole('checkbox', { name: 'Compact rows' }).check()
  },
  'edit-cell': async ({ page, open }) => {
    await open('/items')
    await page.getByRole('row', { name: 'Lamp 1', exact: false }).first().locator('.number').dblclick()
    await page.getByLabel('Price of Lamp 1', { exact: true }).fill('cheap')
    await page.getByText('Enter a number').waitFor()
  },
  account: async ({ page, open }) => {
    await open('/items')
    await page.getByRole('button', { name: 'Account: open to anyone' }).click()
    await page.getByRole('radio', { name: 'Dark' }).waitFor()
  },
  drawer: async ({ page, open }) => {
    await open('/items')
    await page.getByRole('button', { name: 'Navigation' }).click()
    await page.getByRole('link', { name: 'Items 30' }).waitFor()
  },
  palette: async ({ page }) => {
    await page.getByRole('button', { name: 'Search or jump to' }).click()
    await page.getByRole('combobox', { name: 'Search or jump to' }).fill('lamp')
    await page.getByRole('option', { name: 'All 5 items' }).waitFor()
  },
  shortcuts: async ({ page }) => {
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
    await page.getByRole('dialog').waitFor()
  },
  'edit-several': async ({ page }) => {
    await page.getByRole('button', { name: 'Change…' }).click()
    await page.getByLabel('Field').selectOption('Age')
    await page.getByLabel('New age').fill('+1')
    await page.getByRole('region', { name: 'Preview' }).waitFor()
  },
  'delete-several': async ({ page }) => {
    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('alertdialog').waitFor()
  },
  'delete-all': async ({ page, open }) => {
    await open('/users?role=user&limit=10')
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
    await page.getByRole('button', { name: 'Select all 11' }).click()
    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('region', { name: 'Preview' }).waitFor()
  },
  'delete-one': async ({ page, open }) => {
    await open('/books/2')
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Undo: Kindred deleted' }).waitFor()
  },
  new: async ({ page, open }) => {
    await open('/items?open=new')
    await page.getByRole('button', { name: 'Create item' }).waitFor()
  },
  'new-wrong': async ({ page, open }) => {
    await open('/users?open=new')
    await page.getByRole('dialog').getByLabel('E-mail').fill('nonsense')
    await page.getByRole('dialog').getByLabel('Age').fill('old')
    await page.getByRole('button', { name: 'Create user' }).click()
    await page.getByText('Enter a whole number').waitFor()
  },
  edit: async ({ page, open }) => {
    await open('/users?open=1')
    await page.getByRole('heading', { name: 'Edit Ada Lovelace' }).waitFor()
  },
  'edit-missing': async ({ page, open }) => {
    await open('/users?open=999')
    await page.getByRole('heading', { name: 'This user does not exist' }).waitFor()
  },
  discard: async ({ page }) => {
    await page.getByRole('dialog').getByLabel('Age').fill('37')
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'Discard your changes?' }).waitFor()
  },
  conflict: async ({ page, client, open }) => {
    await open('/items?open=2')
    await page.getByRole('dialog').getByLabel('Price').fill('12')
    await page.getByRole('dialog').getByLabel('Category').fill('living room')
    const { price } = await client.items.get.query({ id: 2 })
    await client.items.update.mutate({ id: 2, price: price + 1 })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('table', { name: 'The versions' }).waitFor()
  },
  'conflict-of-deletion': async (visit) => {
    const { page, client } = visit
    await openOutdated(visit, '/books/3')
    await page.getByRole('button', { name: 'More actions' }).click()
    const { title } = await client.books.get.query({ id: 3 })
    await client.books.replace.mutate({ id: 3, title, author: 'Lem', published_date: '1961-06-01' })
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('table', { name: 'The versions' }).waitFor()
  },
  'import-source': async ({ page, open }) => {
    await open('/users?open=import')
    await page.getByText('Drop a file here').waitFor()
  },
  'import-refused': async (visit) => {
    await chooseFile(visit, 'name,email\n')
    await visit.page.getByText('users.csv cannot be imported').waitFor()
  },
  import: async (visit) => {
    await visit.open('/users?open=import')
    await chooseFile(visit, FILE)
    await visit.page.getByText('Choose a field for Joined, or leave it out.').waitFor()
  },
  'import-running': async (visit) => {
    await visit.page.route('**/trpc/users.createMany*', () => {})
    // Before its first request, an import is not stored.
    const sent = visit.page.waitForRequest('**/trpc/users.createMany*')
    await startImport(visit)
    await sent
    await visit.page.getByRole('button', { name: 'Stop' }).waitFor()
  },
  'import-pill': async ({ page }) => {
    await page.keyboard.press('Escape')
    await page.getByRole('progressbar', { name: 'users.csv' }).waitFor()
  },
  'import-check': async (visit) => {
    await chooseFile(visit, 'name,email,age\nTony Hoare,tony@example.com,90\n,nobody,old\nAda,ADA@example.com,33\n')
    await visit.page.getByRole('region', { name: 'Preview' }).waitFor()
  },
  'import-stopped': async ({ page }) => {
    await page.reload()
    await page.getByRole('button', { name: 'Continue' }).waitFor()
  },
  'import-question': async ({ page }) => {
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('alertdialog', { name: 'Stop the import?' }).waitFor()
  },
  'import-unfinished': async ({ page }) => {
    await page.keyboard.press('Escape')
    await page.getByText('The import of users.csv is not finished').waitFor()
  },
  'decimal-comma': async (visit) => {
    await visit.open('/items?open=import')
    await chooseFile(visit, 'name;price\nLamp;1,299\n')
    await visit.page.getByRole('button', { name: 'Use decimal commas' }).waitFor()
  },
  'import-over': async (visit) => {
    await startImport(visit)
    await visit.page.getByText('Finished').waitFor()
  },
  export: async ({ page, open }) => {
    await open('/items?category=kitchen&open=export')
    await page.getByText('on all pages').waitFor()
  },
  notices: async ({ page, open }) => {
    await open('/users')
    await page.route('**/trpc/users.setStatus*', (route) => route.fulfill({ status: 500, body: 'broken' }))
    await page.getByRole('checkbox', { name: 'Select Grace Hopper' }).check()
    await page.route('**/trpc/users.updateMany*', (route) => route.fulfill({ status: 500, body: 'broken' }))
    await page.getByRole('button', { name: 'Deactivate 1' }).click()
    await page.getByText('1 user not deactivated').waitFor()
  },
  empty: async ({ page, open }) => {
    await open('/items?category=none-such')
    await page.getByRole('heading', { name: 'No items match' }).waitFor()
  },
  none: async ({ page, open }) => {
    await page.route('**/trpc/books.list*', (route) =>
      route.fulfill({ json: [{ result: { data: { books: [], limit: 25, next: null, total: 0 } } }] }),
    )
    await open('/books')
    await page.getByRole('heading', { name: 'No books yet' }).waitFor()
  },
  loading: async ({ page, open }) => {
    await page.route('**/trpc/books.list*', () => {})
    await open('/books')
    await page.getByText('Loading books…').waitFor()
  },
  failed: async ({ page, open }) => {
    await page.route('**/trpc/books.list*', (route) => route.fulfill({ status: 500, body: 'broken' }))
    await open('/books')
    await page.getByRole('heading', { name: 'The books could not be loaded' }).waitFor()
  },
  'overview-failed': async ({ page, open }) => {
    await page.route('**/trpc/**', (route) => route.fulfill({ status: 500, body: 'broken' }))
    await open('/')
    await page.getByRole('heading', { name: 'Items by category cannot be loaded' }).waitFor()
  },
  offline: async ({ page }) => {
    await page.context().setOffline(true)
    await page.getByText('You are offline.').waitFor()
  },
  'offline-unread': async ({ page }) => {
    await page.getByRole('button', { name: 'Navigation' }).click()
    await page.getByRole('link', { name: 'Books' }).click()
    await page.getByRole('heading', { name: 'You are offline' }).waitFor()
  },
  'failed-chunk': async ({ page, open }) => {
    await page.route('**/assets/Dialogs-*', (route) => route.abort())
    await open('/users')
    await page.getByRole('button', { name: 'New user' }).click()
    await page.getByRole('heading', { name: 'This page stopped working' }).waitFor()
  },
  login: async ({ page, client, open }) => {
    await client.keys.create.mutate({ name: 'operator', role: 'admin' })
    await open('/users')
    await page.getByRole('button', { name: 'Log in' }).waitFor()
  },
  proposals: async ({ page, client, open }) => {
    await proposeDiscount(client)
    await open('/proposals')
    await page.getByRole('list', { name: 'Proposals' }).waitFor()
  },
  'proposals-none': async ({ page, open }) => {
    await open('/proposals?status=expired')
    await page.getByRole('heading', { name: 'No proposal is expired' }).waitFor()
  },
  proposal: async ({ page, client, open }) => {
    await client.items.update.mutate({ id: 3, price: 10 })
    await open('/proposals/1')
    await page.getByRole('region', { name: 'Changes now' }).waitFor()
  },
  keys: async (visit) => {
    await createKey(visit, 'operator')
    await visit.page.getByRole('button', { name: 'I have stored it' }).click()
    await createKey(visit, 'nightly import')
    await visit.page.getByRole('row', { name: 'operator' }).getByText('now, this session').waitFor()
  },
  'keys-rotate': async ({ page }) => {
    const menu = page.getByRole('button', { name: 'Actions of operator' })
    // A wide page has the buttons themselves.
    if (await menu.isVisible()) await menu.click()
    await page.getByRole('button', { name: 'Rotate operator…' }).click()
    await page.getByRole('dialog', { name: 'Rotate “operator”' }).waitFor()
  },
  'keys-none': async ({ page, open }) => {
    await open('/keys')
    await page.getByRole('heading', { name: 'No key yet' }).waitFor()
  },
  audit: async ({ page, client, open }) => {
    await client.items.update.mutate({ id: 3, price: 10 })
    await open('/audit?when=7d')
    await page.getByRole('row', { name: 'changed Kettle 3' }).waitFor()
    await page.getByRole('button', { name: 'Details: anonymous created 30 items' }).click()
    await page.getByText('items.createMany').last().waitFor()
  },
  sessions: async (visit) => {
    const { key } = await visit.client.keys.create.mutate({ name: 'operator', role: 'admin' })
    await startSession(visit, key)
    const headers = { Authorization: `Bearer ${key}` }
    await fetch(`${visit.service.url}/console/session`, { method: 'POST', headers })
    await visit.open('/sessions')
    await visit.page.getByRole('row', { name: 'this session' }).waitFor()
  },
  'sessions-none': async ({ page, open }) => {
    await open('/sessions')
    await page.getByRole('heading', { name: 'No sessions' }).waitFor()
  },
  missing: async ({ page, open }) => {
    await open('/nowhere')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  },
} satisfies Record<string, Show>

export async function createKey({ page }: Visit, name: string, owner = 'Mira') {
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill(name)
  await page.getByRole('dialog').getByLabel('Owner').fill(owner)
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('heading', { name: `Key “${name}” created` }).waitFor()
}

function proposeDiscount(client: Visit['client']) {
  const input = { category: 'kitchen', changes: { multiply: { price: 0.9 } } }
  const reason = 'Black Friday: everything for the kitchen is cheaper by a tenth until Monday.'
  return client.proposals.create.mutate({ operation: 'items.updateWhere', input, reason })
}
