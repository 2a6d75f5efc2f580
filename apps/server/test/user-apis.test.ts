import { describe, expect, test } from 'vitest'
import { startTestServer, type TestServer } from './harness.ts'
import { aTimestamp, createBook, createItem, createUser, someUsers } from './records.ts'

const ada = { name: 'Ada', email: 'ada@example.com' }

describe('one collection, three APIs', () => {
  for (const [api, path] of [
    ['main', '/api/users'],
    ['simple', '/users'],
    ['trailing-slash', '/api/users/'],
  ] as const) {
    test(`U22 a user created through the ${api} API appears in every API, each in its own shape`, async () => {
      await using server = await startTestServer()
      const json = { ...ada, age: 36, role: 'admin', status: 'inactive' }
      expect((await server.request('POST', path, { json })).status).toBe(201)
      const whole = {
        id: 1,
        name: 'Ada',
        email: 'ada@example.com',
        role: 'admin',
        status: 'inactive',
        age: 36,
        created_at: aTimestamp,
        updated_at: aTimestamp,
      }
      const detail = { id: 1, name: 'Ada', email: 'ada@example.com', role: 'admin', created_at: aTimestamp }
      const bodyOf = async (path: string) => (await server.request('GET', path)).body
      expect(await bodyOf('/api/users')).toEqual([{ id: 1, name: 'Ada', email: 'ada@example.com', role: 'admin' }])
      expect(await bodyOf('/users')).toEqual([whole])
      expect(await bodyOf('/api/users/')).toEqual([{ username: 'Ada', email: 'ada@example.com' }])
      expect(await bodyOf('/api/users/1')).toEqual(detail)
      expect(await bodyOf('/users/1')).toEqual(whole)
      expect(await bodyOf('/api/users/1/')).toEqual(detail)
    })
  }

  for (const [api, path, status, body] of [
    ['main', '/api/users/1', 200, { message: expect.stringMatching(/./) }],
    ['simple', '/users/1', 204, undefined],
    ['trailing-slash', '/api/users/1/', 204, undefined],
  ] as const) {
    test(`U22 a user deleted through the ${api} API (${status}) is gone from every API`, async () => {
      await using server = await startTestServer()
      await createUser(server)
      const answer = await server.request('DELETE', path)
      expect(answer.status).toBe(status)
      expect(answer.body).toEqual(body)
      for (const path of ['/api/users/1', '/users/1', '/api/users/1/']) {
        expect((await server.request('GET', path)).status).toBe(404)
      }
      for (const path of ['/api/users', '/users', '/api/users/']) {
        expect((await server.request('GET', path)).body).toEqual([])
      }
    })
  }

  for (const [method, path] of [
    ['PUT', '/api/users/1'],
    ['PUT', '/api/users/1/'],
  ] as const) {
    test(`${method} ${path} replaces the fields it lists and keeps age and status`, async () => {
      await using server = await startTestServer()
      await createUser(server, { age: 36, role: 'admin', status: 'inactive' })
      const json = { name: 'Eve', email: 'eve@example.com', role: 'user', status: 'active' }
      expect((await server.request(method, path, { json })).status).toBe(200)
      expect((await server.request('GET', '/users/1')).body).toEqual({
        id: 1,
        name: 'Eve',
        email: 'eve@example.com',
        role: 'user',
        status: 'inactive',
        age: 36,
        created_at: aTimestamp,
        updated_at: aTimestamp,
      })
    })

    test(`${method} ${path} stores age and role if they are sent`, async () => {
      await using server = await startTestServer()
      await createUser(server)
      await server.request(method, path, { json: { ...ada, age: 40, role: 'admin' } })
      expect((await server.request('GET', '/users/1')).body).toMatchObject({ age: 40, role: 'admin' })
    })

    const role = path === '/api/users/1' ? ', role' : ''
    for (const [json, missing] of [
      [{}, `name, email${role}`],
      [{ name: 'Ada' }, `email${role}`],
      [{ email: 'ada@example.com' }, `name${role}`],
    ] as const) {
      test(`C31 ${method} ${path} requires ${missing}`, async () => {
        await using server = await startTestServer()
        await createUser(server)
        const { status, body } = await server.request(method, path, { json })
        expect(status).toBe(400)
        expect(body).toEqual({ error: `Missing required fields: ${missing}` })
      })
    }
  }

  test('S4 PUT /users/{user_id} merges: omitted fields keep their values', async () => {
    await using server = await startTestServer()
    await createUser(server, { age: 36, role: 'admin', status: 'inactive' })
    const { body } = await server.request('PUT', '/users/1', { json: { name: 'Eve' } })
    expect(body).toMatchObject({ name: 'Eve', email: 'ada@example.com', role: 'admin', status: 'inactive', age: 36 })
  })
})

describe('T7 username is an alias of name', () => {
  for (const key of ['username', 'name']) {
    test(`POST /api/users/ accepts ${key}`, async () => {
      await using server = await startTestServer()
      const { status, body } = await server.request('POST', '/api/users/', {
        json: { [key]: 'Ada', email: 'ada@example.com' },
      })
      expect(status).toBe(201)
      expect(body.name).toBe('Ada')
    })

    test(`PUT /api/users/{id}/ accepts ${key}`, async () => {
      await using server = await startTestServer()
      await createUser(server)
      const json = { [key]: 'Eve', email: 'ada@example.com' }
      const { status, body } = await server.request('PUT', '/api/users/1/', { json })
      expect(status).toBe(200)
      expect(body.name).toBe('Eve')
    })

    test(`PATCH /api/users/{id}/ accepts ${key}`, async () => {
      await using server = await startTestServer()
      await createUser(server)
      const { status, body } = await server.request('PATCH', '/api/users/1/', { json: { [key]: 'Eve' } })
      expect(status).toBe(200)
      expect(body.name).toBe('Eve')
    })
  }

  test('an error about username uses the name the client sent', async () => {
    await using server = await startTestServer()
    const { body } = await server.request('POST', '/api/users/', { json: { username: '', email: 'ada@example.com' } })
    expect(body.error).toMatch(/^username: must be text of 1 to 200 characters/)
  })

  for (const path of ['/api/users', '/users']) {
    test(`POST ${path} does not accept username`, async () => {
      await using server = await startTestServer()
      const json = { username: 'Ada', email: 'ada@example.com' }
      const { status, body } = await server.request('POST', path, { json })
      expect(status).toBe(400)
      expect(body).toEqual({ error: 'Missing required fields: name' })
    })
  }
})

describe('C1 paths', () => {
  for (const path of ['/API/users', '/api/Users', '/Users', '/Books', '/ITEMS/', '/Docs', '/api/users/1/Status']) {
    test(`are case-sensitive: ${path} is a 404`, async () => {
      await using server = await startTestServer()
      await createUser(server)
      expect((await server.request('GET', path)).status).toBe(404)
    })
  }

  for (const [method, path, other, json, create] of [
    ['GET', '/users', '/users/', undefined, createUser],
    ['GET', '/users/1', '/users/1/', undefined, createUser],
    ['PUT', '/users/1', '/users/1/', { age: 3 }, createUser],
    ['GET', '/books', '/books/', undefined, createBook],
    ['GET', '/books/1', '/books/1/', undefined, createBook],
    ['GET', '/items', '/items/', undefined, createItem],
    ['GET', '/items/1', '/items/1/', undefined, createItem],
    ['PUT', '/items/1', '/items/1/', { name: 'Lamp', price: 3 }, createItem],
    ['PATCH', '/items/1', '/items/1/', { price: 3 }, createItem],
    ['PATCH', '/api/users/1/status', '/api/users/1/status/', { status: 'active' }, createUser],
    ['DELETE', '/items/1', '/items/1/', undefined, createItem],
  ] as const) {
    test(`ignore a trailing slash: ${method} ${path} and ${other}`, async () => {
      const answers = []
      for (const sent of [path, other]) {
        await using server = await startTestServer()
        await create(server)
        const { status, body } = await server.request(method, sent, { json })
        answers.push({ status, text: JSON.stringify(body).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time') })
      }
      expect(answers[0]?.status).toBe(200)
      expect(answers[1]).toEqual(answers[0])
    })
  }

  for (const [path, json] of [
    ['/users/', ada],
    ['/books/', { title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' }],
    ['/items', { name: 'Lamp', price: 24.5 }],
    ['/api/users/bulk/', [ada]],
  ] as const) {
    test(`ignore a trailing slash: POST ${path}`, async () => {
      await using server = await startTestServer()
      expect((await server.request('POST', path, { json })).status).toBe(201)
    })
  }

  for (const path of ['/users/1/', '/books/1/']) {
    test(`ignore a trailing slash: DELETE ${path} is a 204`, async () => {
      await using server = await startTestServer()
      await createUser(server)
      await createBook(server)
      expect((await server.request('DELETE', path)).status).toBe(204)
    })
  }

  test('I1 GET /items and GET /items/ list items', async () => {
    await using server = await startTestServer()
    await createItem(server)
    const list = [{ id: 1, name: 'Lamp', price: 24.5, category: null }]
    for (const path of ['/items', '/items/']) {
      const { status, body } = await server.request('GET', path)
      expect(status).toBe(200)
      expect(body).toEqual(list)
    }
  })
})

describe('C25 create', () => {
  for (const [path, json, location] of [
    ['/api/users', ada, '/api/users/1'],
    ['/users', ada, '/users/1'],
    ['/api/users/', ada, '/api/users/1/'],
    ['/books', { title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' }, '/books/1'],
    ['/items/', { name: 'Lamp', price: 24.5 }, '/items/1'],
  ] as const) {
    test(`POST ${path} returns 201 and the Location ${location} of the record`, async () => {
      await using server = await startTestServer()
      const { status, headers } = await server.request('POST', path, { json })
      expect(status).toBe(201)
      expect(headers.get('location')).toBe(location)
      expect((await server.request('GET', location)).status).toBe(200)
    })
  }
})

describe('U3, C26 bulk create', () => {
  const refuse = async (server: TestServer, json: unknown, status: number, error: unknown) => {
    const answer = await server.request('POST', '/api/users/bulk', { json })
    expect(answer.status).toBe(status)
    expect(answer.body).toEqual({ error })
  }

  for (const [what, last, error] of [
    ['lacks a field', { name: 'Eve' }, 'Missing required fields: [2].email'],
    [
      'has an invalid field',
      { name: 'Eve', email: 'eve' },
      expect.stringMatching(/^\[2\]\.email: must be a valid e-mail/),
    ],
    [
      'has an empty password',
      { ...ada, password: '' },
      expect.stringMatching(/^\[2\]\.password: must be non-empty text/),
    ],
    ['is not an object', 'Eve', expect.stringMatching(/^\[2\]: /)],
    ['is null', null, expect.stringMatching(/^\[2\]: /)],
  ] as const) {
    test(`stores nothing if an element ${what}, and the error names its index`, async () => {
      await using server = await startTestServer()
      await refuse(server, [...someUsers(2), last], 400, error)
      expect((await server.request('GET', '/users')).body).toEqual([])
    })
  }

  test('stores nothing if an e-mail address is taken: a 409 names the index and the field', async () => {
    await using server = await startTestServer()
    await createUser(server)
    await refuse(
      server,
      [...someUsers(2), { ...ada, email: 'ADA@example.com' }],
      409,
      expect.stringMatching(/^\[2\]\.email\b/),
    )
    expect((await server.request('GET', '/api/users')).body).toEqual([
      { id: 1, name: 'Ada', email: 'ada@example.com', role: 'user' },
    ])
  })

  test('stores nothing if two elements share an e-mail address: a 409 names the second', async () => {
    await using server = await startTestServer()
    await refuse(
      server,
      [...someUsers(3), { ...ada, email: 'User2@Example.com' }],
      409,
      expect.stringMatching(/^\[3\]\.email\b/),
    )
    expect((await server.request('GET', '/users')).body).toEqual([])
  })

  test('accepts one user', async () => {
    await using server = await startTestServer()
    const { status, body } = await server.request('POST', '/api/users/bulk', { json: [ada] })
    expect(status).toBe(201)
    expect(body).toEqual([{ id: 1, name: 'Ada', email: 'ada@example.com', role: 'user', created_at: aTimestamp }])
  })

  test('accepts 1,000 users and returns them in the order sent', async () => {
    await using server = await startTestServer()
    const users = someUsers(1000).reverse()
    const { status, body } = await server.request('POST', '/api/users/bulk', { json: users })
    expect(status).toBe(201)
    expect(body.map(({ id, email }: { id: number; email: string }) => [id, email])).toEqual(
      users.map(({ email }, index) => [index + 1, email]),
    )
  })

  for (const count of [0, 1001]) {
    test(`refuses ${count} users`, async () => {
      await using server = await startTestServer()
      await refuse(server, someUsers(count), 400, expect.stringMatching(/1 to 1000/))
      expect((await server.request('GET', '/users')).body).toEqual([])
    })
  }

  test('refuses a body that is not an array', async () => {
    await using server = await startTestServer()
    await refuse(server, ada, 400, expect.stringMatching(/array of 1 to 1000/))
  })

  test('accepts role, status and age for each user', async () => {
    await using server = await startTestServer()
    const json = [{ ...ada, role: 'admin', status: 'inactive', age: 36 }, ...someUsers(1)]
    await server.request('POST', '/api/users/bulk', { json })
    expect((await server.request('GET', '/users')).body).toMatchObject([
      { role: 'admin', status: 'inactive', age: 36 },
      { role: 'user', status: 'active', age: null },
    ])
  })
})

describe('U4 DELETE /api/users', () => {
  for (const query of [
    '',
    '?',
    '?role=admin',
    '?status=',
    '?status=gone',
    '?status=INACTIVE',
    '?status=inactive&status=active',
    '?role=admin&id_in=1',
    '?status=inactive&id_in=',
    '?status=inactive&id=1',
  ]) {
    test(`DELETE /api/users${query} is a 400 and removes nothing`, async () => {
      await using server = await startTestServer()
      await createUser(server, { status: 'inactive', role: 'admin' })
      const { status, body } = await server.request('DELETE', `/api/users${query}`)
      expect(status).toBe(400)
      expect(body).toEqual({ error: expect.stringMatching(/./) })
      expect((await server.request('GET', '/users')).body).toHaveLength(1)
    })
  }

  test('removes the users of the status that match the other filters', async () => {
    await using server = await startTestServer()
    for (const user of someUsers(3)) await createUser(server, { ...user, status: 'inactive' })
    await server.request('PATCH', '/api/users/2', { json: { age: 70 } })
    const { status, body } = await server.request('DELETE', '/api/users?status=inactive&age_gte=65')
    expect([status, body]).toEqual([200, { message: '1 inactive user removed' }])
    expect((await server.request('GET', '/users')).body).toMatchObject([{ id: 1 }, { id: 3 }])
  })

  test('requires a status', async () => {
    await using server = await startTestServer()
    expect((await server.request('DELETE', '/api/users')).body).toEqual({ error: 'Missing required fields: status' })
  })

  for (const count of [0, 1, 3]) {
    test(`reports ${count} removed users`, async () => {
      await using server = await startTestServer()
      for (const user of someUsers(count)) await createUser(server, { ...user, status: 'inactive' })
      await createUser(server)
      const { status, body } = await server.request('DELETE', '/api/users?status=inactive')
      expect(status).toBe(200)
      expect(body).toEqual({ message: expect.stringMatching(new RegExp(`\\b${count}\\b`)) })
      expect((await server.request('GET', '/users')).body).toHaveLength(1)
    })
  }

  test('does nothing at the path with a trailing slash, which is a 405', async () => {
    await using server = await startTestServer()
    await createUser(server, { status: 'inactive' })
    const { status, headers } = await server.request('DELETE', '/api/users/?status=inactive')
    expect(status).toBe(405)
    expect(headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS')
    expect((await server.request('GET', '/users')).body).toHaveLength(1)
  })
})

test('C12 with Prefer: handling=strict a field without effect is a 400', async () => {
  await using server = await startTestServer()
  const { id } = await createUser(server, { name: 'Ada', email: 'ada@example.com' })
  const json = { name: 'Ada', email: 'ada@example.com', role: 'user', status: 'inactive' }
  for (const path of [`/api/users/${id}`, `/api/users/${id}/`]) {
    const { status, body } = await server.request('PUT', path, { json, headers: { Prefer: 'handling=strict' } })
    expect([status, body.error]).toEqual([400, 'status: is not a recognized field'])
  }
})
