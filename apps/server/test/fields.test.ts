import { afterEach, describe, expect, test, vi } from 'vitest'
import { errorOf } from './examples.ts'
import { shareTestServer, startTestServer } from './harness.ts'
import { createBook, createItem, createUser, someUsers } from './records.ts'

const ada = { name: 'Ada', email: 'ada@example.com' }
const dune = { title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' }
const lamp = { name: 'Lamp', price: 24.5 }

afterEach(() => void vi.useRealTimers())

const shared = shareTestServer(async (server) => {
  await createUser(server, { email: 'first@example.com', age: 1 })
  await createBook(server)
  await createItem(server)
})

/** Creates with `json` and deletes a created user again; returns the status and the stored value of the field. */
async function store(path: '/users' | '/books' | '/items/', json: Record<string, unknown>, field: string) {
  const { status, body } = await shared().request('POST', path, { json })
  if (path === '/users' && status === 201) await shared().request('DELETE', `/users/${body.id}`)
  return { status, body, value: (body.item ?? body)[field] }
}

const texts = [
  ['/users', ada, 'name', 200],
  ['/books', dune, 'title', 200],
  ['/books', dune, 'author', 200],
  ['/items/', lamp, 'name', 200],
  ['/items/', lamp, 'category', 100],
] as const

describe('U11, B8, I9 text', () => {
  for (const [path, base, field, max] of texts) {
    describe(`${field} of ${path}`, () => {
      const accepted: [string, string, string][] = [
        ['1 character', 'a', 'a'],
        [`${max} characters`, 'a'.repeat(max), 'a'.repeat(max)],
        [`${max} emoji`, '😀'.repeat(max), '😀'.repeat(max)],
        [`${max} characters after trimming`, `  ${'a'.repeat(max)}\n\t`, 'a'.repeat(max)],
        ['spaces inside', ' Ada  Lovelace ', 'Ada  Lovelace'],
      ]
      for (const [what, sent, value] of accepted) {
        test(`accepts ${what}`, async () => {
          const answer = await store(path, { ...base, [field]: sent }, field)
          expect(answer.status).toBe(201)
          expect(answer.value).toBe(value)
        })
      }

      for (const [what, sent] of [
        ['an empty string', ''],
        ['only spaces', '   '],
        [`${max + 1} characters`, 'a'.repeat(max + 1)],
        [`${max + 1} emoji`, '😀'.repeat(max + 1)],
        ['a number', 5],
        ['NUL', 'a\0b'],
        ['a lone high surrogate', 'a\ud800'],
        ['a lone low surrogate', '\udc00a'],
      ] as const) {
        test(`refuses ${what}`, async () => {
          const { status, body } = await store(path, { ...base, [field]: sent }, field)
          expect(status).toBe(400)
          expect(body).toEqual(
            errorOf({ method: 'POST', path }, expect.stringMatching(new RegExp(`^${field}: must be `))),
          )
        })
      }
    })
  }
})

describe('I9 category', () => {
  test('is optional and defaults to null', async () => {
    expect((await store('/items/', lamp, 'category')).value).toBeNull()
  })

  test('is cleared by null', async () => {
    await using server = await startTestServer()
    await createItem(server, { category: 'lighting' })
    const { status, body } = await server.request('PATCH', '/items/1', { json: { category: null } })
    expect(status).toBe(200)
    expect(body.category).toBeNull()
  })
})

describe('U12 email', () => {
  const labels = `${'b'.repeat(63)}.${'c'.repeat(63)}`
  const longest = `${'a'.repeat(64)}@${labels}.${'d'.repeat(57)}.com`

  test('may have 254 characters', async () => {
    expect(longest).toHaveLength(254)
    const { status, value } = await store('/users', { ...ada, email: longest }, 'email')
    expect(status).toBe(201)
    expect(value).toBe(longest)
  })

  test.each([
    "!#$%&'*+/=?^_`{|}~-@example.com",
    `${'a'.repeat(64)}@example.com`,
    `a@${'b'.repeat(63)}.example`,
    'a@b-c.x9',
  ])('accepts %s', async (email) => {
    expect((await store('/users', { ...ada, email }, 'email')).value).toBe(email)
  })

  for (const email of [
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(64)}.example`,
    'a@b-.example',
    'a@-b.example',
    'a..b@example.com',
    '.a@example.com',
    'a.@example.com',
    'ada@localhost',
    `${'a'.repeat(64)}@${labels}.${'d'.repeat(58)}.com`,
    '',
    'ada',
    'ada@',
    '@example.com',
    'a da@example.com',
    ' ada@example.com',
    'ada@@example.com',
    'ada@example..com',
    'ada\0@example.com',
    'ada\ud800@example.com',
    null,
    5,
    ['ada@example.com'],
  ]) {
    test(`refuses ${JSON.stringify(email).slice(0, 40)} (${String(email).length} characters)`, async () => {
      const { status, body } = await store('/users', { ...ada, email }, 'email')
      expect(status).toBe(400)
      expect(body).toEqual({ error: expect.stringMatching(/^email: must be a valid e-mail address/) })
    })
  }

  test('is stored as written', async () => {
    expect((await store('/users', { ...ada, email: 'Ada.LoveLace+x@Example.COM' }, 'email')).value).toBe(
      'Ada.LoveLace+x@Example.COM',
    )
  })

  for (const [method, path, json] of [
    ['POST', '/api/users', { ...ada, email: 'ADA@EXAMPLE.COM' }],
    ['POST', '/users', { ...ada, email: 'ADA@EXAMPLE.COM' }],
    ['POST', '/api/users/', { ...ada, email: 'ADA@EXAMPLE.COM' }],
    ['POST', '/api/users/bulk', [{ ...ada, email: 'ADA@EXAMPLE.COM' }]],
    ['PUT', '/api/users/2', { ...ada, email: 'ADA@EXAMPLE.COM', role: 'user' }],
    ['PUT', '/api/users/2/', { ...ada, email: 'ADA@EXAMPLE.COM' }],
    ['PUT', '/users/2', { email: 'ADA@EXAMPLE.COM' }],
    ['PATCH', '/api/users/2', { email: 'ADA@EXAMPLE.COM' }],
    ['PATCH', '/api/users/2/', { email: 'ADA@EXAMPLE.COM' }],
  ] as const) {
    test(`is unique regardless of case: ${method} ${path} with a taken address is a 409`, async () => {
      await using server = await startTestServer()
      await createUser(server)
      await createUser(server, { name: 'Bob', email: 'bob@example.com' })
      const { status, body } = await server.request(method, path, { json })
      expect(status).toBe(409)
      expect(body).toEqual({ error: expect.stringMatching(/email/) })
      expect((await server.request('GET', '/api/users')).body).toEqual([
        { id: 1, name: 'Ada', email: 'ada@example.com', role: 'user' },
        { id: 2, name: 'Bob', email: 'bob@example.com', role: 'user' },
      ])
    })
  }

  test('may change case for its own user', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const { status, body } = await server.request('PATCH', '/api/users/1', { json: { email: 'ADA@example.com' } })
    expect(status).toBe(200)
    expect(body.email).toBe('ADA@example.com')
  })

  test('is available again after its user is deleted or gets another address', async () => {
    await using server = await startTestServer()
    await createUser(server)
    await server.request('DELETE', '/users/1')
    await createUser(server)
    await server.request('PATCH', '/api/users/2', { json: { email: 'lovelace@example.com' } })
    expect((await createUser(server)).id).toBe(3)
  })
})

describe('U15 age', () => {
  for (const age of [0, 36, 150, null]) {
    test(`accepts ${age}`, async () => {
      const { status, value } = await store('/users', { ...ada, age }, 'age')
      expect(status).toBe(201)
      expect(value).toBe(age)
    })
  }

  for (const age of [-1, 151, 1.5, '30', '', true, [30], Number.POSITIVE_INFINITY]) {
    test(`refuses ${typeof age} ${age}`, async () => {
      // JSON.stringify writes Infinity as null, so the test inserts a number too large for a double.
      const raw = JSON.stringify({ ...ada, age }).replace('"age":null', '"age":1e400')
      const { status, body } = await shared().request('POST', '/users', {
        raw,
        headers: { 'Content-Type': 'application/json' },
      })
      expect(status).toBe(400)
      expect(body).toEqual({ error: expect.stringMatching(/^age: must be a whole number from 0 to 150/) })
    })
  }

  for (const [method, path, json, status] of [
    ['PATCH', '/api/users/1', { age: 150 }, 200],
    ['PATCH', '/api/users/1', { age: 151 }, 400],
    ['PATCH', '/api/users/1/', { age: '30' }, 400],
    ['PUT', '/users/1', { age: -1 }, 400],
    ['PUT', '/api/users/1', { ...ada, role: 'user', age: 1.5 }, 400],
    ['PUT', '/api/users/1', { ...ada, role: 'user', age: null }, 200],
    ['PATCH', '/api/users/1', { age: null }, 200],
  ] as const) {
    test(`${method} ${path} with ${JSON.stringify(json)} is a ${status}`, async () => {
      expect((await shared().request(method, path, { json })).status).toBe(status)
    })
  }
})

describe('I10 price', () => {
  for (const [sent, price] of [
    ['0', 0],
    ['1e12', 1e12],
    ['0.01', 0.01],
    ['24.50', 24.5],
    ['999999999999.99', 999999999999.99],
    ['1E2', 100],
  ] as const) {
    test(`accepts ${sent}`, async () => {
      await using server = await startTestServer()
      const { status, body } = await server.request('POST', '/items/', {
        raw: `{"name":"Lamp","price":${sent}}`,
        headers: { 'Content-Type': 'application/json' },
      })
      expect(status).toBe(201)
      expect(body.item.price).toBe(price)
      expect((await server.request('GET', '/items/1')).body.price).toBe(price)
    })
  }

  for (const sent of ['-1', '-0.01', '1000000000000.01', '1e400', '-1e400', '"24.5"', 'null', 'true', '[1]']) {
    for (const [method, path] of [
      ['POST', '/items/'],
      ['PUT', '/items/1'],
      ['PATCH', '/items/1'],
    ] as const) {
      test(`${method} ${path} refuses ${sent}`, async () => {
        const { status, body } = await shared().request(method, path, {
          raw: `{"name":"Lamp","price":${sent}}`,
          headers: { 'Content-Type': 'application/json' },
        })
        expect(status).toBe(400)
        expect(body).toEqual({ message: expect.stringMatching(/^price: must be a number from 0 to 1e12/) })
      })
    }
  }
})

describe('B9 published_date', () => {
  for (const date of ['2024-02-29', '2000-02-29', '1965-08-01', '0001-01-01', '9999-12-31']) {
    test(`accepts ${date}`, async () => {
      const { status, value } = await store('/books', { ...dune, published_date: date }, 'published_date')
      expect(status).toBe(201)
      expect(value).toBe(date)
    })
  }

  for (const date of [
    '2023-02-29',
    '1900-02-29',
    '2024-13-01',
    '2024-00-10',
    '2024-04-31',
    '2024-1-1',
    '01.02.2024',
    '2024-02-29T00:00:00Z',
    ' 2024-02-29',
    '2024-02-29\0',
    '',
    20240229,
    null,
  ]) {
    test(`refuses ${JSON.stringify(date)}`, async () => {
      const { status, body } = await store('/books', { ...dune, published_date: date }, 'published_date')
      expect(status).toBe(400)
      expect(body).toEqual({ message: expect.stringMatching(/^published_date: must be a calendar date, YYYY-MM-DD/) })
    })
  }
})

describe('U13, U14 role and status', () => {
  test('default to user and active on create', async () => {
    await using server = await startTestServer()
    expect(await createUser(server)).toMatchObject({ role: 'user', status: 'active' })
    await server.request('POST', '/api/users/bulk', { json: someUsers(1) })
    expect((await server.request('GET', '/users/2')).body).toMatchObject({ role: 'user', status: 'active' })
  })

  test('are accepted on create and PATCH, like age', async () => {
    await using server = await startTestServer()
    const fields = { role: 'admin', status: 'inactive', age: 36 }
    await server.request('POST', '/api/users', { json: { ...ada, ...fields } })
    expect((await server.request('GET', '/users/1')).body).toMatchObject(fields)
    const changes = { role: 'user', status: 'active', age: 37 }
    expect((await server.request('PATCH', '/api/users/1', { json: changes })).status).toBe(200)
    expect((await server.request('GET', '/users/1')).body).toMatchObject(changes)
    expect((await server.request('PATCH', '/api/users/1/', { json: fields })).status).toBe(200)
    expect((await server.request('GET', '/users/1')).body).toMatchObject(fields)
  })

  for (const [field, value] of [
    ['role', 'king'],
    ['role', 'Admin'],
    ['role', 'user\0'],
    ['role', '\ud800'],
    ['role', null],
    ['status', 'gone'],
    ['status', ''],
    ['status', 'active\0'],
    ['status', '\ud800'],
  ] as const) {
    test(`${field} ${JSON.stringify(value)} is a 400 that lists the allowed values`, async () => {
      const { status, body } = await store('/users', { ...ada, [field]: value }, field)
      expect(status).toBe(400)
      expect(body).toEqual({
        error: `${field}: must be ${field === 'role' ? 'admin or user' : 'active or inactive'}${value === null ? ', not null' : ''}`,
      })
    })
  }

  for (const json of [{}, { state: 'active' }]) {
    test(`PATCH /api/users/{id}/status with ${JSON.stringify(json)} requires status`, async () => {
      const { status, body } = await shared().request('PATCH', '/api/users/1/status', { json })
      expect(status).toBe(400)
      expect(body).toEqual({ error: 'Missing required fields: status' })
    })
  }
})

describe('C5 query strings', () => {
  for (const path of [
    '/items?category=%00',
    '/items?category=%ED%A0%80',
    '/items?category=a%00b',
    '/items?price_lt=%00',
    '/items?sort=%00',
    '/items?after=%00',
    '/items?page=%00',
    '/items?%00=1',
    '/books?sort=title_asc%00',
    '/users?role=%00',
    '/users?status=%ED%BF%BF',
    '/users?age=%00',
    '/api/users?limit=%00',
    '/api/users/?count=%00',
  ]) {
    test(`with NUL or a lone surrogate are a 400: ${path}`, async () => {
      expect((await shared().request('GET', path)).status).toBe(400)
    })
  }
})

describe('C6 body fields', () => {
  test('that are unknown or assigned by the server are ignored on create', async () => {
    await using server = await startTestServer()
    const more = { id: 50, version: 9, created_at: 'x', updated_at: null, colour: 'red', __proto__: { role: 'admin' } }
    expect(await createUser(server, more)).toMatchObject({ id: 1, role: 'user' })
    expect(await createBook(server, more)).toEqual({ id: 1, ...dune })
    expect(await createItem(server, more)).toEqual({ id: 1, ...lamp, category: null })
  })

  for (const [what, create, path, writePath, method] of [
    ['user', createUser, '/users/1', '/users/1', 'PUT'],
    ['user', createUser, '/users/1', '/api/users/1', 'PUT'],
    ['user', createUser, '/api/users/1', '/api/users/1', 'PUT'],
    ['user', createUser, '/users/1', '/api/users/1', 'PATCH'],
    ['user', createUser, '/api/users/1/', '/api/users/1/', 'PUT'],
    ['book', createBook, '/books/1', '/books/1', 'PUT'],
    ['item', createItem, '/items/1', '/items/1', 'PUT'],
    ['item', createItem, '/items/1', '/items/1', 'PATCH'],
  ] as const) {
    test(`may include everything a client read of the ${what}: GET ${path}, ${method} ${writePath}`, async () => {
      await using server = await startTestServer()
      await create(server)
      const { updated_at: _, ...before } = (await server.request('GET', path)).body
      const { body: json } = await server.request('GET', path)
      expect((await server.request(method, writePath, { json })).status).toBe(200)
      expect((await server.request('GET', path)).body).toMatchObject(before)
    })
  }

  for (const [path, json] of [
    ['/api/users/1', { id: 2, colour: 'red', created_at: '2001-01-01T00:00:00.000Z' }],
    ['/api/users/1', { username: 'Eve' }],
    ['/api/users/1/', { colour: 'red' }],
    ['/items/1', { id: 2, colour: 'red' }],
  ] as const) {
    test(`of PATCH ${path} with no known field, ${JSON.stringify(json)}, are a 400`, async () => {
      const { status, body } = await shared().request('PATCH', path, { json })
      expect(status).toBe(400)
      expect(body).toEqual(errorOf({ method: 'PATCH', path }, expect.stringMatching(/\bname\b/)))
    })
  }

  test('named like inherited properties of objects are unknown fields', async () => {
    await using server = await startTestServer()
    const { status, body } = await server.request('POST', '/items/', {
      raw: '{"name":"Lamp","price":1,"__proto__":{"category":"x"},"constructor":1,"toString":2}',
      headers: { 'Content-Type': 'application/json' },
    })
    expect(status).toBe(201)
    expect(body).toEqual({ item: { id: 1, name: 'Lamp', price: 1, category: null } })
  })
})

describe('C8 ids', () => {
  for (const id of ['0', '-1', '2147483647', '2147483648', '-2147483649', '9'.repeat(40), `-${'9'.repeat(400)}`]) {
    test(`an integer that is not stored is a 404: ${id.slice(0, 24)}`, async () => {
      for (const path of ['/api/users', '/users', '/books', '/items'])
        expect((await shared().request('GET', `${path}/${id}`)).status).toBe(404)
    })
  }

  for (const id of ['1.5', 'abc', '1e3', '%20', '1%20', '+1', '%00']) {
    for (const path of [`/api/users/${id}`, `/users/${id}`, `/api/users/${id}/`, `/books/${id}`, `/items/${id}`]) {
      test(`GET ${path} is a 400`, async () => {
        const { status, body } = await shared().request('GET', path)
        expect(status).toBe(400)
        expect(body).toEqual(errorOf({ method: 'GET', path }, expect.stringMatching(/id: must be a whole number/)))
      })
    }
  }

  for (const [method, path, json] of [
    ['PUT', '/api/users/abc', ada],
    ['PATCH', '/api/users/0x1', { name: 'Ada' }],
    ['DELETE', '/api/users/--1'],
    ['PATCH', '/api/users/abc/status', { status: 'active' }],
    ['PUT', '/users/2147483648.5', { name: 'Ada' }],
    ['DELETE', '/users/1.5'],
    ['PUT', '/books/1e3', dune],
    ['DELETE', '/books/abc'],
    ['PUT', '/items/0.5', lamp],
    ['PATCH', '/items/abc', { price: 1 }],
    ['DELETE', '/items/+1'],
  ] as const) {
    test(`${method} ${path} is a 400`, async () => {
      const { status, body } = await shared().request(method, path, { json })
      expect(status).toBe(400)
      expect(body).toEqual(errorOf({ method, path }, expect.stringMatching(/id: must be a whole number/)))
    })
  }

  test('2147483647 is a valid id of no record', async () => {
    for (const path of ['/api/users/2147483647', '/books/2147483647', '/items/2147483647']) {
      expect((await shared().request('GET', path)).status).toBe(404)
    }
  })

  for (const [path, create, remove] of [
    ['/users', (server, n) => createUser(server, { email: `u${n}@example.com` }), '/users/2'],
    ['/books', (server) => createBook(server), '/books/2'],
    ['/items', (server) => createItem(server), '/items/2'],
  ] as const satisfies [
    string,
    (server: Awaited<ReturnType<typeof startTestServer>>, n: number) => Promise<{ id: number }>,
    string,
  ][]) {
    test(`of ${path} are not reused after the last record is deleted`, async () => {
      await using server = await startTestServer()
      await create(server, 1)
      await create(server, 2)
      await server.request('DELETE', remove)
      expect((await create(server, 3)).id).toBe(3)
    })
  }

  test('of users are not reused after all users are deleted', async () => {
    await using server = await startTestServer()
    for (const user of someUsers(3)) await createUser(server, user)
    await server.request('DELETE', '/api/users?status=active')
    expect((await createUser(server)).id).toBe(4)
  })
})

describe('C11 timestamps', () => {
  test('are UTC with milliseconds and Z', async () => {
    await using server = await startTestServer()
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2031-02-03T04:05:06.007+01:00') })
    expect(await createUser(server)).toMatchObject({
      created_at: '2031-02-03T03:05:06.007Z',
      updated_at: '2031-02-03T03:05:06.007Z',
    })
    vi.setSystemTime('2031-02-03T03:05:07.000Z')
    await server.request('PATCH', '/api/users/1', { json: { name: 'Eve' } })
    expect((await server.request('GET', '/users/1')).body).toMatchObject({
      created_at: '2031-02-03T03:05:06.007Z',
      updated_at: '2031-02-03T03:05:07.000Z',
    })
  })

  for (const [method, path, json] of [
    ['PUT', '/api/users/1', { ...ada, name: 'Eve', role: 'user' }],
    ['PATCH', '/api/users/1', { name: 'Eve' }],
    ['PATCH', '/api/users/1/status', { status: 'inactive' }],
    ['PUT', '/users/1', { name: 'Eve' }],
  ] as const) {
    test(`updated_at never goes backwards when the clock does: ${method} ${path}`, async () => {
      await using server = await startTestServer()
      vi.useFakeTimers({ toFake: ['Date'], now: new Date('2031-02-03T04:05:06.789Z') })
      await createUser(server)
      vi.setSystemTime('2030-01-01T00:00:00.000Z')
      const { status, body } = await server.request(method, path, { json })
      expect(status).toBe(200)
      expect(body.updated_at).toBe('2031-02-03T04:05:06.789Z')
    })
  }
})
