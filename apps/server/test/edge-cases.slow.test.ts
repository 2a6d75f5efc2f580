import { describe, expect, test } from 'vitest'
import { shareTestServer, startTestServer, type TestServer, untilServed } from './harness.ts'
import { createBook, createItem, createKey, createUser } from './records.ts'

// Edge cases of the API rules. Each expectation is written by hand, not derived from the contract.

const ada = { name: 'Ada', email: 'ada@example.com' }
const dune = { title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' }
const lamp = { name: 'Lamp', price: 24.5 }

async function createAll(server: TestServer) {
  await createUser(server)
  await createBook(server)
  await createItem(server)
}

/** Calls a tRPC procedure with its input as JSON text. */
async function call(server: TestServer, procedure: string, input: string) {
  const isQuery = /\.(get|list)$/.test(procedure)
  const url = `${server.url}/trpc/${procedure}${isQuery ? `?input=${encodeURIComponent(input)}` : ''}`
  const response = await fetch(url, {
    ...(!isQuery && { method: 'POST', body: input, headers: { 'Content-Type': 'application/json' } }),
  })
  const body = (await response.json()) as { error: { message: string; data: { code: string; fields: unknown[] } } }
  return { status: response.status, body }
}

describe('U18 A create-user request without a JSON body is a 400: No input data provided', () => {
  const server = shareTestServer()
  const body = JSON.stringify(ada)

  for (const path of ['/api/users', '/users', '/api/users/']) {
    for (const [what, raw, type] of [
      ['no body', undefined, undefined],
      ['no body and a JSON Content-Type', undefined, 'application/json'],
      ['an empty body', '', 'application/json'],
      ['null', 'null', 'application/json'],
      ['text', body, 'text/plain'],
      ['a form', 'name=Ada&email=ada%40example.com', 'application/x-www-form-urlencoded'],
      ['a multipart form', '--x--', 'multipart/form-data; boundary=x'],
      ['XML', '<user/>', 'application/xml'],
      ['another kind of JSON', body, 'application/merge-patch+json'],
      ['a type that begins like JSON', body, 'application/jsonl'],
    ] as const) {
      test(`POST ${path} with ${what}`, async () => {
        const answer = await server().request('POST', path, {
          ...(raw !== undefined && { raw }),
          ...(type !== undefined && { headers: { 'Content-Type': type } }),
        })
        expect([answer.status, answer.body]).toEqual([400, { error: 'No input data provided' }])
      })
    }

    test(`POST ${path} with a body without a media type`, async () => {
      const raw = new TextEncoder().encode(body)
      const answer = await server().request('POST', path, { raw })
      expect([answer.status, answer.body]).toEqual([400, { error: 'No input data provided' }])
    })

    test(`C2 POST ${path} with an unsupported encoding or charset is still a 415`, async () => {
      for (const headers of [
        { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
        { 'Content-Type': 'application/json; charset=latin1' },
      ]) {
        expect((await server().request('POST', path, { raw: body, headers })).status).toBe(415)
      }
    })
  }

  for (const [method, path] of [
    ['POST', '/api/users/bulk'],
    ['POST', '/books'],
    ['POST', '/items/'],
    ['POST', '/api/keys'],
  ] as const) {
    test(`C2 ${method} ${path} with text is a 415`, async () => {
      const headers = { 'Content-Type': 'text/plain' }
      expect((await server().request(method, path, { raw: '{}', headers })).status).toBe(415)
    })
  }
})

const USER_MISSING = { error: 'User not found' }
const BOOK_MISSING = { message: 'Book not found' }
const ITEM_MISSING = { message: 'Item not found' }

/** Every operation on a single record, with the body of its 404. */
const RECORD_OPERATIONS = [
  ['GET', '/api/users/{id}', undefined, USER_MISSING],
  ['PUT', '/api/users/{id}', { ...ada, role: 'user' }, USER_MISSING],
  ['PATCH', '/api/users/{id}', { name: 'Eve' }, USER_MISSING],
  ['DELETE', '/api/users/{id}', undefined, USER_MISSING],
  ['PATCH', '/api/users/{id}/status', { status: 'active' }, USER_MISSING],
  ['GET', '/users/{id}', undefined, USER_MISSING],
  ['PUT', '/users/{id}', { name: 'Eve' }, USER_MISSING],
  ['DELETE', '/users/{id}', undefined, USER_MISSING],
  ['GET', '/api/users/{id}/', undefined, USER_MISSING],
  ['PUT', '/api/users/{id}/', ada, USER_MISSING],
  ['PATCH', '/api/users/{id}/', { name: 'Eve' }, USER_MISSING],
  ['DELETE', '/api/users/{id}/', undefined, USER_MISSING],
  ['GET', '/books/{id}', undefined, BOOK_MISSING],
  ['PUT', '/books/{id}', dune, BOOK_MISSING],
  ['DELETE', '/books/{id}', undefined, BOOK_MISSING],
  ['GET', '/items/{id}', undefined, ITEM_MISSING],
  ['PUT', '/items/{id}', lamp, ITEM_MISSING],
  ['PATCH', '/items/{id}', { price: 1 }, ITEM_MISSING],
  ['DELETE', '/items/{id}', undefined, ITEM_MISSING],
] as const

describe('C8 An integer id that is not stored is a 404, whatever its size or sign', () => {
  const server = shareTestServer(createAll)

  for (const [method, path, json, missing] of RECORD_OPERATIONS) {
    for (const id of [
      '0',
      '-0',
      '-1',
      '2',
      '2147483647',
      '2147483648',
      '-2147483649',
      '99999999999999999999',
      '-99999999999999999999',
      '9'.repeat(400),
      `-${'9'.repeat(400)}`,
    ]) {
      test(`${method} ${path.replace('{id}', id.slice(0, 24))}`, async () => {
        const { status, body } = await server().request(method, path.replace('{id}', id), { json })
        expect([status, body]).toEqual([404, missing])
      })
    }

    for (const id of ['abc', '1.5', '1.0', '1e3', '%2B1', '+1', '0x1', '%201', '١', '-', '--1']) {
      test(`${method} ${path.replace('{id}', id)}, not an integer, is a 400`, async () => {
        const { status, body } = await server().request(method, path.replace('{id}', encodeURI(decodeURI(id))), {
          json,
        })
        expect(status).toBe(400)
        expect(Object.values(body)).toEqual([expect.stringMatching(/id: must be a whole number$/)])
      })
    }
  }

  for (const id of ['0', '-1', '2147483648', '1e20', '99999999999999999999']) {
    for (const [procedure, rest, message] of [
      ['users.get', '', 'User not found'],
      ['users.replace', ',"name":"Ada","email":"ada@example.com","role":"user"', 'User not found'],
      ['users.update', ',"name":"Eve"', 'User not found'],
      ['users.setStatus', ',"status":"active"', 'User not found'],
      ['users.delete', '', 'User not found'],
      ['books.get', '', 'Book not found'],
      ['books.replace', ',"title":"Dune","author":"Frank Herbert","published_date":"1965-08-01"', 'Book not found'],
      ['books.delete', '', 'Book not found'],
      ['items.get', '', 'Item not found'],
      ['items.update', ',"price":1', 'Item not found'],
      ['items.delete', '', 'Item not found'],
      ['keys.get', '', 'Key not found'],
      ['keys.rotate', '', 'Key not found'],
      ['keys.revoke', '', 'Key not found'],
      ['audit.get', '', 'Entry not found'],
    ] as const) {
      test(`${procedure} of ${id} over tRPC`, async () => {
        const { status, body } = await call(server(), procedure, `{"id":${id}${rest}}`)
        expect([status, body.error.message, body.error.data.code]).toEqual([404, message, 'NOT_FOUND'])
      })
    }
  }

  for (const path of [
    '/api/keys/99999999999999999999',
    '/api/keys/-1',
    '/api/audit/0',
    '/api/audit/99999999999999999999',
  ]) {
    test(`GET ${path}`, async () => {
      expect((await server().request('GET', path)).status).toBe(404)
    })
  }
})

describe('C9 A missing record takes precedence over an invalid body', () => {
  const server = shareTestServer(createAll)
  const type = { 'Content-Type': 'application/json' }
  const writes = RECORD_OPERATIONS.filter(([method]) => method === 'PUT' || method === 'PATCH')

  for (const [method, template, , missing] of writes) {
    const path = template.replace('{id}', '7')
    for (const [what, options] of [
      ['an invalid field', { json: { name: 7, title: 7, price: 'x', status: 'x' } }],
      ['an empty object', { json: {} }],
      ['only unknown fields', { json: { colour: 'red' } }],
      ['an array', { json: [] }],
      ['null', { raw: 'null', headers: type }],
      ['an empty body', { raw: '', headers: type }],
      ['no body', {}],
      ['a value nested too deeply', { raw: `${'['.repeat(40)}${']'.repeat(40)}`, headers: type }],
      ['an invalid If-Match', { json: {}, headers: { 'If-Match': 'x' } }],
      ['a stale If-Match', { json: {}, headers: { 'If-Match': '"1-User"' } }],
      ['an invalid Idempotency-Key', { json: {}, headers: { 'Idempotency-Key': 'a b' } }],
    ] as const) {
      test(`${method} ${path} with ${what} is a 404`, async () => {
        const { status, body } = await server().request(method, path, options)
        expect([status, body]).toEqual([404, missing])
      })
    }

    test(`${method} ${path} with an unknown query parameter is a 404`, async () => {
      expect((await server().request(method, `${path}?colour=red`, { json: {} })).status).toBe(404)
    })

    test(`${method} ${path} with malformed JSON, an oversized body or another media type keeps its status`, async () => {
      const statusOf = async (raw: string, headers: Record<string, string>) =>
        (await server().request(method, path, { raw, headers })).status
      expect(await statusOf('{"name":', type)).toBe(400)
      expect(await statusOf(`"${'x'.repeat(1024 * 1024)}"`, type)).toBe(413)
      expect(await statusOf('{}', { 'Content-Type': 'text/plain' })).toBe(415)
    })
  }

  for (const [procedure, input, message] of [
    ['users.replace', '{"id":7}', 'User not found'],
    ['users.update', '{"id":7,"name":7}', 'User not found'],
    ['users.update', '{"id":7,"colour":"red"}', 'User not found'],
    ['users.setStatus', '{"id":7,"status":"x"}', 'User not found'],
    ['books.replace', '{"id":-1}', 'Book not found'],
    ['items.replace', '{"id":7,"if_version":"x"}', 'Item not found'],
    ['items.update', '{"id":99999999999999999999,"price":"x"}', 'Item not found'],
  ] as const) {
    test(`${procedure} ${input} over tRPC is NOT_FOUND`, async () => {
      const { status, body } = await call(server(), procedure, input)
      expect([status, body.error.message]).toEqual([404, message])
    })
  }

  test('it also takes precedence over a password that is too short', async () => {
    await using keyed = await startTestServer()
    keyed.logIn((await createKey(keyed)).key)
    const { status, body } = await keyed.request('PATCH', '/api/users/7', { json: { password: 'short' } })
    expect([status, body]).toEqual([404, USER_MISSING])
  })

  test('authentication and authorization come first', async () => {
    await using keyed = await startTestServer()
    const { key } = await createKey(keyed)
    const reader = await keyed.request('POST', '/api/keys', {
      json: { name: 'reader', role: 'reader' },
      headers: { Authorization: `Bearer ${key}` },
    })
    for (const [method, template] of writes) {
      const path = template.replace('{id}', '7')
      expect((await keyed.request(method, path, { json: {} })).status).toBe(401)
      const headers = { Authorization: `Bearer ${reader.body.key}` }
      expect((await keyed.request(method, path, { json: {}, headers })).status).toBe(403)
    }
  })

  test('an existing record gives a 400', async () => {
    for (const [method, template] of writes) {
      const { status } = await server().request(method, template.replace('{id}', '1'), { json: [] })
      expect([method, template, status]).toEqual([method, template, 400])
    }
  })
})

describe('U10, T8 PUT keeps the fields that it does not list', () => {
  const stored = { age: 36, role: 'admin', status: 'inactive', password: 'correct horse' }

  for (const [path, json, expected] of [
    ['/api/users/1', { ...ada, role: 'user' }, { name: 'Ada', role: 'user', age: 36, status: 'inactive' }],
    ['/api/users/1', { ...ada, role: 'user', age: 40 }, { role: 'user', age: 40, status: 'inactive' }],
    ['/api/users/1', { ...ada, role: 'user', age: null }, { role: 'user', age: null, status: 'inactive' }],
    ['/api/users/1', { ...ada, role: 'admin', status: 'active' }, { role: 'admin', age: 36, status: 'inactive' }],
    ['/api/users/1/', ada, { name: 'Ada', role: 'admin', age: 36, status: 'inactive' }],
    ['/api/users/1/', { username: 'Eve', email: 'ada@example.com' }, { name: 'Eve', role: 'admin', age: 36 }],
    ['/api/users/1/', { ...ada, role: 'user' }, { role: 'user', age: 36 }],
    ['/api/users/1/', { ...ada, age: 40 }, { role: 'admin', age: 40 }],
    ['/users/1', { name: 'Eve' }, { name: 'Eve', role: 'admin', age: 36, status: 'inactive' }],
  ] as const) {
    test(`PUT ${path} with ${JSON.stringify(json)}`, async () => {
      await using server = await startTestServer()
      await createUser(server, stored)
      expect((await server.request('PUT', path, { json })).status).toBe(200)
      expect((await server.request('GET', '/users/1')).body).toMatchObject(expected)
    })
  }

  for (const [path, json, error] of [
    ['/api/users/1', {}, 'Missing required fields: name, email, role'],
    ['/api/users/1', ada, 'Missing required fields: role'],
    ['/api/users/1', { role: 'user' }, 'Missing required fields: name, email'],
    ['/api/users/1/', {}, 'Missing required fields: name, email'],
    ['/api/users/1/', { username: 'Eve' }, 'Missing required fields: email'],
    ['/api/users/1/', { email: 'ada@example.com', role: 'admin' }, 'Missing required fields: name'],
  ] as const) {
    test(`C31 PUT ${path} with ${JSON.stringify(json)} is a 400 that names the missing fields`, async () => {
      await using server = await startTestServer()
      await createUser(server, stored)
      const answer = await server.request('PUT', path, { json })
      expect([answer.status, answer.body]).toEqual([400, { error }])
    })
  }

  test('over tRPC replace requires the role and keeps an omitted age', async () => {
    await using server = await startTestServer()
    await createUser(server, stored)
    // @ts-expect-error the role is required
    await expect(server.client.users.replace.mutate({ id: 1, ...ada })).rejects.toMatchObject({
      message: 'Missing required fields: role',
    })
    expect(await server.client.users.replace.mutate({ id: 1, ...ada, role: 'user' })).toMatchObject({
      role: 'user',
      age: 36,
      status: 'inactive',
    })
  })
})

describe('C43 A write without a change leaves the record unchanged', () => {
  const writes = [
    ['PUT', '/api/users/1', { ...ada, role: 'user' }, createUser],
    ['PUT', '/api/users/1/', ada, createUser],
    ['PATCH', '/api/users/1', { name: 'Ada', role: 'user', status: 'active', age: null }, createUser],
    ['PATCH', '/api/users/1/', { username: 'Ada' }, createUser],
    ['PATCH', '/api/users/1/status', { status: 'active' }, createUser],
    ['PUT', '/users/1', { email: 'ada@example.com' }, createUser],
    ['PUT', '/users/1', {}, createUser],
    ['PATCH', '/api/users/1', {}, createUser],
    ['PUT', '/books/1', dune, createBook],
    ['PUT', '/items/1', lamp, createItem],
    ['PATCH', '/items/1', { price: 24.5, category: null }, createItem],
    ['PATCH', '/items/1', {}, createItem],
  ] as const

  for (const [method, path, json, create] of writes) {
    const record = path.replace(/\/status$/, '')

    test(`${method} ${path} with ${JSON.stringify(json)} keeps ETag, updated_at and audit log`, async () => {
      await using server = await startTestServer()
      await create(server)
      const read = async () => {
        const { headers, body } = await server.request('GET', record)
        return [headers.get('etag'), body]
      }
      const whole = async () => (create === createUser ? (await server.request('GET', '/users/1')).body : undefined)
      const before = [await read(), await whole()]
      const { status, headers } = await server.request(method, path, { json })
      expect(status).toBe(200)
      expect(headers.get('etag')).toMatch(/^"1-/)
      expect([await read(), await whole()]).toEqual(before)
      expect((await server.request('GET', '/api/audit')).body).toHaveLength(1)
    })

    test(`C42 ${method} ${path} with ${JSON.stringify(json)} still checks If-Match`, async () => {
      await using server = await startTestServer()
      await create(server)
      const send = async (tag: string) =>
        (await server.request(method, path, { json, headers: { 'If-Match': tag } })).status
      expect(await send('"2-User"')).toBe(412)
      expect(await send('"1-User"')).toBe(200)
      expect(await send('"1-User"')).toBe(200)
    })
  }

  test('a password is always a change', async () => {
    await using server = await startTestServer()
    await createUser(server, { password: 'correct horse' })
    for (const tag of [/^"2-ChangedUser\.[0-9a-f]{6}"$/, /^"3-ChangedUser\.[0-9a-f]{6}"$/]) {
      const { headers } = await server.request('PATCH', '/api/users/1', { json: { password: 'correct horse' } })
      expect(headers.get('etag')).toMatch(tag)
    }
  })

  test('another spelling of an e-mail address is a change', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const { headers } = await server.request('PATCH', '/api/users/1', { json: { email: 'ADA@example.com' } })
    expect(headers.get('etag')).toMatch(/^"2-ChangedUser\.[0-9a-f]{6}"$/)
  })

  test('one different field among equal ones is a change with one audit entry', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const { headers } = await server.request('PATCH', '/api/users/1', { json: { ...ada, age: 36 } })
    expect(headers.get('etag')).toMatch(/^"2-ChangedUser\.[0-9a-f]{6}"$/)
    expect((await server.request('GET', '/api/audit')).body).toHaveLength(2)
  })

  test('a repeat over tRPC keeps the version', async () => {
    await using server = await startTestServer()
    const { users, books, items } = server.client
    await createAll(server)
    expect((await users.update.mutate({ id: 1, name: 'Ada' })).version).toBe(1)
    expect((await users.update.mutate({ id: 1 })).version).toBe(1)
    expect((await users.setStatus.mutate({ id: 1, status: 'active' })).version).toBe(1)
    expect((await users.replace.mutate({ id: 1, ...ada, role: 'user' })).version).toBe(1)
    expect((await books.replace.mutate({ id: 1, ...dune })).version).toBe(1)
    expect((await items.update.mutate({ id: 1, price: 24.5 })).version).toBe(1)
  })

  test('a key that is revoked again keeps its version', async () => {
    await using server = await startTestServer()
    const { key } = await createKey(server)
    server.logIn(key)
    await createKey(server)
    expect((await server.request('DELETE', '/api/keys/2')).status).toBe(200)
    const first = (await server.request('GET', '/api/keys/2')).headers.get('etag')
    expect((await server.request('DELETE', '/api/keys/2')).status).toBe(200)
    expect((await server.request('GET', '/api/keys/2')).headers.get('etag')).toBe(first)
  })

  for (const [method, path, json, tag] of [
    ['PATCH', '/api/users/1', { age: 36 }, /^"2-UserDetail\.[0-9a-f]{6}"$/],
    ['PUT', '/api/users/1', { name: 'Eve', email: 'eve@example.com', role: 'admin' }, /^"2-UserDetail\.[0-9a-f]{6}"$/],
    ['PATCH', '/api/users/1/status', { status: 'inactive' }, /^"2-UserDetail\.[0-9a-f]{6}"$/],
  ] as const) {
    test(`100 concurrent requests ${method} ${path} create one version and one entry`, async () => {
      await using server = await startTestServer()
      await createUser(server)
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => untilServed(() => server.request(method, path, { json }))),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      expect(new Set(answers.map(({ body }) => body.updated_at)).size).toBe(1)
      expect((await server.request('GET', '/api/users/1')).headers.get('etag')).toMatch(tag)
      expect((await server.request('GET', '/api/audit')).body).toHaveLength(2)
    })
  }
})

describe('C6, C7 An update accepts any subset of fields, also none', () => {
  const server = shareTestServer(createAll)

  for (const [method, path, json, name] of [
    ['PATCH', '/api/users/1', {}, 'Ada'],
    ['PATCH', '/api/users/1/', {}, 'Ada'],
    ['PUT', '/users/1', {}, 'Ada'],
    ['PATCH', '/items/1', {}, 'Lamp'],
    ['PATCH', '/api/users/1', { id: 9, created_at: '2001-01-01T00:00:00.000Z' }, 'Ada'],
  ] as const) {
    test(`${method} ${path} with ${JSON.stringify(json)} is a 200`, async () => {
      const { status, body } = await server().request(method, path, { json })
      expect([status, body.id, body.name]).toEqual([200, 1, name])
    })
  }

  for (const [method, path, json, message] of [
    [
      'PATCH',
      '/api/users/1',
      { colour: 'red' },
      'No recognized field: colour; the fields are: name, email, password, role, status, age',
    ],
    [
      'PATCH',
      '/api/users/1',
      { colour: 'red', username: 'Eve', id: 9 },
      'No recognized field: colour, username; the fields are: name, email, password, role, status, age',
    ],
    [
      'PUT',
      '/users/1',
      { nickname: 'Eve' },
      'No recognized field: nickname; the fields are: name, email, password, role, status, age',
    ],
    ['PATCH', '/items/1', { cost: 5 }, 'No recognized field: cost; the fields are: name, price, category'],
  ] as const) {
    test(`${method} ${path} with ${JSON.stringify(json)} is a 400 that names the known fields`, async () => {
      const { status, body } = await server().request(method, path, { json })
      expect([status, Object.values(body)]).toEqual([400, [message]])
    })
  }

  test('the error lists at most a thousand of the unknown fields', async () => {
    const json = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`field${n}`, 1]))
    const { status, body } = await server().request('PATCH', '/items/1?envelope=true', { json })
    expect([status, body.error.fields.length]).toEqual([400, 1_000])
  })

  test('the name of an inherited property is an unknown field like any other', async () => {
    const headers = { 'Content-Type': 'application/json' }
    for (const name of ['__proto__', 'constructor', 'toString', '']) {
      const raw = `{${JSON.stringify(name)}:{"name":"Eve"}}`
      expect([name, (await server().request('PATCH', '/items/1', { raw, headers })).status]).toEqual([name, 400])
    }
    expect((await server().request('GET', '/items/1')).body.name).toBe('Lamp')
  })

  test('the same applies over tRPC', async () => {
    expect((await call(server(), 'users.update', '{"id":1}')).status).toBe(200)
    expect((await call(server(), 'items.update', '{"id":1,"version":1}')).status).toBe(200)
    const { status, body } = await call(server(), 'items.update', '{"id":1,"cost":5}')
    expect([status, body.error.message, body.error.data.fields]).toEqual([
      400,
      'No recognized field: cost; the fields are: name, price, category',
      [{ field: 'cost', message: 'is not a recognized field' }],
    ])
  })
})

describe('C17 Equality filters accept any text', () => {
  const server = shareTestServer(createAll)

  for (const path of [
    '/api/users?role=nosuchrole',
    '/users?role=nosuchrole',
    '/api/users/?role=nosuchrole',
    '/api/users?status=archived',
    '/users?status=archived',
    '/api/users/?status=archived',
    '/api/users?role=',
    '/api/users?role=ADMIN',
    '/api/users?role=user&status=archived',
    '/items?category=',
    `/items?category=${'x'.repeat(500)}`,
    '/items?category=nothing',
    `/api/users?role=${encodeURIComponent('😀')}`,
    '/api/audit?resource=nothing',
    '/api/audit?actor=',
  ]) {
    test(`GET ${path.slice(0, 40)} is an empty list`, async () => {
      const { status, body } = await server().request('GET', path)
      expect([status, body]).toEqual([200, []])
    })
  }

  test('the typed client accepts any text and counts no records', async () => {
    const { users, total } = await server().client.users.list.query({ role: 'nosuchrole', count: true })
    expect([users, total]).toEqual([[], 0])
  })

  for (const [method, path, json] of [
    ['POST', '/api/users', { name: 'Eve', email: 'eve@example.com', role: 'nosuchrole' }],
    ['PATCH', '/api/users/1', { role: 'nosuchrole' }],
    ['PATCH', '/api/users/1/status', { status: 'archived' }],
    ['DELETE', '/api/users?status=archived', undefined],
    ['DELETE', '/api/users?status=', undefined],
  ] as const) {
    test(`${method} ${path} accepts only known values`, async () => {
      const { status, body } = await server().request(method, path, { json })
      expect(status).toBe(400)
      expect(body.error).toMatch(/^(role: must be admin or user|status: must be active or inactive)$/)
    })
  }
})

describe('U16, U17 A password may have 1 character until there is a key or an identity provider', () => {
  const bodyFor = (path: string, password: string, email: string) => {
    const user = { name: 'Eve', email, password }
    return path.endsWith('bulk') ? [user] : user
  }

  for (const path of ['/api/users', '/users', '/api/users/', '/api/users/bulk']) {
    test(`POST ${path} accepts any text of 1 character or more`, async () => {
      await using server = await startTestServer()
      for (const [index, password] of ['x', ' ', '1234567', 'password'].entries()) {
        const json = bodyFor(path, password, `eve${index}@example.com`)
        expect((await server.request('POST', path, { json })).status).toBe(201)
      }
      expect((await server.request('POST', path, { json: bodyFor(path, '', 'e@example.com') })).status).toBe(400)
    })

    test(`POST ${path} requires 8 characters and refuses the most common passwords once a key exists`, async () => {
      await using server = await startTestServer()
      server.logIn((await createKey(server)).key)
      const field = path.endsWith('bulk') ? '[0].password' : 'password'
      for (const [password, message] of [
        ['x', 'must be text of at least 8 characters'],
        ['1234567', 'must be text of at least 8 characters'],
        ['12345678', 'must not be one of the 10,000 most common passwords'],
        ['password', 'must not be one of the 10,000 most common passwords'],
        ['PassWord', 'must not be one of the 10,000 most common passwords'],
        ['ｐａｓｓｗｏｒｄ', 'must not be one of the 10,000 most common passwords'],
      ] as const) {
        const { status, body } = await server.request('POST', path, {
          json: bodyFor(path, password, 'eve@example.com'),
        })
        expect([status, body]).toEqual([400, { error: `${field}: ${message}` }])
      }
      const json = bodyFor(path, 'correct horse', 'eve@example.com')
      expect((await server.request('POST', path, { json })).status).toBe(201)
    })
  }

  test('with an identity provider they apply as well', async () => {
    const environment = { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_AUDIENCE: 'resource' }
    await using server = await startTestServer()
    const { key } = await createKey(server)
    await using guarded = await startTestServer({ ...environment, DATABASE_URL: server.databaseUrl })
    guarded.logIn(key)
    const json = { name: 'Eve', email: 'eve@example.com', password: 'password' }
    expect((await guarded.request('POST', '/api/users', { json })).status).toBe(400)
  })

  for (const [method, path] of [
    ['PATCH', '/api/users/1'],
    ['PUT', '/users/1'],
    ['PATCH', '/api/users/1/'],
  ] as const) {
    test(`${method} ${path} applies the same rules`, async () => {
      await using server = await startTestServer()
      await createUser(server)
      expect((await server.request(method, path, { json: { password: 'x' } })).status).toBe(200)
      server.logIn((await createKey(server)).key)
      for (const password of ['x', 'football']) {
        expect((await server.request(method, path, { json: { password } })).status).toBe(400)
      }
      expect((await server.request(method, path, { json: { password: 'correct horse' } })).status).toBe(200)
    })
  }

  test('the same rules apply over tRPC', async () => {
    await using server = await startTestServer()
    await server.client.users.create.mutate({ ...ada, password: 'x' })
    server.logIn((await server.client.keys.create.mutate({ name: 'test', role: 'admin' })).key)
    await expect(server.client.users.update.mutate({ id: 1, password: 'baseball' })).rejects.toMatchObject({
      data: {
        code: 'BAD_REQUEST',
        fields: [{ field: 'password', message: 'must not be one of the 10,000 most common passwords' }],
      },
    })
  })
})
