import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { openDatabase } from './records.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

test('a write that finds the database locked by another process gets a 503 with Retry-After, over REST and tRPC', async () => {
  await using server = await startTestServer()
  await using database = await openDatabase(server)
  const lamp = { name: 'Lamp', price: 1 }
  await database.write(async () => {
    const overRest = server.request('POST', '/items/', { json: lamp })
    const overTrpc = fetch(`${server.url}/trpc/items.create`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(lamp),
    })
    // Other requests do not wait.
    expect((await server.request('GET', '/healthz')).status).toBe(200)
    expect((await server.request('GET', '/items')).body).toEqual([])
    const { status, headers, body } = await overRest
    expect([status, headers.get('Retry-After'), body]).toEqual([
      503,
      '1',
      { message: 'The database is busy; try again' },
    ])
    const answer = await overTrpc
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '1'])
    expect(await answer.json()).toMatchObject({ error: { data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 } } })
  })
  expect((await server.request('POST', '/items/', { json: lamp })).status).toBe(201)
})

test('a replay under an Idempotency-Key waits like a write for the lock of another process', async () => {
  await using server = await startTestServer()
  await using database = await openDatabase(server)
  const create = () =>
    server.request('POST', '/items/', { json: { name: 'Lamp', price: 1 }, headers: { 'Idempotency-Key': 'key' } })
  const first = await create()
  let isDone = false
  let repeat: ReturnType<typeof create> | undefined
  await database.write(async () => {
    repeat = create().finally(() => {
      isDone = true
    })
    for (let n = 0; n < 20; n++) expect((await server.request('GET', '/items')).status).toBe(200)
    expect(isDone).toBe(false)
  })
  expect(await repeat).toMatchObject({ status: 201, body: first.body })
})

test('a database that cannot be opened exits with code 1 and a message with the reason', async () => {
  await using folder = await temporaryFolder()
  writeFileSync(join(folder.path, 'letter'), 'Dear reader, this is a letter and no database. '.repeat(100))
  const outcome = async (file: string) => {
    await using service = spawnService(folder.path, { DATABASE_URL: `file:${file}` })
    const { code, stderr } = await service.exited
    return `${code} ${stderr}`
  }
  const allowed = 'It must be a SQLite database, or not exist yet, in a folder where this user may read and write.'
  expect(await Promise.all(['/proc/none/r.db', '/dev/full', 'letter'].map(outcome))).toEqual([
    `1 The database file /proc/none/r.db cannot be opened: ENOENT: no such file or directory, mkdir '/proc/none'. ${allowed}\n`,
    `1 The database file /dev/full cannot be opened: it is not a regular file. ${allowed}\n`,
    `1 The database file ${folder.path}/letter cannot be used: file is not a database. ${allowed}\n`,
  ])
})

test('through a symbolic link the WAL is next to the real database, and records survive a kill', async () => {
  await using folder = await temporaryFolder()
  mkdirSync(join(folder.path, 'real'))
  symlinkSync('real/r.db', join(folder.path, 'link.db'))
  const create = async (name: string) => {
    await using service = spawnService(folder.path, { DATABASE_URL: 'file:link.db' })
    const created = await fetch(`${await service.url()}/items/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name, price: 1 }),
    })
    return created.json()
  }
  // On the first start the link is dangling.
  expect(await create('Lamp')).toMatchObject({ item: { id: 1, name: 'Lamp' } })
  expect(await create('Rug')).toMatchObject({ item: { id: 2, name: 'Rug' } })
  expect(readdirSync(folder.path).sort()).toEqual(['link.db', 'real'])
  expect(readdirSync(join(folder.path, 'real')).sort()).toEqual(['r.db', 'r.db-shm', 'r.db-wal'])
})
