import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { createBook, createItem, createUser } from './records.ts'

test('C35 a summary counts the records of each value, with the range and mean of a number', async () => {
  await using server = await startTestServer()
  const items = [
    ['Lamp', 10, 'light'],
    ['Torch', 20, 'light'],
    ['Candle', 60, 'light'],
    ['Rug', 80, 'textile'],
    ['Thing', 5, null],
  ] as const
  for (const price of [0.1, 0.2, 0.3]) await createItem(server, { name: 'Bead', price, category: 'glass' })
  expect((await server.request('GET', '/items/summaries?category=glass&of=price')).body).toEqual([
    { value: null, count: 3, minimum: 0.1, mean: 0.2, maximum: 0.3 },
  ])
  for (const id of [1, 2, 3]) await server.request('DELETE', `/items/${id}`)
  for (const [name, price, category] of items) await createItem(server, { name, price, category })
  const { status, headers, body } = await server.request('GET', '/items/summaries?by=category&of=price')
  expect([status, headers.get('age')]).toEqual([200, '0'])
  expect(body).toEqual([
    { value: 'light', count: 3, minimum: 10, mean: 30, maximum: 60 },
    { value: null, count: 1, minimum: 5, mean: 5, maximum: 5 },
    { value: 'textile', count: 1, minimum: 80, mean: 80, maximum: 80 },
  ])
  const summaries = async (query: string) => (await server.request('GET', `/items/summaries?${query}`)).body
  expect(await summaries('of=price&price_lt=60')).toEqual([
    { value: null, count: 3, minimum: 5, mean: 11.6666666667, maximum: 20 },
  ])
  expect(await summaries('by=category&q=rug')).toEqual([
    { value: 'textile', count: 1, minimum: null, mean: null, maximum: null },
  ])
  expect(await summaries('by=category&prefix=li')).toEqual([
    { value: 'light', count: 3, minimum: null, mean: null, maximum: null },
  ])
  expect(await summaries('by=category&limit=1')).toHaveLength(1)
  expect(await summaries('category=none')).toEqual([
    { value: null, count: 0, minimum: null, mean: null, maximum: null },
  ])
})

test('C35 users are summarized by role and status, books by author', async () => {
  await using server = await startTestServer()
  await createUser(server, { age: 30 })
  await createUser(server, { email: 'b@example.com', status: 'inactive', role: 'admin' })
  await createBook(server)
  expect((await server.client.users.summarize.query({ by: 'status', of: 'age' })).summaries).toEqual([
    { value: 'active', count: 1, minimum: 30, mean: 30, maximum: 30 },
    { value: 'inactive', count: 1, minimum: null, mean: null, maximum: null },
  ])
  expect((await server.client.users.summarize.query({ by: 'role' })).summaries.map(({ value }) => value)).toEqual([
    'admin',
    'user',
  ])
  expect((await server.request('GET', '/books/summaries?by=author&prefix=Fr')).body).toEqual([
    { value: 'Frank Herbert', count: 1, minimum: null, mean: null, maximum: null },
  ])
})

test('C35 an unknown group or measure is a 400 that lists the known ones', async () => {
  await using server = await startTestServer()
  const { status, body } = await server.request('GET', '/items/summaries?by=name&of=id')
  expect([status, body]).toEqual([400, { message: 'by: must be category; of: must be price' }])
  expect((await server.request('GET', '/books/summaries?of=id')).body.message).toContain(
    'of is not a query parameter of this operation',
  )
})
