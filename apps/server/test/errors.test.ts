import { describe, expect, test } from 'vitest'
import { errorOf, exampleOf, seed, writingIds } from './examples.ts'
import { shareTestServer, startTestServer } from './harness.ts'
import { createBook, createItem, createUser, dropTable, executeSql } from './records.ts'

describe('status codes', () => {
  test('S1, S2, S5 200 is success, 201 a created resource, 204 success with no content', async () => {
    await using server = await startTestServer()
    const json = { name: 'Ada', email: 'ada@example.com' }
    expect((await server.request('POST', '/users', { json })).status).toBe(201)
    expect((await server.request('GET', '/users')).status).toBe(200)
    const deleted = await server.request('DELETE', '/users/1')
    expect([deleted.status, deleted.body]).toEqual([204, undefined])
  })

  test('C31, C32 400 is an invalid or malformed request', async () => {
    await using server = await startTestServer()
    const headers = { 'Content-Type': 'application/json' }
    const malformed = await server.request('POST', '/users', { raw: '{"name": "Ada"', headers })
    expect(malformed.status).toBe(400)
    expect(malformed.body).toEqual({ error: expect.stringContaining('JSON') })
    const invalid = await server.request('POST', '/users', { json: { name: 5, email: 'ada@example.com' } })
    expect(invalid.status).toBe(400)
    expect(invalid.body).toEqual({ error: expect.stringContaining('name') })
  })

  test('B10, C32 404 is a resource that does not exist', async () => {
    await using server = await startTestServer()
    expect((await server.request('GET', '/books/1')).status).toBe(404)
    expect((await server.request('GET', '/nothing')).status).toBe(404)
  })

  for (const [path, body] of [
    ['/users', { error: 'Internal server error (request ID)' }],
    ['/books', { message: 'Internal server error (request ID)' }],
    [
      '/items?envelope=true',
      {
        status: 'error',
        error: { code: 500, message: 'Internal server error (request ID)', details: expect.any(String) },
      },
    ],
  ] as const) {
    test(`C33 500 is a server-side error: ${path} reveals only that and the request id`, async () => {
      await using server = await startTestServer()
      for (const table of ['users', 'books', 'items']) await dropTable(server, table)
      const answer = await server.request('GET', path)
      const id = answer.headers.get('x-request-id') ?? ''
      expect(answer.status).toBe(500)
      expect(id).toMatch(/^[\da-f-]{36}$/)
      expect(JSON.parse(JSON.stringify(answer.body).replace(id, 'ID'))).toEqual(body)
      expect(JSON.stringify(answer.body)).not.toMatch(/prisma|sqlite|postgres|no such table|does not exist|\.ts/i)
      expect(server.log.find((line) => line.includes(`"id":"${id}"`) && line.includes('unexpected error'))).toMatch(
        /no such table|relation .* does not exist/,
      )
    })
  }

  test('C33 a 500 over tRPC reveals only that and the request id', async () => {
    await using server = await startTestServer()
    await dropTable(server, 'books')
    const error = await server.client.books.get.query({ id: 1 }).catch((error: unknown) => error)
    expect(error).toMatchObject({
      message: expect.stringMatching(/^Internal server error \(request [\w-]{36}\)$/),
      data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500, fields: [] },
    })
    expect(JSON.stringify(error)).not.toMatch(/prisma|sqlite|postgres|no such table|does not exist|\.ts/i)
  })
})

describe('C30 error forms', () => {
  const server = shareTestServer()

  test('standard envelope: status error, and error with code, message and details', async () => {
    const { status, body } = await server().request('GET', '/nothing')
    expect(status).toBe(404)
    expect(body).toEqual({
      status: 'error',
      error: { code: 404, message: expect.stringMatching(/./), details: expect.stringMatching(/./) },
    })
  })

  test('users paths: one field error, a string', async () => {
    expect((await server().request('GET', '/users/7')).body).toEqual({ error: 'User not found' })
  })

  test('books and items: one field message, a string', async () => {
    expect((await server().request('GET', '/items/7')).body).toEqual({ message: 'Item not found' })
  })

  for (const [method, path, status] of [
    ['GET', '/api/users/1/nothing', 404],
    ['GET', '/api/users//', 404],
    ['GET', '/api/users/1/status/more', 404],
    ['GET', '/users/1/2', 404],
    ['GET', '/api/users/%', 400],
    ['GET', '/users/%ED%A0%80', 400],
    ['GET', '/api/users/bulk', 405],
    ['GET', '/api/users/1/status', 405],
    ['PUT', '/api/users', 405],
    ['PATCH', '/api/users/', 405],
    ['POST', '/api/users/1', 405],
    ['PATCH', '/users/1', 405],
    ['DELETE', '/users', 405],
  ] as const) {
    test(`errors under a users path are {error}: ${method} ${path} is a ${status}`, async () => {
      const answer = await server().request(method, path)
      expect(answer.status).toBe(status)
      expect(answer.body).toEqual({ error: expect.stringMatching(/./) })
    })
  }

  for (const [method, path, status] of [
    ['GET', '/books/1/pages', 404],
    ['GET', '/items/1/2/3', 404],
    ['GET', '/books/%', 400],
    ['GET', '/items/%00', 400],
    ['PATCH', '/books/1', 405],
    ['PUT', '/books', 405],
    ['POST', '/items/1', 405],
    ['PUT', '/items/', 405],
  ] as const) {
    test(`errors under books and items are {message}: ${method} ${path} is a ${status}`, async () => {
      const answer = await server().request(method, path)
      expect(answer.status).toBe(status)
      expect(answer.body).toEqual({ message: expect.stringMatching(/./) })
    })
  }

  for (const [method, path, code] of [
    ['GET', '/nothing', 404],
    ['POST', '/nothing', 404],
    ['GET', '/api', 404],
    ['GET', '/api/nothing', 404],
    ['GET', '/usersandmore', 404],
    ['GET', '/api/usersandmore', 404],
    ['GET', '/itemsandmore/1', 404],
    ['GET', '/docs/nothing', 404],
    ['POST', '/docs', 405],
    ['DELETE', '/redoc', 405],
    ['PUT', '/openapi.json', 405],
    ['GET', '/%', 400],
  ] as const) {
    test(`errors everywhere else are the standard envelope: ${method} ${path} is a ${code}`, async () => {
      const answer = await server().request(method, path)
      expect(answer.status).toBe(code)
      expect(answer.body).toEqual({
        status: 'error',
        error: { code, message: expect.stringMatching(/./), details: expect.any(String) },
      })
    })
  }
})

describe('missing input, missing records and wrong types', () => {
  const server = shareTestServer(seed)

  for (const path of ['/api/users', '/users', '/api/users/']) {
    test(`U18 POST ${path} without a JSON body is a 400 with the message that no input data was provided`, async () => {
      await using server = await startTestServer()
      const { status, body } = await server.request('POST', path)
      expect(status).toBe(400)
      expect(body).toEqual({ error: 'No input data provided' })
    })

    for (const [json, missing] of [
      [{}, 'name, email'],
      [{ email: 'ada@example.com' }, 'name'],
      [{ name: 'Ada' }, 'email'],
    ] as const) {
      test(`U19 POST ${path} without ${missing} is a 400 that names the missing fields`, async () => {
        await using server = await startTestServer()
        const { status, body } = await server.request('POST', path, { json })
        expect(status).toBe(400)
        expect(body).toEqual({ error: `Missing required fields: ${missing}` })
        expect((await server.request('GET', '/users')).body).toEqual([])
      })
    }
  }

  for (const [method, path] of [
    ['GET', '/api/users/7'],
    ['PUT', '/api/users/7'],
    ['GET', '/users/7'],
    ['PUT', '/users/7'],
    ['GET', '/api/users/7/'],
    ['PUT', '/api/users/7/'],
  ] as const) {
    test(`U20 ${method} ${path} of a missing user is a 404 with the message that the user was not found`, async () => {
      await using server = await startTestServer()
      const json = method === 'PUT' ? { name: 'Ada', email: 'ada@example.com' } : undefined
      const { status, body } = await server.request(method, path, { json })
      expect(status).toBe(404)
      expect(body).toEqual({ error: 'User not found' })
    })
  }

  for (const [path, message] of [
    ['/items/7', 'Item not found'],
    ['/books/7', 'Book not found'],
  ] as const) {
    test(`C30 GET ${path} of a missing record is a 404 with a message`, async () => {
      await using server = await startTestServer()
      const { status, body } = await server.request('GET', path)
      expect(status).toBe(404)
      expect(body).toEqual({ message })
    })
  }

  for (const [method, path, json, field] of [
    ['POST', '/items/', { name: 'Lamp', price: 'cheap' }, 'price'],
    ['POST', '/items/', { name: 5, price: 1 }, 'name'],
    ['POST', '/items/', { name: 'Lamp', price: 1, category: {} }, 'category'],
    ['PUT', '/items/1', { name: 'Lamp', price: null }, 'price'],
    ['PATCH', '/items/1', { price: true }, 'price'],
    ['POST', '/books', { title: ['Dune'], author: 'F. H.', published_date: '1965-08-01' }, 'title'],
    ['PUT', '/books/1', { title: 'Dune', author: 'F. H.', published_date: 1965 }, 'published_date'],
    ['POST', '/api/users', { name: 'Bob', email: 5 }, 'email'],
    ['POST', '/users', { name: { first: 'Bob' }, email: 'bob@example.com' }, 'name'],
    ['PATCH', '/api/users/1', { age: 'old' }, 'age'],
    ['PUT', '/users/1', { role: 1 }, 'role'],
    ['PATCH', '/api/users/1/status', { status: false }, 'status'],
    ['POST', '/api/users', { name: 'Bob', email: 'bob@example.com', password: 12345678 }, 'password'],
  ] as const) {
    test(`C4, C31 ${method} ${path} with a wrong type for ${field} is a 400 that names the field`, async () => {
      const { status, body } = await server().request(method, path, { json })
      expect(status).toBe(400)
      expect(body).toEqual(errorOf({ method, path }, expect.stringContaining(field)))
    })
  }

  test('C31 one response names every invalid and every missing field', async () => {
    await using server = await startTestServer()
    const { body } = await server.request('POST', '/users', { json: { email: 'nonsense', age: 200, role: 'king' } })
    expect(body.error).toMatch(/^Missing required fields: name\b/)
    expect(body.error).toMatch(/email: must be a valid e-mail address/)
    expect(body.error).toMatch(/age: must be a whole number from 0 to 150/)
    expect(body.error).toMatch(/role: must be admin or user/)
  })
})

describe('a missing body', () => {
  const server = shareTestServer(seed)
  const json = { 'Content-Type': 'application/json' }
  const bytes = (text: string) => new TextEncoder().encode(text)
  for (const operationId of writingIds) {
    const { method, path } = exampleOf(operationId)
    for (const [sent, options] of [
      ['no body', {}],
      ['no body and a Content-Type', { headers: json }],
      ['an empty body', { raw: '', headers: json }],
      ['null', { raw: 'null', headers: json }],
      ['null and no Content-Type', { raw: bytes('null') }],
    ] as const) {
      test(`C3 ${operationId} (${method} ${path}) with ${sent} reports that no input data was provided`, async () => {
        const { status, body } = await server().request(method, path, options)
        expect(status).toBe(400)
        expect(body).toEqual(errorOf({ method, path }, 'No input data provided'))
      })
    }

    // A create-user request treats a body that is not JSON as no input (API rule U18).
    const isCreateUser = ['createUser', 'simpleCreateUser', 'slashCreateUser'].includes(operationId)
    const otherTypes = ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']
    for (const type of [...(isCreateUser ? [] : otherTypes), 'application/json; charset=latin1']) {
      test(`C2 ${operationId} (${method} ${path}) with a body of ${type} is a 415`, async () => {
        const raw = JSON.stringify(exampleOf(operationId).json)
        const { status, body } = await server().request(method, path, { raw, headers: { 'Content-Type': type } })
        expect(status).toBe(415)
        expect(body).toEqual(errorOf({ method, path }, expect.stringContaining('application/json')))
      })
    }
  }

  test('C2 application/json is accepted with charset utf-8 and in any case', async () => {
    for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"']) {
      const raw = JSON.stringify({ name: 'Lamp', price: 1 })
      expect((await server().request('POST', '/items/', { raw, headers: { 'Content-Type': type } })).status).toBe(201)
    }
  })

  for (const [what, raw] of [
    ['an array', '[]'],
    ['a number', '5'],
    ['a string', '"Ada"'],
    ['true', 'true'],
  ] as const) {
    test(`${what} in place of an object is a 400`, async () => {
      const { status, body } = await server().request('POST', '/api/users', { raw, headers: json })
      expect(status).toBe(400)
      expect(body).toEqual({ error: expect.stringContaining('object') })
    })
  }
})

describe('messages', () => {
  test('U12 for a taken e-mail address are a 409 that names the field', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const json = { name: 'Bob', email: 'ada@example.com' }
    const { status, body } = await server.request('POST', '/api/users', { json })
    expect(status).toBe(409)
    expect(body).toEqual({ error: expect.stringMatching(/^email\b/) })
  })

  test('C31 do not echo the input', async () => {
    await using server = await startTestServer()
    const json = { name: ['xyzzy'], email: 'xyzzy', role: 'xyzzy', password: 'xyzzy', age: 'xyzzy', status: 'xyzzy' }
    const { body } = await server.request('POST', '/users', { json })
    expect(body.error).not.toContain('xyzzy')
  })

  for (const [method, path, create] of [
    ['GET', '/api/users/abc', createUser],
    ['GET', '/books/abc', createBook],
    ['GET', '/items/abc', createItem],
  ] as const) {
    test(`C8 of ${method} ${path} describe a valid id`, async () => {
      await using server = await startTestServer()
      await create(server)
      const { status, body } = await server.request(method, path)
      expect(status).toBe(400)
      expect(Object.values(body)).toEqual([expect.stringMatching(/id: must be a whole number$/)])
    })
  }
})

test('a record that records of a later version refer to cannot be deleted', async () => {
  await using server = await startTestServer()
  const { id } = await createUser(server)
  await executeSql(
    server,
    `CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES users (id) ON DELETE RESTRICT);
     INSERT INTO orders (id, user_id) VALUES (1, ${id})`,
  )
  const answer = {
    status: 409,
    body: { error: 'Records of a later version of the service refer to the user: delete or change them first' },
  }
  expect(await server.request('DELETE', `/users/${id}`)).toMatchObject(answer)
})
