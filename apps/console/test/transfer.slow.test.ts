import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openProfile } from '@resource/browser-test'
import { createClient } from '@resource/client'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import {
  consoleTest,
  loseAnswers,
  pauseCalls,
  seed,
  shareBrowser,
  startSession,
  type Visit,
  violations,
  visitConsole,
} from './console.ts'
import { startService, startServiceProcess } from './service.ts'

shareBrowser()

const expected = /Failed to load resource/

async function choose(page: Page, name: string, text: string) {
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
}

async function downloadFrom(page: Page, start: () => Promise<void>) {
  const [file] = await Promise.all([page.waitForEvent('download'), start()])
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
}

const remainingRows = (page: Page) =>
  downloadFrom(page, () => page.getByRole('button', { name: 'Download remaining rows' }).click())

async function stop(page: Page) {
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('alertdialog', { name: 'Stop the import?' }).getByRole('button', { name: 'Stop' }).click()
}

async function count({ client }: Visit, noun: 'users' | 'items') {
  return (await client[noun].list.query({ limit: 1, count: true })).total
}

consoleTest(
  'an import of 1,200 users creates the valid rows and offers the failed rows as a file',
  async (visit) => {
    const { page, client, open } = visit
    await client.users.create.mutate({ name: 'Known', email: 'known@example.com' })
    const good = Array.from({ length: 1200 }, (_, index) => `User ${index},user${index}@example.com,${index % 90}`)
    good.splice(700, 0, 'Taken,KNOWN@example.com,30')
    const lines = [
      'name,email,age',
      ...good,
      '=Nobody,nonsense,',
      'Twice,user7@example.com,40',
      '"O, comma",o@example.com,',
    ]
    await open('/users?open=import')
    await choose(page, 'users.csv', lines.join('\n'))
    await page.getByText('1,202 users can be imported').waitFor()
    await page.getByText('E-mail already in line 9').waitFor()
    await page.getByRole('button', { name: 'Import 1,202 users' }).click()
    await page.getByText('Finished').waitFor()
    await page.getByText('1,201 users created, 3 rows failed').waitFor()
    await page.getByRole('row', { name: '702 E-mail already in use by another user' }).waitFor()
    expect(await page.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('1204')
    expect(await violations(page)).toEqual([])
    const { name, text } = await remainingRows(page)
    expect(name).toBe('users-remaining.csv')
    expect(text.split('\r\n')).toEqual([
      '\uFEFFname,email,age,import_line,import_error',
      'Taken,KNOWN@example.com,30,702,email: already in use by another user',
      "'=Nobody,nonsense,,1203,email: must be a valid e-mail address of at most 254 characters",
      'Twice,user7@example.com,40,1204,email: already in line 9',
      '',
    ])
    expect(await count(visit, 'users')).toBe(1202)

    // Until the user is done, the failed rows are kept.
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Import…' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Import…' }).click()
    await choose(page, 'corrected.csv', text.replace('KNOWN@', 'taken@').replace('nonsense', 'nobody@example.com'))
    await page.getByRole('button', { name: 'Import 3 users' }).click()
    await page.getByText('2 users created, 1 row failed').waitFor()
    expect(await client.users.list.query({ sort: 'id_desc', limit: 1 })).toMatchObject({ users: [{ name: '=Nobody' }] })
  },
  { expected },
)

consoleTest('columns, separator and decimal comma are guessed and can be changed', async (visit) => {
  const { page, client, open } = visit
  await open('/items?open=import')
  await choose(page, 'items.csv', '')
  await page.getByText('items.csv cannot be imported. The file contains no rows.').waitFor()
  await choose(page, 'items.csv', 'Item name;Cost;Kind\nLamp;1.024,5;light\nRug;7;\n')
  // The only column of numbers is taken for the required price.
  await page.getByText('Choose a field for Kind, or leave it out.').waitFor()
  const column = (name: string) => page.getByRole('combobox', { name, exact: true })
  const field = (name: string) => column(`Field for ${name}`)
  expect(await column('Separator').inputValue()).toBe(';')
  expect(await field('Cost').inputValue()).toBe('price')
  await field('Cost').selectOption('Do not import')
  await page.getByText('Choose a column for Price.').waitFor()
  await field('Cost').selectOption('Price')
  expect(await page.getByRole('button', { name: 'Check rows' }).isDisabled()).toBe(true)
  await field('Kind').selectOption('Category')
  await page.getByText('2 items can be imported.').waitFor()
  await page.getByText('Cost is written with decimal commas: 1.024,5 is read as 1024.5.').waitFor()
  expect(await column('Decimals').inputValue()).toBe(',')
  expect(await violations(page)).toEqual([])
  await column('Decimals').selectOption('Point, 1234.5')
  await page.getByText('1 item can be imported; 1 row with errors will be skipped.').waitFor()
  expect(await page.locator('.mapping .check').allTextContents()).toEqual([
    '2 of 2',
    '1 of 2 are numbers',
    '1 different value',
  ])
  // What the user has chosen stays.
  await field('Kind').selectOption('Do not import')
  await page.getByText('1 item can be imported; 1 row with errors will be skipped.').waitFor()
  await field('Kind').selectOption('Category')
  await page.getByRole('button', { name: 'Use decimal commas' }).click()
  await page.getByRole('button', { name: 'Check rows' }).click()
  await page.getByRole('button', { name: 'Import 2 items' }).click()
  await page.getByText('2 items created.').waitFor()
  expect((await client.items.list.query({})).items).toMatchObject([
    { name: 'Lamp', price: 1024.5, category: 'light' },
    { name: 'Rug', price: 7, category: null },
  ])
})

consoleTest('a comma with three digits is read as decimal after one click', async (visit) => {
  const { page, client, open } = visit
  await open('/items?open=import')
  await choose(page, 'items.csv', 'name;cost\nLamp;1,299\n')
  await page.getByRole('combobox', { name: 'Field for cost' }).selectOption('Price')
  await page.getByText('0 items can be imported; 1 row with errors will be skipped.').waitFor()
  await page.getByText('cost may be written with decimal commas: 1,299. Read it as 1.299?').waitFor()
  await page.getByRole('button', { name: 'Use decimal commas' }).click()
  await page.getByRole('button', { name: 'Check rows' }).click()
  await page.getByRole('button', { name: 'Import 1 item' }).click()
  await page.getByText('1 item created.').waitFor()
  expect((await client.items.get.query({ id: 1 })).price).toBe(1.299)
})

consoleTest('a file of thousands of rows is imported, and recognized', async (visit) => {
  const { page, open } = visit
  await open('/items?open=import')
  const rows = Array.from({ length: 2_500 }, (_, index) => `Item ${index},${index}.5`)
  const file = ['name,price', ...rows].join('\r\n')
  await choose(page, 'items.csv', file)
  await page.getByText('2,500 items can be imported.').waitFor()
  await page.getByRole('button', { name: 'Import 2,500 items' }).click()
  await page.getByText('2,500 items created.').waitFor({ timeout: 60_000 })
  expect(await count(visit, 'items')).toBe(2_500)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Import…' }).click()
  await choose(page, 'copy.csv', file)
  await page.getByText(/This file was imported on .* \(2,500 items created, 0 updated\)/).waitFor()
  expect(await violations(page)).toEqual([])

  // An export goes on without its dialog, too, and asks before it stops.
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Export…' }).click()
  const csv = page.getByRole('button', { name: 'CSV', exact: true, disabled: false })
  await csv.waitFor()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let pages = 0
  await page.route('**/trpc/items.list*', async (route) => {
    // The first tells the total.
    if (++pages > 1) await released
    await route.continue()
  })
  await csv.click()
  await page.getByRole('progressbar', { name: 'Export of items' }).waitFor()
  await page.getByRole('button', { name: 'Show the progress of Export of items' }).click()
  await page.getByRole('button', { name: 'Stop…' }).click()
  await page.getByRole('alertdialog', { name: 'Stop it?' }).getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('progressbar').waitFor({ state: 'detached' })
  release()
})

consoleTest('pressing the button twice imports a file once', async (visit) => {
  const { page, open } = visit
  await open('/items?open=import')
  const rows = Array.from({ length: 600 }, (_, index) => `Item ${index},1`)
  await choose(page, 'items.csv', ['name,price', ...rows].join('\n'))
  const calls = await pauseCalls(page, 'items.createMany')
  await page.getByRole('button', { name: 'Import 600 items' }).focus()
  await page.keyboard.down('Enter')
  await page.keyboard.down('Enter')
  // The same when the button has gone: the focus is then on no other button, such as Stop or Close.
  await page.getByText('Importing: items.csv').waitFor()
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  calls.resume()
  await page.getByText('600 items created.').waitFor()
  expect(await count(visit, 'items')).toBe(600)
})

consoleTest('a stopped import reports exactly the created records, and continues', async (visit) => {
  const { page, open } = visit
  await open('/items?open=import')
  const rows = Array.from({ length: 1200 }, (_, index) => `Item ${index},1`)
  await choose(page, 'items.csv', ['name,price', ...rows].join('\n'))
  await page.getByRole('button', { name: 'Import 1,200 items' }).waitFor()
  const calls = await pauseCalls(page, 'items.createMany')
  await page.getByRole('button', { name: 'Import 1,200 items' }).click()
  await calls.paused
  // Without its dialog and on another page it goes on, and a pill leads back to it.
  await page.getByRole('button', { name: 'Stop' }).press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Books' }).click()
  await page.getByRole('heading', { name: 'No books yet' }).waitFor()
  expect(await page.getByRole('progressbar', { name: 'items.csv' }).getAttribute('aria-valuetext')).toBe('0 %')
  expect(await violations(page)).toEqual([])
  await page.getByRole('link', { name: 'Show the progress of items.csv' }).click()
  // Stop asks, and Escape goes on.
  const question = page.getByRole('alertdialog', { name: 'Stop the import?' })
  await page.getByRole('button', { name: 'Stop' }).click()
  await question.waitFor()
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Stop' }).click()
  await question.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: 'Stopping…' }).waitFor()
  calls.resume()
  await page.getByText('500 items created, 700 rows not sent.').waitFor()
  expect(await count(visit, 'items')).toBe(500)
  expect(await violations(page)).toEqual([])
  const { text } = await remainingRows(page)
  const lines = text.trimEnd().split('\r\n')
  expect(lines.slice(0, 2)).toEqual(['\uFEFFname,price,import_line,import_error', 'Item 500,1,502,'])
  expect(lines.length).toBe(701)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const unfinished = page.getByText('The import of items.csv is not finished: 700 rows not sent.')
  await unfinished.waitFor()
  await open('/items')
  await unfinished.waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Continue…' }).click()
  await page.getByRole('button', { name: 'Continue', exact: true }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Undo: 1,200 items imported' }).waitFor()
  expect(await count(visit, 'items')).toBe(1200)
  await page.getByRole('main').getByText('1,200 items', { exact: true }).waitFor()
  expect(await unfinished.count()).toBe(0)
})

consoleTest('an unfinished import is discarded on the page of its list', async (visit) => {
  const { page, open } = visit
  await open('/items?open=import')
  const rows = Array.from({ length: 600 }, (_, index) => `Item ${index},1`)
  await choose(page, 'items.csv', ['name,price', ...rows].join('\n'))
  await page.getByRole('button', { name: 'Import 600 items' }).waitFor()
  const calls = await pauseCalls(page, 'items.createMany')
  await page.getByRole('button', { name: 'Import 600 items' }).click()
  await calls.paused
  // Leaving the page stops it.
  await open('/items')
  await page.getByText('The import of items.csv is not finished: 600 rows not sent.').waitFor()
  await page.getByRole('button', { name: 'Discard the rest' }).click()
  await page.getByText('The import of items.csv').waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('button', { name: 'Import…' }).click()
  await page.getByText('Drop a file here').waitFor()
  expect(await page.getByText('The import of items.csv').count()).toBe(0)
  calls.resume()
})

consoleTest(
  'an import continues after a reload and stores no row twice, although an answer was lost',
  async (visit) => {
    const { page, open } = visit
    await open('/users?open=import')
    const rows = Array.from({ length: 600 }, (_, index) => `U${index},u${index}@example.com`)
    await choose(page, 'users.csv', ['name,email', ...rows].join('\n'))
    await page.getByRole('button', { name: 'Import 600 users' }).waitFor()
    const { promise: stored, resolve } = Promise.withResolvers<void>()
    await page.route('**/trpc/users.createMany*', async (route) => {
      await route.fetch()
      resolve()
    })
    await page.getByRole('button', { name: 'Import 600 users' }).click()
    await stored
    expect(await count(visit, 'users')).toBe(500)
    await page.reload()
    await page.getByText('0 users created, 600 rows not sent.').waitFor()
    // Not before: the request without an answer would be sent on.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    const { text } = await remainingRows(page)
    expect(text).toContain('U499,u499@example.com,501,No answer from the service')
    expect(text).toContain('U500,u500@example.com,502,\r\n')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('600 users created.').waitFor()
    expect(await count(visit, 'users')).toBe(600)
  },
  { expected },
)

consoleTest(
  'an import waits while the service is unreachable or the browser offline, and stops when the service refuses it',
  async (visit) => {
    const { page, open } = visit
    await open('/items?open=import')
    await choose(page, 'items.ndjson', '{"name":"Lamp","price":1}\n{"name":"Rug","price":2}')
    await page.getByRole('button', { name: 'Import 2 items' }).waitFor()
    const refuse = {
      status: 403,
      json: [{ error: { message: 'This needs the role writer', code: -32003, data: { httpStatus: 403 } } }],
    }
    await page.route('**/trpc/items.createMany*', (route) => route.fulfill(refuse))
    await page.getByRole('button', { name: 'Import 2 items' }).click()
    await page.getByText('This needs the role writer. Log in with a key that has it, then continue.').waitFor()
    await page.getByText('0 items created, 2 rows not sent.').waitFor()
    await page.unrouteAll()
    await page.route('**/trpc/items.createMany*', (route) => route.abort())
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('The service cannot be reached. The import continues when it is back.').waitFor()
    await page.context().setOffline(true)
    await page.getByText('You are offline. The import continues when you are back online.').waitFor({ timeout: 60_000 })
    await page.unrouteAll()
    await page.context().setOffline(false)
    await page.getByText('2 items created.').waitFor({ timeout: 60_000 })
    expect(await count(visit, 'items')).toBe(2)
  },
  { expected },
)

test('an import of 30,000 rows that is stopped, reloaded, offline and without its service stores each row once', {
  timeout: 300_000,
}, async () => {
  const service = await startServiceProcess()
  const act = async ({ page, client, open }: Visit) => {
    await open('/items?open=import')
    const rows = Array.from({ length: 30_000 }, (_, index) => `Item ${index},1`)
    await choose(page, 'items.csv', ['name,price', ...rows].join('\n'))
    await page.getByRole('button', { name: 'Import 30,000 items' }).click()
    const sent = (least: number) =>
      page.waitForFunction(
        (least) => Number(document.querySelector('[role=progressbar]')?.getAttribute('aria-valuenow')) >= least,
        least,
      )
    await sent(4_000)
    await stop(page)
    await page.getByRole('button', { name: 'Continue' }).click()
    await sent(8_000)
    await page.reload()
    await page.getByRole('button', { name: 'Continue' }).click()
    await sent(12_000)
    await page.context().setOffline(true)
    await page.getByText('You are offline. The import continues when you are back online.').waitFor()
    await page.context().setOffline(false)
    await sent(16_000)
    await service.kill()
    await page.getByText('The service cannot be reached. The import continues when it is back.').waitFor()
    await service.start()
    await page.getByText('30,000 items created.').waitFor({ timeout: 240_000 })
    const names = new Set<string>()
    let stored = 0
    for await (const { items } of client.items.pages({ limit: 1000 })) {
      stored += items.length
      for (const { name } of items) names.add(name)
    }
    expect([stored, names.size]).toEqual([30_000, 30_000])
  }
  await visitConsole(service, act, { expected })
})

test('an import continues after the browser was closed', async () => {
  await using service = await startService()
  const folder = await mkdtemp(join(tmpdir(), 'resource-profile-'))
  const rows = Array.from({ length: 600 }, (_, index) => `Item ${index},1`)
  {
    await using profile = await openProfile(folder)
    const page = await profile.newPage()
    await page.goto(`${service.url}/console/items?open=import`)
    await choose(page, 'items.csv', ['name,price', ...rows].join('\n'))
    const calls = await pauseCalls(page, 'items.createMany')
    await page.getByRole('button', { name: 'Import 600 items' }).click()
    await calls.paused
  }
  await using profile = await openProfile(folder)
  const page = await profile.newPage()
  await page.goto(`${service.url}/console/items?open=import`)
  await page.getByText('0 items created, 600 rows not sent.').waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('600 items created.').waitFor()
  expect((await service.client.items.list.query({ limit: 1, count: true })).total).toBe(600)
  await profile.close()
  await rm(folder, { recursive: true })
})

consoleTest('an import with passwords continues after a reload with the same file', async (visit) => {
  const { page, client, open } = visit
  const file = 'name,email,password\nAda,ada@example.com,correct horse battery\n'
  await open('/users?open=import')
  await choose(page, 'users.csv', file)
  await page.getByText('••••••••').waitFor()
  const calls = await pauseCalls(page, 'users.createMany')
  await page.getByRole('button', { name: 'Import 1 user' }).click()
  await calls.paused
  await page.reload()
  await page.getByText('The browser does not keep passwords: choose the same file to continue.').waitFor()
  // Not while the page loads: a request that is being intercepted could get lost.
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await choose(page, 'users.csv', file.replace('Ada', 'Eve'))
  await page.getByText('This is another file, or users.csv has changed.').waitFor()
  await choose(page, 'users.csv', file)
  await page.getByText('1 user created.').waitFor()
  expect(await client.users.list.query({})).toMatchObject({ users: [{ name: 'Ada' }] })
})

consoleTest('the browser does not keep the passwords of an ignored column', async ({ page, open }) => {
  await open('/users?open=import')
  await choose(page, 'users.csv', 'name,email,password\nAda,ada@example.com,correct horse battery\n')
  await page.getByRole('button', { name: 'Match columns' }).click()
  await page.getByRole('combobox', { name: 'Field for password' }).selectOption('Do not import')
  await page.getByRole('button', { name: 'Check rows' }).click()
  const calls = await pauseCalls(page, 'users.createMany')
  await page.getByRole('button', { name: 'Import 1 user' }).click()
  await calls.paused
  const kept = JSON.stringify(await page.context().storageState({ indexedDB: true }))
  expect(kept).toContain('users.csv')
  expect(kept).not.toContain('correct horse')
  calls.resume()
  await page.getByText('1 user created.').waitFor()
})

consoleTest(
  'a second import of a file updates its known users by their address and creates the new one',
  async (visit) => {
    const { page, client, open } = visit
    await seed(client)
    const { users } = await client.users.list.query({})
    const lines = [
      ...users.map(({ email }) => ({ name: 'Known', email })),
      { name: 'New', email: 'new@example.com' },
      { email: 'nameless@example.com' },
    ]
    await open('/users?open=import')
    await choose(page, 'users.ndjson', lines.map((line) => JSON.stringify(line)).join('\n'))
    await page
      .getByRole('combobox', { name: 'Rows', exact: true })
      .selectOption('Update users by E-mail, create the others')
    await page.getByRole('button', { name: 'Import or update 16 users' }).click()
    await page.getByText('1 user created, 14 updated, 1 row failed').waitFor()
    await page.getByRole('row', { name: '16 Enter a name' }).waitFor()
    expect(await client.users.get.query({ id: 1 })).toMatchObject({
      name: 'Known',
      email: 'ada@example.com',
      role: 'admin',
    })
    expect(await count(visit, 'users')).toBe(15)
  },
)

consoleTest(
  'an export contains the filtered records, and importing its CSV again updates them',
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
    await page.getByRole('heading', { name: 'No items match' }).waitFor()
    expect((await exported('CSV')).text).toBe('\uFEFFid,name,price,category\r\n')
    await open('/items?open=import')
    await choose(page, 'items.csv', csv.text.replace("'=SUM(A1),1,", "'=SUM(A1),1.5,"))
    await page.getByRole('button', { name: 'Update 2 items' }).click()
    await page.getByText('2 items updated.').waitFor()
    const { items } = await client.items.list.query({})
    expect(items.map(({ id, name, price, category }) => ({ id, name, price, category }))).toEqual([
      { id: 1, name: '=SUM(A1)', price: 1.5, category: 'odd "ones"' },
      { id: 2, name: 'Lamp', price: 2.5, category: null },
      { id: 3, name: 'Dear', price: 99, category: 'odd "ones"' },
    ])
  },
)

/** Imports two items, whose answer is lost, and stops. */
async function stopUnanswered(page: Page) {
  await choose(page, 'items.csv', 'name,price\nLamp,1\nRug,2\n')
  await page.getByRole('button', { name: 'Import 2 items' }).waitFor()
  await loseAnswers(page, 'items.createMany')
  await page.getByRole('button', { name: 'Import 2 items' }).click()
  await page.getByText('The service cannot be reached.').waitFor()
  await stop(page)
  await page.getByText('0 items created, 2 rows not sent.').waitFor()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
}

consoleTest(
  'rows that were sent with another API key are not sent again',
  async (visit) => {
    const { page, client, service, open } = visit
    const { key } = await client.keys.create.mutate({ name: 'operator', role: 'admin' })
    const operator = createClient({ baseUrl: service.url, apiKey: key })
    const other = await operator.keys.create.mutate({ name: 'other', role: 'admin' })
    await startSession(visit, key)
    await open('/items?open=import')
    await stopUnanswered(page)
    await startSession(visit, other.key)
    await page.reload()
    await page.getByText('0 items created, 2 rows not sent.').waitFor()
    await page.getByRole('button', { name: 'Account: other' }).waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('The row was sent with another API key: check whether the row is stored').first().waitFor()
    expect((await operator.items.list.query({})).items.map(({ name }) => name)).toEqual(['Lamp', 'Rug'])
  },
  { expected },
)

consoleTest(
  'a file whose import was discarded after rows had been sent is recognized',
  async ({ page, open }) => {
    await open('/items?open=import')
    await stopUnanswered(page)
    await page.getByRole('button', { name: 'Discard the rest' }).click()
    await choose(page, 'items.csv', 'name,price\nLamp,1\nRug,2\n')
    await page.getByText(/This file was imported on/).waitFor()
  },
  { expected },
)

consoleTest('an import that is discarded in another tab stops', async (visit) => {
  const { page, open, service } = visit
  await open('/items?open=import')
  const rows = Array.from({ length: 1200 }, (_, index) => `Item ${index},1`)
  await choose(page, 'items.csv', ['name,price', ...rows].join('\n'))
  const calls = await pauseCalls(page, 'items.createMany')
  await page.getByRole('button', { name: 'Import 1,200 items' }).click()
  await calls.paused
  const tab = await page.context().newPage()
  await tab.goto(`${service.url}/console/items?open=import`)
  await tab.getByRole('button', { name: 'Discard the rest' }).click()
  await tab.locator('input[type=file]').waitFor({ state: 'attached' })
  calls.resume()
  await page.locator('input[type=file]').waitFor({ state: 'attached' })
  expect(await count(visit, 'items')).toBe(500)
})
