import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { faker } from '@faker-js/faker/locale/en'
import { createLocalClient } from '@resource/server/local'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { declaredRecords, distinct } from '../scripts/seed/records.ts'
import { collections, fill, type Outcome } from '../scripts/seed/seed.ts'
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
  expect(stdout).toMatch(/^users: 50 created\nbooks: 200 created\nitems: 500 created\n(.*\n)*Database: /)

  const { users } = await client.users.list.query({ limit: 1000 })
  const { books } = await client.books.list.query({ limit: 1000 })
  const { items } = await client.items.list.query({ limit: 1000 })
  expect([users.length, books.length, items.length]).toEqual([50, 200, 500])
  expect([users[0], books[0], items[0]]).toMatchObject([
    { id: 1, name: 'Ayden Waters', email: 'ayden.waters@example.org', role: 'admin', status: 'active', age: 32 },
    { id: 1, title: 'The Secret Forager', author: 'Sue Berge', published_date: '2025-12-28' },
    { id: 1, name: 'Rustic Cotton Hat', price: 131.9, category: 'shoes' },
  ])

  expect(new Set(users.map(({ role, status }) => `${role} ${status}`)).size).toBeGreaterThan(2)
  expect(users.some(({ age }) => age === null)).toBe(true)
  expect(new Set(books.map(({ title }) => title)).size).toBeGreaterThan(180)
  expect(new Set(items.map(({ category }) => category)).size).toBe(23)
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

function take<T>(count: number, values: Iterable<T>): T[] {
  const taken: T[] = []
  for (const value of values) if (taken.push(value) === count) break
  return taken
}

const text = (max: number) => z.string().trim().max(max).meta({ minLength: 1, maxLength: max })

/** A resource with every type of field. */
const schema = z.object({
  reference: text(200),
  pin: text(2),
  quantity: z.int().min(1).max(5).default(1),
  amount: z
    .int()
    .min(-(2 ** 31))
    .max(2 ** 31 - 1),
  weight: z.number().min(0.001).max(0.002),
  price: z.number().min(-1e12).max(1e12),
  status: z.enum(['open', 'closed']).default('open'),
  urgent: z.boolean(),
  due: z.iso.date().nullable().default(null),
  sent_at: z.iso.datetime(),
  user_id: z.int().min(1),
  parent_id: z.int().min(1).nullable().default(null),
  secret: text(8).optional().meta({ writeOnly: true }),
  contact_email: z.email(),
})
const orders = {
  schema,
  unique: ['reference', 'amount'],
  references: { user_id: 'users', parent_id: 'orders' },
}

test('a resource without samples gets records from its declaration', () => {
  const first = (count: number) => {
    faker.seed(1)
    const ids = { users: [7, 8, 9], orders: [] }
    return take(count, distinct(declaredRecords(orders, ids, faker), orders.unique))
  }
  const records = first(500)
  expect(records).toEqual(first(500))
  for (const record of records) expect(schema.safeParse(record).error).toBeUndefined()
  for (const field of ['reference', 'amount']) expect(new Set(records.map((row) => row[field])).size).toBe(500)
  const values = (field: string) => new Set(records.map((row) => row[field]))
  expect(values('user_id')).toEqual(new Set([7, 8, 9]))
  expect(values('parent_id')).toEqual(new Set([null]))
  expect(values('status')).toEqual(new Set(['open', 'closed']))
  expect(values('urgent')).toEqual(new Set([false, true]))
  expect(values('quantity')).toEqual(new Set([1, 2, 3, 4, 5]))
  expect(values('secret')).toEqual(new Set([undefined]))
  expect(values('due')).toContain(null)
  expect(values('due').size).toBeGreaterThan(100)
})

test('a unique field with few values ends the records', () => {
  faker.seed(1)
  const ids = { users: [1], orders: [] }
  expect(take(100, distinct(declaredRecords(orders, ids, faker), ['quantity']))).toHaveLength(5)
})

test('a reference to an empty collection and a field without a value are errors that name the field', () => {
  const next = (collection: typeof orders) => declaredRecords(collection, { users: [] }, faker).next()
  expect(() => next(orders)).toThrow('user_id refers to users, which has no records')
  const odd = { schema: z.object({ isbn: z.string().regex(/^97[89]-\d{10}$/) }), unique: [] }
  expect(() => next({ ...odd, references: {} } as never)).toThrow('no sample value satisfies the rules of isbn')
})
