import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { aTimestamp, createUser } from './records.ts'

test('T1 a listed user has only username and email', async () => {
  await using server = await startTestServer()
  await createUser(server, { role: 'admin', age: 36 })
  expect((await server.request('GET', '/api/users/')).body).toEqual([{ username: 'Ada', email: 'ada@example.com' }])
})

test('T1 GET /api/users/ lists users', async () => {
  await using server = await startTestServer()
  await createUser(server)
  await createUser(server, { name: 'Bob', email: 'bob@example.com' })
  const { status, body } = await server.request('GET', '/api/users/')
  expect(status).toBe(200)
  expect(body).toEqual([
    { username: 'Ada', email: 'ada@example.com' },
    { username: 'Bob', email: 'bob@example.com' },
  ])
})

test('T3 GET /api/users/{id}/ returns 200 and the user', async () => {
  await using server = await startTestServer()
  const { created_at } = await createUser(server)
  const { status, body } = await server.request('GET', '/api/users/1/')
  expect(status).toBe(200)
  expect(body).toEqual({ id: 1, name: 'Ada', email: 'ada@example.com', role: 'user', created_at })
})

test('T2 POST /api/users/ returns 201 and the created user', async () => {
  await using server = await startTestServer()
  const { status, body } = await server.request('POST', '/api/users/', {
    json: { name: 'Ada', email: 'ada@example.com', password: 'correct horse', role: 'admin' },
  })
  expect(status).toBe(201)
  expect(body).toEqual({ id: 1, name: 'Ada', email: 'ada@example.com', role: 'admin', created_at: aTimestamp })
})

test('T4, T8 PUT /api/users/{id}/ returns 200 and the replaced user', async () => {
  await using server = await startTestServer()
  await createUser(server, { role: 'admin', age: 36 })
  const { status, body } = await server.request('PUT', '/api/users/1/', {
    json: { name: 'Ada Lovelace', email: 'lovelace@example.com' },
  })
  expect(status).toBe(200)
  expect(body).toEqual({
    id: 1,
    name: 'Ada Lovelace',
    email: 'lovelace@example.com',
    role: 'admin',
    updated_at: aTimestamp,
  })
  expect((await server.request('GET', '/users/1')).body).toMatchObject({ role: 'admin', age: 36 })
})

test('T5 PATCH /api/users/{id}/ returns 200 and the updated user', async () => {
  await using server = await startTestServer()
  await createUser(server, { role: 'admin', age: 36 })
  const { status, body } = await server.request('PATCH', '/api/users/1/', { json: { email: 'lovelace@example.com' } })
  expect(status).toBe(200)
  expect(body).toEqual({
    id: 1,
    name: 'Ada',
    email: 'lovelace@example.com',
    role: 'admin',
    updated_at: aTimestamp,
  })
  expect((await server.request('GET', '/users/1')).body).toMatchObject({ role: 'admin', age: 36 })
})

test('T6 DELETE /api/users/{id}/ returns 204 without a body and removes the user', async () => {
  await using server = await startTestServer()
  await createUser(server)
  const { status, body } = await server.request('DELETE', '/api/users/1/')
  expect(status).toBe(204)
  expect(body).toBeUndefined()
  expect((await server.request('GET', '/api/users/1/')).status).toBe(404)
})

for (const [method, json] of [
  ['GET'],
  ['PUT', { name: 'Ada', email: 'ada@example.com' }],
  ['PATCH', { name: 'Ada' }],
  ['DELETE'],
] as const) {
  test(`U20 ${method} /api/users/{id}/ for a user that does not exist returns 404`, async () => {
    await using server = await startTestServer()
    const { status, body } = await server.request(method, '/api/users/7/', { json })
    expect(status).toBe(404)
    expect(body).toEqual({ error: 'User not found' })
  })
}
