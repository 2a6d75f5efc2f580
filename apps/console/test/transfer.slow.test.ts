import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, pauseCalls, seed, shareBrowser, violations } from './console.ts'

shareBrowser()

const expected = /Failed to load resource/

async function choose(page: Page, name: string, text: string) {
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
}

async function downloadFrom(page: Page, start: () => Promise<void>) {
  const [file] = await Promise.all([page.waitForEvent('download'), start()])
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
}

consoleTest(
  'an import of 1,200 users creates the valid rows and offers the failed rows as a file',
  async ({ page, client, open }) => {
    await client.users.create.mutate({ name: 'Known', email: 'known@example.com' })
    const good = Array.from({ length: 1200 }, (_, index) => `User ${index},user${index}@example.com,${index % 90}`)
    good.splice(700, 0, 'Taken,KNOWN@example.com,30')
    const lines = [
      'name,email,age',
      ...good,
      'Nobody,nonsense,',
      'Twice,user7@example.com,40',
      '"O, comma",o@example.com,',
    ]
    await open('/users?open=import')
    await choose(page, 'users.csv', lines.join('\n'))
    await page.getByText('1,202 users can be imported').waitFor()
    await page.getByText('email: already in row 8').waitFor()
    await page.getByRole('button', { name: 'Import 1,202 users' }).click()
    await page.getByText('Finished').waitFor()
    await page.getByText('1,201 users created, 3 rows failed').waitFor()
    await page.getByRole('row', { name: '701 email: already in use by another user' }).waitFor()
    expect(await page.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('1204')
    expect(await violations(page)).toEqual([])
    const { name, text } = await downloadFrom(page, () =>
      page.getByRole('button', { name: 'Download failed rows' }).click(),
    )
    expect(name).toBe('users-failed.csv')
    expect(text.split('\r\n')).toEqual([
      '\uFEFFname,email,age,error',
      'Taken,KNOWN@example.com,30,email: already in use by another user',
      'Nobody,nonsense,,email: must be a valid e-mail address of at most 254 characters',
      'Twice,user7@example.com,40,email: already in row 8',
      '',
    ])
    expect((await client.users.list.query({ limit: 1, count: true })).total).toBe(1202)
  },
  { expected },
)

consoleTest(
  'a second import of a file fails row by row and creates its one new row',
  async ({ page, client, open }) => {
    await seed(client)
    const { users } = await client.users.list.query({})
    const lines = [...users.map(({ name, email }) => ({ name, email })), { name: 'New', email: 'new@example.com' }]
    await open('/users?open=import')
    await choose(page, 'users.ndjson', lines.map((line) => JSON.stringify(line)).join('\n'))
    await page.getByRole('button', { name: 'Import 15 users' }).click()
    await page.getByText('1 user created, 14 rows failed').waitFor()
  },
  { expected },
)

consoleTest(
  'a JSON array of items is imported, and an unusable file shows an error',
  async ({ page, client, open }) => {
    await open('/items?open=import')
    await choose(page, 'items.csv', 'title,cost\nLamp,3')
    await page.getByText('items.csv cannot be imported').waitFor()
    await choose(page, 'items.json', '[{"name":"Lamp","price":24.5},{"name":"Rug","price":"cheap"}]')
    await page.getByText('price: must be a number from 0 to 1e12').waitFor()
    await page.getByRole('button', { name: 'Import 1 item' }).click()
    await page.getByText('1 item created, 1 row failed').waitFor()
    expect((await client.items.list.query({})).items).toMatchObject([{ name: 'Lamp', price: 24.5, category: null }])
  },
)

consoleTest('10,000 rows are imported', async ({ page, client, open }) => {
  await open('/items?open=import')
  const rows = Array.from({ length: 10_000 }, (_, index) => `Item ${index},${index}.5`)
  await choose(page, 'items.csv', ['name,price', ...rows].join('\r\n'))
  await page.getByText('10,000 items can be imported.').waitFor()
  await page.getByRole('button', { name: 'Import 10,000 items' }).click()
  await page.getByText('10,000 items created.').waitFor({ timeout: 30_000 })
  expect((await client.items.list.query({ limit: 1, count: true })).total).toBe(10_000)
})

consoleTest('a stopped import reports exactly the created records', async (visit) => {
  const { page, client, open } = visit
  await open('/items?open=import')
  const rows = Array.from({ length: 1200 }, (_, index) => `Item ${index},1`)
  await choose(page, 'items.csv', ['name,price', ...rows].join('\n'))
  await page.getByRole('button', { name: 'Import 1,200 items' }).waitFor()
  const resume = await pauseCalls(page, 'items.createMany')
  await page.getByRole('button', { name: 'Import 1,200 items' }).click()
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  // The first Escape stops the import; a second closes the dialog.
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Stopping…' }).waitFor()
  resume()
  await page.getByText('500 items created, 700 rows not sent.').waitFor()
  expect((await client.items.list.query({ limit: 1, count: true })).total).toBe(500)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

consoleTest(
  'an import reports each row once, with the reason, if the service becomes unavailable',
  async ({ page, client, open }) => {
    await client.users.create.mutate({ name: 'Known', email: 'known@example.com' })
    await open('/users?open=import')
    const rows = Array.from({ length: 600 }, (_, index) => `{"name":"U${index}","email":"u${index}@example.com"}`)
    rows[3] = '{"name":"Known","email":"known@example.com","team":{"id":1}}'
    await choose(page, 'users.ndjson', rows.join('\n'))
    await page.getByRole('button', { name: 'Import 600 users' }).waitFor()
    let calls = 0
    await page.route('**/trpc/users.createMany*', (route) => (calls++ === 0 ? route.continue() : route.abort()))
    await page.getByRole('button', { name: 'Import 600 users' }).click()
    await page.getByText('0 users created, 600 rows failed.').waitFor()
    const { name, text } = await downloadFrom(page, () =>
      page.getByRole('button', { name: 'Download failed rows' }).click(),
    )
    const failed = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(name).toBe('users-failed.ndjson')
    expect(failed.map(({ name }) => name)).toEqual(rows.map((row) => JSON.parse(row).name))
    expect(failed[3]).toEqual({
      name: 'Known',
      email: 'known@example.com',
      team: { id: 1 },
      error: 'email: already in use by another user',
    })
    expect(failed[4].error).toMatch(/^The service cannot be reached.*The record may have been created/)
    expect(failed[599].error).toMatch(/^Not sent\. The service cannot be reached/)
  },
  { expected },
)

consoleTest(
  'an export contains the filtered records, and its CSV can be imported again',
  async ({ page, client, open }) => {
    await client.items.createMany.mutate({
      items: [
        { name: '=SUM(A1)', price: 1, category: 'odd "ones"' },
        { name: 'Lamp', price: 2.5, category: null },
        { name: 'Dear', price: 99, category: 'odd "ones"' },
      ],
    })
    await open('/items?price_lt=50&sort=id_desc')
    await page.getByRole('row', { name: 'Lamp' }).waitFor()
    const exported = (format: string) =>
      downloadFrom(page, async () => {
        await page.getByRole('button', { name: 'Export…' }).click()
        await page.getByRole('button', { name: format, exact: true }).click()
      })
    const ndjson = await exported('NDJSON')
    expect(ndjson).toEqual({
      name: 'items.ndjson',
      text:
        '{"id":2,"name":"Lamp","price":2.5,"category":null}\n' +
        '{"id":1,"name":"=SUM(A1)","price":1,"category":"odd \\"ones\\""}\n',
    })
    const csv = await exported('CSV')
    expect(csv).toEqual({
      name: 'items.csv',
      text: '\uFEFFid,name,price,category\r\n2,Lamp,2.5,\r\n1,\'=SUM(A1),1,"odd ""ones"""\r\n',
    })
    await open('/items?price_lt=0')
    await page.getByRole('heading', { name: 'No item matches' }).waitFor()
    expect((await exported('CSV')).text).toBe('\uFEFFid,name,price,category\r\n')
    await open('/items?open=import')
    await choose(page, 'items.csv', csv.text)
    await page.getByText('Ignored fields: id.').waitFor()
    await page.getByRole('button', { name: 'Import 2 items' }).click()
    await page.getByText('2 items created').waitFor()
    expect((await client.items.get.query({ id: 5 })).name).toBe('=SUM(A1)')
  },
)
