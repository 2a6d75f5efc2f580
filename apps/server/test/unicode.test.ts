import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { createItem, createUser } from './records.ts'

const COMPOSED = 'Jos\u00e9'
const DECOMPOSED = 'Jose\u0301'

test('text of every collection is stored in NFC, over REST and tRPC, one record or many', async () => {
  await using server = await startTestServer()
  const { request, client } = server
  const user = await createUser(server, { name: DECOMPOSED, email: 'jose@example.com' })
  expect(user.name).toBe(COMPOSED)
  const book = { title: DECOMPOSED, author: DECOMPOSED, published_date: '2026-01-02' }
  expect(await client.books.create.mutate(book)).toMatchObject({ title: COMPOSED, author: COMPOSED })
  const item = { name: DECOMPOSED, price: 1, category: DECOMPOSED }
  expect((await request('POST', '/items/bulk', { json: [item] })).body).toMatchObject([
    { name: COMPOSED, category: COMPOSED },
  ])
  const changes = await request('PATCH', '/items/bulk', { json: [{ id: 1, category: 'A\u030a' }] })
  expect(changes.body).toMatchObject([{ record: { category: '\u00c5' } }])
  expect((await request('PUT', '/items/1', { json: item })).body).toMatchObject({ category: COMPOSED })
  // Another composition of the stored name is no change.
  const { headers } = await request('GET', '/users/1')
  const same = await request('PUT', '/users/1', { json: { name: DECOMPOSED } })
  expect(same.headers.get('etag')).toBe(headers.get('etag'))
  const key = { 'idempotency-key': 'one' }
  const [first, second] = [
    await request('POST', '/items/', { json: { name: COMPOSED, price: 1 }, headers: key }),
    await request('POST', '/items/', { json: { name: DECOMPOSED, price: 1 }, headers: key }),
  ]
  expect(second.body).toEqual(first.body)
})

test('filters, prefixes and writes by filter find text whatever the composition they are sent in', async () => {
  await using server = await startTestServer()
  for (const category of [COMPOSED, DECOMPOSED]) await createItem(server, { name: 'Lamp', price: 1, category })
  for (const category of [COMPOSED, DECOMPOSED]) {
    const query = new URLSearchParams({ category })
    expect((await server.request('GET', `/items?${query}`)).body).toHaveLength(2)
    const summaries = await server.request('GET', `/items/summaries?by=category&prefix=${encodeURIComponent(category)}`)
    expect(summaries.body).toMatchObject([{ value: COMPOSED, count: 2 }])
    const set = { json: { set: { price: 1 } } }
    expect((await server.request('PATCH', `/items?${query}`, set)).body).toMatchObject({ matched: 2 })
  }
})

test('I9 the length of a text counts after its normalization', async () => {
  await using server = await startTestServer()
  const status = async (name: string) => (await server.request('POST', '/items/', { json: { name, price: 1 } })).status
  // 200 letters from 400 code points; 400 letters from 200 (U+0958 has no composed form); blank text.
  expect(await status('e\u0301'.repeat(200))).toBe(201)
  expect(await status('e\u0301'.repeat(201))).toBe(400)
  expect(await status('\u0958'.repeat(200))).toBe(400)
  expect(await status('\u2001')).toBe(400)
})

test('text with a long run of combining marks takes linear time, in a field and in a filter', async () => {
  await using server = await startTestServer()
  const text = `a${'\u0301\u0316'.repeat(100_000)}`
  const started = process.cpuUsage()
  const { status, body } = await server.request('POST', '/items/', { json: { name: text, price: 1 } })
  expect([status, body]).toEqual([400, { message: 'name: must be text of 1 to 200 characters' }])
  const remove = (category: string) => server.client.items.deleteWhere.mutate({ category })
  await expect(remove(text)).rejects.toMatchObject({
    status: 400,
    message: 'category: must be text of at most 1000 characters',
  })
  expect(await remove(text.slice(0, 999))).toMatchObject({ removed: 0 })
  // Normalizing it takes a minute.
  const { user } = process.cpuUsage(started)
  expect(user).toBeLessThan(10_000_000)
})

test('a password with a long run of combining marks is a 400', async () => {
  await using server = await startTestServer()
  const create = (marks: number) =>
    server.request('POST', '/api/users', {
      json: { name: 'Ada', email: `${marks}@example.com`, password: `a${'\u0301'.repeat(marks)}` },
    })
  expect((await create(255)).status).toBe(201)
  expect(await create(256)).toMatchObject({
    status: 400,
    body: { error: 'password: must be text with at most 255 combining marks in a row' },
  })
})

test.each(['/api/users', '/users', '/api/users/'])(
  'C17 %s filters by email, ignoring case, and takes any text',
  async (path) => {
    await using server = await startTestServer()
    await createUser(server, { name: 'Ada', email: 'Ada@Example.com' })
    await createUser(server, { name: 'Grace', email: 'grace@example.com' })
    const found = async (email: string, more = {}) =>
      (await server.request('GET', `${path}?${new URLSearchParams({ email, ...more })}`)).body.map(
        (user: { email: string }) => user.email,
      )
    for (const email of ['Ada@Example.com', 'ada@example.com', ' ADA@EXAMPLE.COM '])
      expect(await found(email)).toEqual(['Ada@Example.com'])
    for (const email of ['ada@example.co', 'ada', '']) expect(await found(email)).toEqual([])
    expect(await found('ADA@example.com', { email_contains: 'example' })).toEqual(['Ada@Example.com'])
    expect(await found('ADA@example.com', { role: 'admin' })).toEqual([])
  },
)

test('C17 tRPC, summaries and writes by filter filter by email too', async () => {
  await using server = await startTestServer()
  await createUser(server, { name: 'Ada', email: 'Ada@Example.com' })
  await createUser(server, { name: 'Grace', email: 'grace@example.com' })
  const { users } = await server.client.users.list.query({ email: 'ada@example.com', count: true })
  expect(users.map(({ name }) => name)).toEqual(['Ada'])
  const { summaries } = await server.client.users.summarize.query({ by: 'role', email: 'GRACE@example.com' })
  expect(summaries).toMatchObject([{ value: 'user', count: 1 }])
  expect(await server.client.users.deleteWhere.mutate({ email: 'ADA@example.com' })).toMatchObject({ removed: 1 })
})
