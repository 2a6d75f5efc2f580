import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'

const WRITES: [method: string, path: string, body: object][] = [
  ['POST', '/api/users', { name: 'Eve', email: 'eve@example.com' }],
  ['PUT', '/api/users/1', { name: 'Eve', email: 'eve@example.com', role: 'user' }],
  ['PATCH', '/api/users/1', { name: 'Eve' }],
  ['PATCH', '/api/users/1/status', { status: 'inactive' }],
  ['POST', '/users', { name: 'Eve', email: 'eve@example.com' }],
  ['PUT', '/users/1', { name: 'Eve' }],
  ['PATCH', '/api/users/1/', { username: 'Eve' }],
  ['POST', '/items/', { name: 'Desk', price: 1 }],
  ['PUT', '/items/1', { name: 'Desk', price: 1 }],
  ['PATCH', '/items/1', { price: 1 }],
]

test('C42, C46 a condition or an idempotency key in a body is a 400 that names its header, and nothing is written', async () => {
  await using server = await startTestServer()
  const user = await server.request('POST', '/users', { json: { name: 'Ada', email: 'ada@example.com' } })
  await server.request('POST', '/items', { json: { name: 'Lamp', price: 2 } })
  for (const [method, path, body] of WRITES) {
    for (const [field, header] of [
      ['if_version', 'If-Match'],
      ['idempotency_key', 'Idempotency-Key'],
    ]) {
      const answer = await server.request(method, path, { json: { ...body, [field as string]: 1 } })
      const message = `${field}: must be sent as the header ${header}, not in the body`
      expect([method, path, answer.status, Object.values(answer.body)]).toEqual([method, path, 400, [message]])
    }
  }
  for (const [method, path, row, field] of [
    ['POST', '/items/bulk', { name: 'Desk', price: 1 }, 'if_version'],
    ['POST', '/items/bulk', { name: 'Desk', price: 1 }, 'idempotency_key'],
    ['PATCH', '/items/bulk', { id: 1, price: 1 }, 'idempotency_key'],
  ] as const) {
    const { status, body } = await server.request(method, path, { json: [row, { ...row, [field]: 1 }] })
    expect([path, status, body.message]).toEqual([path, 400, expect.stringContaining(`[1].${field}: must be sent as`)])
  }
  expect((await server.request('GET', '/users')).body).toEqual([user.body])
  expect((await server.request('GET', '/items')).body).toEqual([{ id: 1, name: 'Lamp', price: 2, category: null }])

  const changed = await server.request('PATCH', '/items/bulk', { json: [{ id: 1, price: 3, if_version: 1 }] })
  expect(changed.status).toBe(200)
  const missing = await server.request('PATCH', '/items/9', { json: { price: 1, if_version: 1 } })
  expect(missing.status).toBe(404)
})

test('C42, C62 over tRPC a condition that a call or a row does not have is a 400, and nothing is written', async () => {
  await using server = await startTestServer()
  const lamp = { name: 'Lamp', price: 2 }
  await server.client.items.create.mutate(lamp)
  for (const [procedure, input, field] of [
    ['users.create', { name: 'Ada', email: 'ada@example.com', if_version: 1 }, 'if_version'],
    ['items.create', { ...lamp, if_version: 1, idempotency_key: 'one' }, 'if_version'],
    ['items.createMany', { items: [lamp, { ...lamp, if_version: 1 }] }, 'items[1].if_version'],
    ['items.createMany', { items: [lamp], if_version: 1 }, 'if_version'],
    ['items.updateMany', { items: [{ id: 1, price: 3, idempotency_key: 'one' }] }, 'items[0].idempotency_key'],
    ['items.updateMany', { items: [{ id: 1, price: 3 }], partial: true, if_version: 1 }, 'if_version'],
    ['items.updateWhere', { id_gte: 1, changes: { set: { price: 3 } }, if_version: 1 }, 'if_version'],
    ['keys.create', { name: 'x', role: 'reader', if_version: 1 }, 'if_version'],
    ['previews.create', { operation: 'items.create', input: { ...lamp, if_version: 1 } }, 'input.if_version'],
  ] as const) {
    for (const Prefer of ['handling=lenient', 'handling=strict']) {
      const headers = { Prefer }
      const { status, body } = await server.request('POST', `/trpc/${procedure}`, { json: input, headers })
      expect([procedure, status, body.error?.message]).toEqual([procedure, 400, `${field}: is not a recognized field`])
    }
  }
  expect((await server.request('GET', '/users')).body).toEqual([])
  expect((await server.request('GET', '/items')).body).toEqual([{ id: 1, ...lamp, category: null }])
})

test('C42 over tRPC an invalid if_version is a 400 that says what is allowed', async () => {
  await using server = await startTestServer()
  const { id } = await server.client.items.create.mutate({ name: 'Lamp', price: 2 })
  for (const if_version of ['x', true, null, {}] as never[]) {
    const error = await server.client.items.delete.mutate({ id, if_version }).catch((error) => error)
    expect([error.status, error.fields]).toEqual([
      400,
      [
        {
          field: 'if_version',
          message: expect.stringMatching(/^must be a version number or a list of at most 100, not /),
        },
      ],
    ])
  }
})

test('C2 every label of UTF-8 names the charset of a body', async () => {
  await using server = await startTestServer()
  const raw = JSON.stringify({ name: 'Lämp', price: 1 })
  const types = [
    'utf-8',
    'UTF-8',
    'utf8',
    'UTF8',
    '"utf8"',
    '"UTF-8"',
    'csUTF8',
    'unicode-1-1-utf-8',
    'x-unicode20utf8',
  ]
  for (const charset of types) {
    for (const path of ['/items', '/trpc/items.create']) {
      const headers = { 'Content-Type': `application/json; charset=${charset}` }
      const { status } = await server.request('POST', path, { raw, headers })
      expect([charset, path, status]).toEqual([charset, path, path === '/items' ? 201 : 200])
    }
  }
  for (const charset of ['utf-16', 'latin1', 'us-ascii', 'utf-7', 'utf8x', '']) {
    const headers = { 'Content-Type': `application/json; charset=${charset}` }
    expect([charset, (await server.request('POST', '/items', { raw, headers })).status]).toEqual([charset, 415])
  }
})
