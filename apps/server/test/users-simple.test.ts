import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { aTimestamp, createUser } from './records.ts'

test('S1 GET /users returns 200 and an array of whole public records', async () => {
  await using server = await startTestServer()
  await server.request('POST', '/users', { json: { name: 'Ada', email: 'ada@example.com', age: 36, role: 'admin' } })
  await server.request('POST', '/users', { json: { name: 'Bob', email: 'bob@example.com', status: 'inactive' } })
  const { status, body } = await server.request('GET', '/users')
  expect(status).toBe(200)
  expect(body).toEqual([
    {
      id: 1,
      name: 'Ada',
      email: 'ada@example.com',
      role: 'admin',
      status: 'active',
      age: 36,
      created_at: aTimestamp,
      updated_at: aTimestamp,
    },
    {
      id: 2,
      name: 'Bob',
      email: 'bob@example.com',
      role: 'user',
      status: 'inactive',
      age: null,
      created_at: aTimestamp,
      updated_at: aTimestamp,
    },
  ])
})

test('S2 POST /users takes name and email and returns 201 and the whole created user', async () => {
  await using server = await startTestServer()
  const { status, body } = await server.request('POST', '/users', { json: { name: 'Ada', email: 'ada@example.com' } })
  expect(status).toBe(201)
  expect(body).toEqual({
    id: 1,
    name: 'Ada',
    email: 'ada@example.com',
    role: 'user',
    status: 'active',
    age: null,
    created_at: aTimestamp,
    updated_at: aTimestamp,
  })
  expect(body.updated_at).toBe(body.created_at)
})

test('S3 GET /users/{user_id} returns 200 and the whole user', async () => {
  await using server = await startTestServer()
  const created = await createUser(server, { age: 0 })
  const { status, body } = await server.request('GET', '/users/1')
  expect(status).toBe(200)
  expect(body).toEqual({
    id: 1,
    name: 'Ada',
    email: 'ada@example.com',
    role: 'user',
    status: 'active',
    age: 0,
    created_at: created.created_at,
    updated_at: created.updated_at,
  })
})

for (const [field, value] of [
  ['name', 'Ada Lovelace'],
  ['email', 'lovelace@example.com'],
  ['role', 'user'],
  ['status', 'active'],
  ['age', 37],
] as const) {
  test(`S4 PUT /users/{user_id} merges ${field} into the stored user and returns 200 and the user`, async () => {
    await using server = await startTestServer()
    const { created_at } = await createUser(server, { role: 'admin', status: 'inactive', age: 36 })
    const { status, body } = await server.request('PUT', '/users/1', { json: { [field]: value } })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: 1,
      name: 'Ada',
      email: 'ada@example.com',
      role: 'admin',
      status: 'inactive',
      age: 36,
      created_at,
      updated_at: aTimestamp,
      [field]: value,
    })
    expect(body.updated_at >= created_at).toBe(true)
    expect((await server.request('GET', '/users/1')).body).toEqual(body)
  })
}

test('S5 DELETE /users/{user_id} returns 204 without a body and removes the user', async () => {
  await using server = await startTestServer()
  await createUser(server)
  const { status, body } = await server.request('DELETE', '/users/1')
  expect(status).toBe(204)
  expect(body).toBeUndefined()
  expect((await server.request('GET', '/users/1')).status).toBe(404)
  expect((await server.request('DELETE', '/users/1')).body).toEqual({ error: 'User not found' })
})

for (const [method, json] of [['GET'], ['PUT', { name: 'Ada' }], ['DELETE']] as const) {
  test(`U20 ${method} /users/{user_id} for a user that does not exist returns 404`, async () => {
    await using server = await startTestServer()
    const { status, body } = await server.request(method, '/users/7', { json })
    expect(status).toBe(404)
    expect(body).toEqual({ error: 'User not found' })
  })
}
