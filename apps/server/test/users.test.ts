import { describe, expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { aTimestamp, createUser, someUsers } from './records.ts'

const ada = { name: 'Ada', email: 'ada@example.com', password: 'correct horse', role: 'admin' }

describe('the fields of a user', () => {
  test('C6 the service assigns id, created_at and updated_at, whatever is sent', async () => {
    await using server = await startTestServer()
    const sent = { ...ada, id: 77, created_at: '2001-01-01T00:00:00.000Z', updated_at: '2001-01-01T00:00:00.000Z' }
    expect((await server.request('POST', '/api/users', { json: sent })).status).toBe(201)
    const { body } = await server.request('GET', '/users/1')
    expect(body).toEqual({
      id: 1,
      name: 'Ada',
      email: 'ada@example.com',
      role: 'admin',
      status: 'active',
      age: null,
      created_at: aTimestamp,
      updated_at: aTimestamp,
    })
    expect(body.created_at > '2020').toBe(true)
    expect(body.updated_at >= body.created_at).toBe(true)
  })

  for (const field of ['name', 'email'] as const) {
    test(`U19 ${field} is required on create`, async () => {
      await using server = await startTestServer()
      const { [field]: _, ...json } = ada
      const { status, body } = await server.request('POST', '/api/users', { json })
      expect(status).toBe(400)
      expect(body).toEqual({ error: `Missing required fields: ${field}` })
    })
  }

  test('U16 password is accepted on create and bulk create and never returned', async () => {
    await using server = await startTestServer()
    const bob = { ...ada, name: 'Bob', email: 'bob@example.com' }
    const answers = [
      await server.request('POST', '/api/users', { json: ada }),
      await server.request('POST', '/api/users/bulk', { json: [bob] }),
      await server.request('GET', '/api/users'),
      await server.request('GET', '/api/users/1'),
      await server.request('GET', '/users'),
      await server.request('GET', '/users/2'),
      await server.request('GET', '/api/users/'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 200, 200, 200, 200, 200])
    for (const { body } of answers) expect(JSON.stringify(body)).not.toMatch(/password|correct horse|argon2/)
  })

  for (const role of ['admin', 'user']) {
    test(`U13 role may be ${role}, is returned and is filterable`, async () => {
      await using server = await startTestServer()
      await server.request('POST', '/api/users/bulk', {
        json: [
          { name: 'Ada', email: 'ada@example.com', role: 'admin' },
          { name: 'Bob', email: 'bob@example.com', role: 'user' },
        ],
      })
      const { body } = await server.request('GET', `/api/users?role=${role}`)
      expect(body).toEqual([
        role === 'admin'
          ? { id: 1, name: 'Ada', email: 'ada@example.com', role: 'admin' }
          : { id: 2, name: 'Bob', email: 'bob@example.com', role: 'user' },
      ])
    })
  }

  for (const status of ['active', 'inactive']) {
    test(`U14 status may be ${status}, is set through the status sub-resource and is filterable`, async () => {
      await using server = await startTestServer()
      await createUser(server, { status: 'inactive' })
      await createUser(server, { name: 'Bob', email: 'bob@example.com', status: 'inactive' })
      if (status === 'active') await server.request('PATCH', '/api/users/2/status', { json: { status } })
      const { body } = await server.request('GET', `/users?status=${status}`)
      expect(body.map((user: { id: number; status: string }) => [user.id, user.status])).toEqual(
        status === 'active'
          ? [[2, 'active']]
          : [
              [1, 'inactive'],
              [2, 'inactive'],
            ],
      )
    })
  }

  test('U2, U5 created_at is returned on create and on retrieval and never changes', async () => {
    await using server = await startTestServer()
    const created = await server.request('POST', '/api/users', { json: ada })
    const read = await server.request('GET', '/api/users/1')
    expect(created.body.created_at).toEqual(aTimestamp)
    expect(read.body.created_at).toBe(created.body.created_at)
  })

  test('C11 updated_at is returned on PUT, PATCH and status update and never decreases', async () => {
    await using server = await startTestServer()
    const { created_at } = await createUser(server)
    const put = await server.request('PUT', '/api/users/1', { json: { ...ada, name: 'Eve', role: 'user' } })
    const patch = await server.request('PATCH', '/api/users/1', { json: { name: 'Ada L.' } })
    const status = await server.request('PATCH', '/api/users/1/status', { json: { status: 'inactive' } })
    const times = [created_at, put.body.updated_at, patch.body.updated_at, status.body.updated_at]
    expect(times).toEqual([aTimestamp, aTimestamp, aTimestamp, aTimestamp])
    expect([...times].sort()).toEqual(times)
  })
})

describe('the status of a user', () => {
  for (const before of ['active', 'inactive']) {
    test(`U9 PATCH /api/users/{id}/status changes an ${before} user to inactive and returns id, name, status, updated_at`, async () => {
      await using server = await startTestServer()
      await createUser(server, { status: before })
      const { status, body } = await server.request('PATCH', '/api/users/1/status', { json: { status: 'inactive' } })
      expect(status).toBe(200)
      expect(body).toEqual({ id: 1, name: 'Ada', status: 'inactive', updated_at: aTimestamp })
      expect((await server.request('GET', '/users/1')).body.status).toBe('inactive')
    })
  }

  test('U20 PATCH /api/users/{id}/status for a user that does not exist returns 404', async () => {
    await using server = await startTestServer()
    const { status, body } = await server.request('PATCH', '/api/users/1/status', { json: { status: 'inactive' } })
    expect(status).toBe(404)
    expect(body).toEqual({ error: 'User not found' })
  })

  test('U4 DELETE /api/users?status=inactive removes all inactive users and no other, and returns a message', async () => {
    await using server = await startTestServer()
    await server.request('POST', '/api/users/bulk', {
      json: someUsers(4).map((user, index) => ({ ...user, status: index % 2 === 0 ? 'inactive' : 'active' })),
    })
    const { status, body } = await server.request('DELETE', '/api/users?status=inactive')
    expect(status).toBe(200)
    expect(body).toEqual({ message: expect.stringContaining('2') })
    expect((await server.request('GET', '/api/users')).body).toEqual([
      { id: 2, name: 'User 2', email: 'user2@example.com', role: 'user' },
      { id: 4, name: 'User 4', email: 'user4@example.com', role: 'user' },
    ])
    expect((await server.request('GET', '/api/users/1')).status).toBe(404)
  })

  test('U14 an inactive user can become active again', async () => {
    await using server = await startTestServer()
    await createUser(server, { status: 'inactive' })
    const { status, body } = await server.request('PATCH', '/api/users/1/status', { json: { status: 'active' } })
    expect(status).toBe(200)
    expect(body).toEqual({ id: 1, name: 'Ada', status: 'active', updated_at: aTimestamp })
  })
})

describe('the main API of users', () => {
  test('U1 GET /api/users returns an array of id, name, email, role', async () => {
    await using server = await startTestServer()
    expect((await server.request('GET', '/api/users')).body).toEqual([])
    await createUser(server, { role: 'admin' })
    await createUser(server, { name: 'Bob', email: 'bob@example.com' })
    const { status, headers, body } = await server.request('GET', '/api/users')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(body).toEqual([
      { id: 1, name: 'Ada', email: 'ada@example.com', role: 'admin' },
      { id: 2, name: 'Bob', email: 'bob@example.com', role: 'user' },
    ])
  })

  test('U1 GET /api/users takes role, status, age, page and limit', async () => {
    await using server = await startTestServer()
    await server.request('POST', '/api/users/bulk', {
      json: someUsers(4).map((user) => ({ ...user, role: 'admin', status: 'inactive', age: 30 })),
    })
    for (const different of [{ role: 'user' }, { status: 'active' }, { age: 31 }]) {
      const email = `${Object.keys(different)[0]}@example.com`
      await createUser(server, { email, role: 'admin', status: 'inactive', age: 30, ...different })
    }
    const { status, body } = await server.request('GET', '/api/users?role=admin&status=inactive&age=30&page=2&limit=3')
    expect(status).toBe(200)
    expect(body).toEqual([{ id: 4, name: 'User 4', email: 'user4@example.com', role: 'admin' }])
  })

  test('U5 GET /api/users/{id} returns id, name, email, role, created_at', async () => {
    await using server = await startTestServer()
    const { created_at } = await createUser(server)
    const { status, body } = await server.request('GET', '/api/users/1')
    expect(status).toBe(200)
    expect(body).toEqual({ id: 1, name: 'Ada', email: 'ada@example.com', role: 'user', created_at })
  })

  test('U2 POST /api/users returns 201 with id, name, email, role, created_at and no password', async () => {
    await using server = await startTestServer()
    const { status, body } = await server.request('POST', '/api/users', { json: ada })
    expect(status).toBe(201)
    expect(body).toEqual({ id: 1, name: 'Ada', email: 'ada@example.com', role: 'admin', created_at: aTimestamp })
  })

  test('U3 POST /api/users/bulk returns an array of created users in the order sent', async () => {
    await using server = await startTestServer()
    const { status, body } = await server.request('POST', '/api/users/bulk', {
      json: [
        { name: 'Zoe', email: 'zoe@example.com', password: 'correct horse', role: 'user' },
        { name: 'Ada', email: 'ada@example.com', password: 'battery staple', role: 'admin' },
        { name: 'Max', email: 'max@example.com', password: 'another password', role: 'user' },
      ],
    })
    expect(status).toBe(201)
    expect(body).toEqual([
      { id: 1, name: 'Zoe', email: 'zoe@example.com', role: 'user', created_at: aTimestamp },
      { id: 2, name: 'Ada', email: 'ada@example.com', role: 'admin', created_at: aTimestamp },
      { id: 3, name: 'Max', email: 'max@example.com', role: 'user', created_at: aTimestamp },
    ])
  })

  test('U6 PUT /api/users/{id} replaces name, email and role and returns id, name, email, role, updated_at', async () => {
    await using server = await startTestServer()
    const { created_at } = await createUser(server)
    const { status, body } = await server.request('PUT', '/api/users/1', {
      json: { name: 'Ada Lovelace', email: 'lovelace@example.com', role: 'admin' },
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: 1,
      name: 'Ada Lovelace',
      email: 'lovelace@example.com',
      role: 'admin',
      updated_at: aTimestamp,
    })
    expect(body.updated_at >= created_at).toBe(true)
    expect((await server.request('GET', '/api/users/1')).body).toEqual({
      id: 1,
      name: 'Ada Lovelace',
      email: 'lovelace@example.com',
      role: 'admin',
      created_at,
    })
  })

  for (const [field, value] of [
    ['name', 'Ada Lovelace'],
    ['email', 'lovelace@example.com'],
    ['role', 'admin'],
  ] as const) {
    test(`U7 PATCH /api/users/{id} changes only ${field} and returns id, name, email, role, updated_at`, async () => {
      await using server = await startTestServer()
      await createUser(server)
      const { status, body } = await server.request('PATCH', '/api/users/1', { json: { [field]: value } })
      expect(status).toBe(200)
      expect(body).toEqual({
        id: 1,
        name: 'Ada',
        email: 'ada@example.com',
        role: 'user',
        updated_at: aTimestamp,
        [field]: value,
      })
    })
  }

  test('U9 PATCH /api/users/{id}/status returns id, name, status, updated_at', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const { status, body } = await server.request('PATCH', '/api/users/1/status', { json: { status: 'inactive' } })
    expect(status).toBe(200)
    expect(body).toEqual({ id: 1, name: 'Ada', status: 'inactive', updated_at: aTimestamp })
  })

  test('U8 DELETE /api/users/{id} removes the user and returns an object with the single field message', async () => {
    await using server = await startTestServer()
    await createUser(server)
    await createUser(server, { name: 'Bob', email: 'bob@example.com' })
    const { status, body } = await server.request('DELETE', '/api/users/1')
    expect(status).toBe(200)
    expect(body).toEqual({ message: expect.stringMatching(/./) })
    expect((await server.request('GET', '/api/users/1')).status).toBe(404)
    expect((await server.request('GET', '/api/users/2')).status).toBe(200)
  })

  test('U4 DELETE /api/users?status= removes every matching user and returns the single field message', async () => {
    await using server = await startTestServer()
    await createUser(server, { status: 'active' })
    await createUser(server, { name: 'Bob', email: 'bob@example.com', status: 'inactive' })
    const { status, body } = await server.request('DELETE', '/api/users?status=active')
    expect(status).toBe(200)
    expect(body).toEqual({ message: expect.stringMatching(/./) })
    expect((await server.request('GET', '/api/users')).body).toEqual([
      { id: 2, name: 'Bob', email: 'bob@example.com', role: 'user' },
    ])
  })

  for (const [method, path, json] of [
    ['GET', '/api/users/7'],
    ['PUT', '/api/users/7', ada],
    ['PATCH', '/api/users/7', { name: 'Ada' }],
    ['DELETE', '/api/users/7'],
  ] as const) {
    test(`U20 ${method} /api/users/{id} for a user that does not exist returns 404`, async () => {
      await using server = await startTestServer()
      const { status, body } = await server.request(method, path, { json })
      expect(status).toBe(404)
      expect(body).toEqual({ error: 'User not found' })
    })
  }
})

test('U12, C26 a taken e-mail address is a 409 that names the field, and in a bulk create also the index', async () => {
  await using server = await startTestServer()
  for (const name of ['ada', 'bob']) await createUser(server, { email: `${name}@example.com` })
  const taken = { name: 'Cid', email: 'ADA@example.com', role: 'user' }
  const send = async (method: string, path: string, json: unknown) => {
    const { status, body } = await server.request(method, path, { json })
    return [status, body]
  }
  const refused = [409, { error: 'email: already in use by another user' }]
  expect(await send('POST', '/api/users', taken)).toEqual(refused)
  expect(await send('PUT', '/api/users/2', taken)).toEqual(refused)
  expect(await send('PATCH', '/api/users/2', { email: taken.email })).toEqual(refused)
  expect(await send('POST', '/api/users/bulk', [{ name: 'Dan', email: 'dan@example.com' }, taken])).toEqual([
    409,
    { error: '[1].email: already in use by another user' },
  ])
})

test('U9 a misspelled status deletes nothing and is a 400, over REST and tRPC', async () => {
  await using server = await startTestServer()
  await createUser(server)
  const message = 'status: must be active or inactive'
  expect((await server.request('DELETE', '/api/users?status=zz')).status).toBe(400)
  await expect(server.client.users.deleteWhere.mutate({ status: 'zz' as never })).rejects.toMatchObject({
    status: 400,
    message,
  })
  expect((await server.client.users.list.query({ count: true })).total).toBe(1)
})
