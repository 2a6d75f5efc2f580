import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { collections, fill, type Outcome } from '@resource/contract/samples'
import { createLocalClient } from '@resource/server/local'
import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { SPECIFIED } from './samples.ts'

const MAIN = fileURLToPath(new URL('../scripts/seed/main.ts', import.meta.url))

/** Runs `npm run seed` without the installation before it. */
function run(...args: string[]) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((done) => {
    execFile(process.execPath, [MAIN, ...args], (error, stdout, stderr) =>
      done({ code: error === null ? 0 : error.code, stdout, stderr }),
    )
  })
}

/** Fills the collections of the API rules; others stay empty. */
async function fillAll(databaseUrl: string, counts: Record<string, number>, seed = 1): Promise<Outcome[]> {
  await using client = await createLocalClient({ databaseUrl })
  const outcomes: Outcome[] = []
  const none = Object.fromEntries(collections.map((noun) => [noun, 0]))
  for await (const outcome of fill(client, { seed, counts: { ...none, ...counts } })) outcomes.push(outcome)
  return outcomes.filter(({ noun }) => SPECIFIED.includes(noun))
}

test('the command fills the database of a running service with the same believable records every time', async () => {
  await using server = await startTestServer()
  const { client } = server
  expect((await client.items.list.query({})).items).toEqual([])

  const { code, stdout, stderr } = await run('--database', server.databaseUrl)
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^users: 200 created\nbooks: 300 created\nitems: 1000 created\n(.*\n)*Database: /)

  const { users } = await client.users.list.query({ limit: 1000 })
  const { books } = await client.books.list.query({ limit: 1000 })
  const { items } = await client.items.list.query({ limit: 1000 })
  expect([users.length, books.length, items.length]).toEqual([200, 300, 1000])
  expect([users[0], books[0], items[0]]).toMatchObject([
    { id: 1, name: 'Nadia Nakamura', email: 'nadia.nakamura@example.net', role: 'admin', status: 'active', age: null },
    { id: 1, title: 'Notes on the Northern Mountain', author: 'Noah Kamau', published_date: '1977-10-08' },
    { id: 1, name: 'Train, oak', price: 48, category: 'toys' },
  ])

  expect(new Set(users.map(({ role, status }) => `${role} ${status}`)).size).toBeGreaterThan(2)
  expect(users.some(({ age }) => age === null)).toBe(true)
  expect(new Set(books.map(({ title }) => title)).size).toBeGreaterThan(260)
  expect(new Set(items.map(({ category }) => category)).size).toBe(7)
  expect(items.some(({ category }) => category === null)).toBe(true)
  for (const { price } of items) expect(price).toBe(Number(price.toFixed(2)))

  const { audit } = await client.audit.list.query({ sort: 'id_asc', limit: 1 })
  expect(audit).toMatchObject([{ actor: 'local', procedure: 'users.createMany', record_id: 1 }])
})

test('another count keeps the records, and another seed changes them', async () => {
  const names = async (counts: Record<string, number>, seed: number) => {
    await using server = await startTestServer()
    await fillAll(server.databaseUrl, counts, seed)
    const { items } = await server.client.items.list.query({ limit: 5 })
    return items.map(({ name }) => name)
  }
  const first = await names({ users: 1, books: 1, items: 5 }, 1)
  expect(await names({ users: 3, books: 0, items: 1500 }, 1)).toEqual(first)
  expect(await names({ users: 1, books: 1, items: 5 }, 2)).not.toEqual(first)
})

test('a second run fills only empty collections', async () => {
  await using server = await startTestServer()
  await server.client.books.create.mutate({ title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' })
  expect((await run('--database', server.databaseUrl, '--count', '3')).stdout).toMatch(
    'users: 3 created\nbooks: unchanged, it already has 1 record\nitems: 3 created\n',
  )
  const { code, stdout } = await run('--database', server.databaseUrl, '--count', 'users=9,items=9')
  expect(code).toBe(0)
  expect(stdout).toMatch(
    'users: unchanged, it already has 3 records\nbooks: unchanged, it already has 1 record\nitems: unchanged',
  )
  expect((await server.client.users.list.query({ count: true })).total).toBe(3)
})

test('samples are added to existing records as one group, which one undo removes again', async () => {
  await using server = await startTestServer()
  const { client } = server
  await client.items.create.mutate({ name: 'Lamp', price: 24.5 })
  const counts = { ...Object.fromEntries(collections.map((noun) => [noun, 0])), users: 3, items: 2 }
  const group = '0198a1c4-7d52-7b0e-9c3f-5a2f8e6b1d07'
  const created: Record<string, unknown> = {}
  for await (const outcome of fill(client, { counts, addsToExisting: true, options: { group } })) {
    created[outcome.noun] = [outcome.created, outcome.refusal]
  }
  expect(created).toMatchObject({ users: [3, undefined], books: [0, undefined], items: [2, undefined] })
  expect((await client.items.list.query({ count: true })).total).toBe(3)
  await client.undo({ group })
  expect((await client.users.list.query({ count: true })).total).toBe(0)
  expect((await client.items.list.query({})).items).toMatchObject([{ id: 1, name: 'Lamp' }])
})

test('many users have distinct e-mail addresses', async () => {
  await using server = await startTestServer()
  expect(await fillAll(server.databaseUrl, { users: 5000, books: 0, items: 0 })).toMatchObject([
    { noun: 'users', created: 5000 },
    { noun: 'books', created: 0 },
    { noun: 'items', created: 0 },
  ])
})

test.each([
  [['--count', 'x'], '--count: must be a whole number from 0 to 1000000'],
  // A name that no collection can have: otherwise this would fill the database of DATABASE_URL.
  [['--count', 'Orders=1'], '--count: "Orders" is not a collection; must be one of users, books, items'],
  [['--count', 'users=-1'], '--count users: must be a whole number from 0 to 1000000'],
  [['--seed', '1.5'], '--seed: must be a whole number from 0 to 2147483647'],
  [['--color', 'red'], "Unknown option '--color'"],
  [['--database', 'mysql://localhost'], 'DATABASE_URL must be file: followed by a path, or a postgresql:// URL'],
])('%j is refused with a sentence', async (args, message) => {
  const { code, stdout, stderr } = await run(...args)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(message)
  expect(stderr).not.toMatch(/^\s+at /m)
})
