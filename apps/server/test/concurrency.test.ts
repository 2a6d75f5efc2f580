import { describe, expect, test } from 'vitest'
import { type Answer, startTestServer, untilServed } from './harness.ts'
import { createItem, createUser, someUsers } from './records.ts'

const ada = { name: 'Ada', email: 'ada@example.com' }

/** The responses to a hundred concurrent requests. */
function hundred(send: (n: number) => Promise<Answer>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: 100 }, (_, n) => untilServed(() => send(n))))
}

function countByStatus(answers: Answer[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe('of a hundred concurrent', () => {
  for (const path of ['/api/users', '/users', '/api/users/']) {
    test(`creates of one e-mail address at ${path}, one returns 201 and 99 return 409`, async () => {
      await using server = await startTestServer()
      const answers = await hundred((n) =>
        server.request('POST', path, {
          json: { name: `Ada ${n}`, email: n % 2 === 0 ? 'ada@example.com' : 'ADA@example.com' },
        }),
      )
      expect(countByStatus(answers)).toEqual({ 201: 1, 409: 99 })
      expect((await server.request('GET', '/users')).body).toHaveLength(1)
    })
  }

  test('creates with one Idempotency-Key, one creates the user and all get its response', async () => {
    await using server = await startTestServer()
    const headers = { 'Idempotency-Key': 'key-1' }
    const answers = await hundred(() => server.request('POST', '/users', { json: ada, headers }))
    expect(countByStatus(answers)).toEqual({ 201: 100 })
    for (const { body, headers } of answers) {
      expect(body).toEqual(answers[0]?.body)
      expect(headers.get('location')).toBe('/users/1')
    }
    expect((await server.request('GET', '/users')).body).toEqual([answers[0]?.body])
  })

  test('creates without a unique field, only one stores an item under their Idempotency-Key', async () => {
    await using server = await startTestServer()
    const headers = { 'Idempotency-Key': 'key-1' }
    const json = { name: 'Lamp', price: 24.5 }
    const answers = await hundred(() => server.request('POST', '/items/', { json, headers }))
    expect(countByStatus(answers)).toEqual({ 201: 100 })
    for (const { body } of answers) expect(body).toEqual({ item: { id: 1, ...json, category: null } })
    expect((await server.request('GET', '/items')).body).toHaveLength(1)
  })

  test('PATCHes with the same If-Match, one returns 200 and 99 return 412', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const { headers } = await server.request('GET', '/api/users/1')
    const answers = await hundred((n) =>
      server.request('PATCH', '/api/users/1', {
        json: { name: `Ada ${n}` },
        headers: { 'If-Match': headers.get('etag') ?? '' },
      }),
    )
    expect(countByStatus(answers)).toEqual({ 200: 1, 412: 99 })
    const winner = answers.find(({ status }) => status === 200)
    const stored = await server.client.users.get.query({ id: 1 })
    expect([stored.name, stored.version]).toEqual([winner?.body.name, 2])
  })

  test('PATCHes without If-Match, none is lost', async () => {
    await using server = await startTestServer()
    await createItem(server)
    const answers = await hundred((n) => server.request('PATCH', '/items/1', { json: { price: n } }))
    expect(countByStatus(answers)).toEqual({ 200: 100 })
    expect((await server.client.items.get.query({ id: 1 })).version).toBe(101)
  })

  test('DELETEs of one record, one returns 204 and 99 return 404', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const answers = await hundred(() => server.request('DELETE', '/users/1'))
    expect(countByStatus(answers)).toEqual({ 204: 1, 404: 99 })
  })

  test('creates, each gets a unique id', async () => {
    await using server = await startTestServer()
    const answers = await hundred((n) => server.request('POST', '/items/', { json: { name: 'Lamp', price: n } }))
    const ids = answers.map(({ body }) => body.item.id)
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1))
  })
})

test('of two concurrent upserts of one new e-mail address, one creates the record and the other changes it', async () => {
  await using server = await startTestServer()
  for (let round = 0; round < 10; round++) {
    const upsert = (name: string) =>
      server.request('PATCH', '/api/users/bulk?key=email&create=true', {
        json: [{ name, email: `user${round}@example.com` }],
      })
    const answers = await Promise.all([upsert('Ada'), upsert('Grace')])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers.map(({ body }) => body[0].status).sort()).toEqual([200, 201])
  }
})

test('of two concurrent revocations of a key, one changes it', async () => {
  await using server = await startTestServer()
  const { key } = await server.client.keys.create.mutate({ name: 'operator', role: 'admin' })
  const headers = { Authorization: `Bearer ${key}` }
  for (let round = 2; round <= 11; round++) {
    await server.request('POST', '/api/keys', { json: { name: 'test', role: 'reader' }, headers })
    const revoke = () => server.request('DELETE', `/api/keys/${round}`, { headers })
    expect((await Promise.all([revoke(), revoke()])).map(({ status }) => status)).toEqual([200, 200])
  }
  const { body } = await server.request('GET', '/api/audit?procedure=keys.revoke', { headers })
  expect(body.map(({ record_id }: { record_id: number }) => record_id)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2])
})

test('of fifty concurrent bulk creates that share one e-mail address, one succeeds and the others store nothing', async () => {
  await using server = await startTestServer()
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      untilServed(() =>
        server.request('POST', '/api/users/bulk', {
          json: [...someUsers(3).map((user) => ({ ...user, email: `${n}-${user.email}` })), ada],
        }),
      ),
    ),
  )
  expect(countByStatus(answers)).toEqual({ 201: 1, 409: 49 })
  for (const { status, body } of answers) {
    if (status === 409) expect(body).toEqual({ error: expect.stringMatching(/^\[3\]\.email\b/) })
  }
  const winner = answers.find(({ status }) => status === 201)
  const { users } = await server.client.users.list.query({})
  expect(users.map(({ id, email }) => [id, email])).toEqual(
    winner?.body.map(({ id, email }: { id: number; email: string }) => [id, email]),
  )
  expect(users).toHaveLength(4)
})
