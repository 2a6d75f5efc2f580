import { once } from 'node:events'
import { request } from 'node:http'
import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'

const emma = { title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' }
const lamp = { name: 'Lamp', price: 24.5 }

test('B3, I3 POST /books/bulk and POST /items/bulk return 201 and the created records in the order sent', async () => {
  await using server = await startTestServer()
  const books = await server.request('POST', '/books/bulk', { json: [emma, { ...emma, title: 'Persuasion' }] })
  expect([books.status, books.body]).toEqual([
    201,
    [
      { id: 1, ...emma },
      { id: 2, ...emma, title: 'Persuasion' },
    ],
  ])
  const items = await server.request('POST', '/items/bulk/', { json: [{ ...lamp, category: 'light' }, lamp] })
  expect([items.status, items.body]).toEqual([
    201,
    [
      { id: 1, ...lamp, category: 'light' },
      { id: 2, ...lamp, category: null },
    ],
  ])
})

test('I3, C26 a bulk create takes 1 to 1,000 records and keeps their order', async () => {
  await using server = await startTestServer()
  const items = Array.from({ length: 1000 }, (_, n) => ({ name: `Item ${n}`, price: n }))
  const { status, body } = await server.request('POST', '/items/bulk', { json: items })
  expect(status).toBe(201)
  expect(body).toEqual(items.map((item, n) => ({ id: n + 1, ...item, category: null })))
  for (const json of [[], [...items, lamp], {}]) {
    const refused = await server.request('POST', '/items/bulk', { json })
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: expect.stringMatching(/^Body: must be an array of 1 to 1000 items(, not an object)?$/) },
    ])
  }
})

test('C26 an error in a bulk create names the index and the field, and nothing is stored', async () => {
  await using server = await startTestServer()
  const { status, body } = await server.request('POST', '/books/bulk', {
    json: [emma, { ...emma, published_date: '1815-02-29' }, { title: 'No author' }],
  })
  expect([status, body]).toEqual([
    400,
    {
      message:
        'Missing required fields: [2].author, [2].published_date; [1].published_date: must be a calendar date, YYYY-MM-DD',
    },
  ])
  const numbers = await server.request('POST', '/api/users/bulk', { json: [1, null] })
  expect([numbers.status, numbers.body]).toEqual([
    400,
    { error: '[0]: must be an object, not a number; [1]: must be an object, not null' },
  ])
  expect((await server.request('GET', '/books')).body).toEqual([])
})

test('C46 a bulk create repeated with its Idempotency-Key stores nothing twice', async () => {
  await using server = await startTestServer()
  const send = () =>
    server.request('POST', '/items/bulk', { json: [lamp, lamp], headers: { 'Idempotency-Key': 'once' } })
  const first = await send()
  expect((await send()).body).toEqual(first.body)
  expect((await server.client.items.list.query({ count: true })).total).toBe(2)
})

test('a batch with a large response is sent whole, and a client that disconnects midway affects no other', async () => {
  await using server = await startTestServer()
  const items = Array.from({ length: 500 }, (_, n) => ({ name: `Lamp ${n} ${'é'.repeat(180)}`, price: n }))
  const body = JSON.stringify({ 0: { items }, 1: { items } })
  const path = '/trpc/items.createMany,items.createMany?batch=1'
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers, body })
  const results = (await answer.json()) as { result: { data: { items: { id: number }[] } } }[]
  const stored = results.map(({ result }) => result.data.items)
  const expected = items.map((item) => ({ id: expect.any(Number), ...item, category: null, version: 1 }))
  expect(stored).toEqual([expected, expected])
  expect(new Set(stored.flat().map(({ id }) => id)).size).toBe(1000)
  expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(400_000)

  const aborted = request(`${server.url}${path}`, { method: 'POST', headers, agent: false }).end(body)
  const [response] = await once(aborted, 'response')
  response.destroy()
  expect((await server.request('GET', '/items/2000')).status).toBe(200)
})

test('the bulk writes of one batch share the record limit: excess calls are refused and store nothing', async () => {
  await using server = await startTestServer()
  const items = (count: number) => ({
    items: Array.from({ length: count }, (_, n) => ({ name: `Lamp ${n}`, price: n })),
  })
  const send = (counts: number[], link: string) =>
    fetch(`${server.url}/trpc/${counts.map(() => 'items.createMany')}?batch=1`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'trpc-accept': link },
      body: JSON.stringify({ ...counts.map(items) }),
    })
  const refusal =
    'A batch must contain at most 1000 records in all calls together; send this call in a separate request'
  const answer = await send([1, 1000, 999, 1], 'application/json')
  const results = (await answer.json()) as { error?: { message: string }; result?: { data: { items: [] } } }[]
  expect(answer.status).toBe(207)
  expect(results.map(({ error, result }) => error?.message ?? result?.data.items.length)).toEqual([
    1,
    refusal,
    999,
    refusal,
  ])
  const rows = { items: [0, ...items(999).items.map((item, id) => ({ id, ...item }))], partial: true }
  const partial = await fetch(`${server.url}/trpc/items.updateMany,items.updateMany?batch=1`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ 0: rows, 1: rows }),
  })
  expect(((await partial.json()) as { error?: { message: string } }[]).map(({ error }) => error?.message)).toEqual([
    undefined,
    refusal,
  ])
  const streamed = await send([1000, 1000], 'application/jsonl')
  expect(await streamed.text()).toContain(refusal)
  expect((await server.client.items.list.query({ count: true })).total).toBe(2000)
})

test('a batch has one write whose input does not tell how many records it writes; more are refused', async () => {
  await using server = await startTestServer()
  const price = { items: [{ name: 'Lamp', price: 1 }] }
  await server.client.items.createMany.mutate(price)
  const alone =
    'A batch must not contain this call after another call that writes many records; send this call in a separate request'
  const results = async (calls: [path: string, input: object][]) => {
    const answer = await fetch(`${server.url}/trpc/${calls.map(([path]) => path)}?batch=1`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...calls.map(([, input]) => input) }),
    })
    const each = (await answer.json()) as { error?: { message: string; data: { httpStatus: number } } }[]
    return each.map(({ error }) => (error === undefined ? 200 : [error.data.httpStatus, error.message]))
  }
  const raise: [string, object] = ['items.updateWhere', { id_gte: 1, changes: { add: { price: 1 } } }]
  expect(await results([raise, raise])).toEqual([200, [400, alone]])
  for (const call of [
    ['items.deleteWhere', { id_gte: 1 }],
    ['previews.create', { operation: 'items.updateWhere', input: raise[1] }],
    ['reversals.create', { request_id: '01989f2e-6a00-7c3e-8a51-3f0f4d1c9b20' }],
  ] as [string, object][]) {
    expect([call[0], await results([raise, call])]).toEqual([call[0], [200, [400, alone]]])
  }
  expect(await results([['items.createMany', price], raise])).toEqual([200, [400, alone]])
  const single: [string, object] = ['items.update', { id: 1, price: 50 }]
  expect(await results([single, raise, single])).toEqual([200, 200, 200])
  expect(await results([raise, ['items.createMany', price]])).toEqual([
    200,
    [400, 'A batch must contain at most 1000 records in all calls together; send this call in a separate request'],
  ])
  expect((await server.client.items.list.query({ count: true })).total).toBe(2)
})
