import { describe, expect, test } from 'vitest'
import { startTestServer, type TestServer } from './harness.ts'
import { createBook, createItem, createUser } from './records.ts'

const ada = { name: 'Ada', email: 'ada@example.com' }
const dune = { title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' }
const lamp = { name: 'Lamp', price: 24.5 }

async function etagOf(server: TestServer, path: string): Promise<string> {
  return (await server.request('GET', path)).headers.get('etag') ?? ''
}

describe('C40 ETag', () => {
  for (const [path, create] of [
    ['/api/users/1', createUser],
    ['/users/1', createUser],
    ['/api/users/1/', createUser],
    ['/books/1', createBook],
    ['/items/1', createItem],
  ] as const) {
    test(`of GET ${path} is strong and stays the same until the record changes`, async () => {
      await using server = await startTestServer()
      await create(server)
      const etag = await etagOf(server, path)
      expect(etag).toMatch(/^"[^"]+"$/)
      expect(await etagOf(server, path)).toBe(etag)
    })

    for (const method of ['GET', 'HEAD']) {
      test(`C41 in If-None-Match of ${method} ${path} gives a 304 without a body`, async () => {
        await using server = await startTestServer()
        await create(server)
        const etag = await etagOf(server, path)
        for (const value of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
          const { status, headers, body } = await server.request(method, path, { headers: { 'If-None-Match': value } })
          expect(status).toBe(304)
          expect(body).toBeUndefined()
          expect(headers.get('etag')).toBe(etag)
        }
        expect((await server.request(method, path, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200)
      })
    }
  }

  test('depends on the version and the shape of the response', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const main = await etagOf(server, '/api/users/1')
    const simple = await etagOf(server, '/users/1')
    const wrapped = await etagOf(server, '/api/users/1?envelope=true')
    expect(new Set([main, simple, wrapped]).size).toBe(3)
    for (const etag of [main, simple, wrapped]) expect(etag).toMatch(/\b1\b/)
    expect(await etagOf(server, '/api/users/1/')).toBe(main)
  })

  test('contains no hash: two records with the same version and shape share it', async () => {
    await using server = await startTestServer()
    await createItem(server)
    await createItem(server, { name: 'Chair' })
    expect(await etagOf(server, '/items/2')).toBe(await etagOf(server, '/items/1'))
  })

  for (const [method, path, json, create] of [
    ['PUT', '/api/users/1', { ...ada, name: 'Eve', role: 'user' }, createUser],
    ['PATCH', '/api/users/1', { name: 'Eve' }, createUser],
    ['PATCH', '/api/users/1/status', { status: 'inactive' }, createUser],
    ['PUT', '/users/1', { name: 'Eve' }, createUser],
    ['PUT', '/api/users/1/', { ...ada, name: 'Eve' }, createUser],
    ['PATCH', '/api/users/1/', { name: 'Eve' }, createUser],
    ['PUT', '/books/1', { ...dune, title: 'Emma' }, createBook],
    ['PUT', '/items/1', { ...lamp, price: 1 }, createItem],
    ['PATCH', '/items/1', { price: 1 }, createItem],
  ] as const) {
    test(`of ${method} ${path} is new and valid for the next write`, async () => {
      await using server = await startTestServer()
      await create(server)
      const read = path.replace('/status', '')
      const before = await etagOf(server, read)
      const first = await server.request(method, path, { json })
      const etag = first.headers.get('etag') ?? ''
      expect(first.status).toBe(200)
      expect(etag).toMatch(/^"[^"]+"$/)
      expect(await etagOf(server, read)).not.toBe(before)
      expect((await server.request('GET', read, { headers: { 'If-None-Match': before } })).status).toBe(200)
      const nextBody = read.startsWith('/books') ? { ...dune, title: 'Persuasion' } : { name: 'Mary', price: 2 }
      const nextMethod = read.startsWith('/books') ? 'PUT' : read === '/users/1' ? 'PUT' : 'PATCH'
      const write = () => server.request(nextMethod, read, { json: nextBody, headers: { 'If-Match': etag } })
      expect((await write()).status).toBe(200)
      expect((await write()).status).toBe(412)
    })
  }

  for (const [path, json] of [
    ['/api/users', ada],
    ['/users', ada],
    ['/api/users/', ada],
    ['/books', dune],
    ['/items/', lamp],
  ] as const) {
    test(`of POST ${path} is valid for the next write`, async () => {
      await using server = await startTestServer()
      const { headers } = await server.request('POST', path, { json })
      const etag = headers.get('etag') ?? ''
      const location = headers.get('location') ?? ''
      expect(etag).toMatch(/^"[^"]+"$/)
      const gone = await server.request('DELETE', location, { headers: { 'If-Match': etag } })
      expect(gone.status).toBe(path === '/api/users' || path === '/items/' ? 200 : 204)
    })
  }
})

describe('C42 If-Match', () => {
  test('on a resource without an ETag is a 400, and nothing is written', async () => {
    await using server = await startTestServer()
    await createUser(server, { status: 'inactive' })
    for (const [method, path, json] of [
      ['DELETE', '/api/users?status=inactive', undefined],
      ['PATCH', '/items/bulk', [{ id: 1, price: 2 }]],
      ['PATCH', '/items?id_gte=1', { set: { price: 2 } }],
      ['POST', '/items/', lamp],
      ['POST', '/items/bulk', [lamp]],
    ] as const) {
      for (const [name, value] of [
        ['If-Match', '"1-x"'],
        ['If-None-Match', '*'],
      ] as const) {
        const { status, body } = await server.request(method, path, { json, headers: { [name]: value } })
        expect([status, JSON.stringify(body)]).toEqual([
          400,
          expect.stringMatching(/If-(None-)?Match:? cannot be used here: the resource has no ETag/),
        ])
      }
    }
    const tags = await server.request('PATCH', '/items/bulk', {
      json: [{ id: 1 }],
      headers: { 'If-None-Match': '"1-x"' },
    })
    expect(tags.status).toBe(400)
    const any = await server.request('DELETE', '/api/users?status=inactive', { headers: { 'If-Match': '*' } })
    expect(any.body).toEqual({ message: '1 inactive user removed' })
    expect((await server.request('GET', '/items')).body).toEqual([])
  })

  const userWrites = [
    ['PUT', '/api/users/1', { ...ada, role: 'user' }],
    ['PATCH', '/api/users/1', { name: 'Eve' }],
    ['DELETE', '/api/users/1', undefined],
    ['PATCH', '/api/users/1/status', { status: 'inactive' }],
    ['PUT', '/users/1', { name: 'Eve' }],
    ['DELETE', '/users/1', undefined],
    ['PUT', '/api/users/1/', ada],
    ['PATCH', '/api/users/1/', { name: 'Eve' }],
    ['DELETE', '/api/users/1/', undefined],
  ] as const

  for (const read of ['/api/users/1', '/users/1', '/api/users/1/', '/users/1?envelope=true']) {
    for (const [method, path, json] of userWrites) {
      test(`a tag from ${read} is valid for ${method} ${path} until another write`, async () => {
        await using server = await startTestServer()
        await createUser(server)
        const stale = await etagOf(server, read)
        await server.request('PATCH', '/api/users/1', { json: { age: 5 } })
        const refused = await server.request(method, path, { json, headers: { 'If-Match': stale } })
        expect(refused.status).toBe(412)
        expect(refused.body).toEqual({ error: expect.stringMatching(/./) })
        expect(await server.client.users.get.query({ id: 1 })).toMatchObject({ name: 'Ada', age: 5, status: 'active' })
        const current = await etagOf(server, read)
        const { status } = await server.request(method, path, { json, headers: { 'If-Match': current } })
        expect(status).toBe(method === 'DELETE' && path !== '/api/users/1' ? 204 : 200)
      })
    }
  }

  for (const [method, path, json, create] of [
    ['PUT', '/books/1', dune, createBook],
    ['DELETE', '/books/1', undefined, createBook],
    ['PUT', '/items/1', lamp, createItem],
    ['PATCH', '/items/1', { price: 1 }, createItem],
    ['DELETE', '/items/1', undefined, createItem],
  ] as const) {
    test(`a stale tag is a 412 for ${method} ${path}, and a current one is not`, async () => {
      await using server = await startTestServer()
      await create(server)
      const stale = await etagOf(server, path)
      await server.request('PUT', path, {
        json: path === '/books/1' ? { ...dune, title: 'Emma' } : { ...lamp, price: 7 },
      })
      const refused = await server.request(method, path, { json, headers: { 'If-Match': stale } })
      expect(refused.status).toBe(412)
      expect(refused.body).toEqual({ message: expect.stringMatching(/./) })
      const current = await etagOf(server, path)
      const { status } = await server.request(method, path, { json, headers: { 'If-Match': current } })
      expect(status).toBe(method === 'DELETE' && path === '/books/1' ? 204 : 200)
    })
  }

  test('* matches any version', async () => {
    await using server = await startTestServer()
    await createItem(server)
    const headers = { 'If-Match': '*' }
    expect((await server.request('PATCH', '/items/1', { json: { price: 1 }, headers })).status).toBe(200)
    expect((await server.request('PATCH', '/items/1', { json: { price: 2 }, headers })).status).toBe(200)
  })

  test('a list of tags is accepted, and weak tags do not match', async () => {
    await using server = await startTestServer()
    await createItem(server)
    const etag = await etagOf(server, '/items/1')
    const patch = (value: string) =>
      server.request('PATCH', '/items/1', { json: { price: 1 }, headers: { 'If-Match': value } })
    expect((await patch(`W/${etag}`)).status).toBe(412)
    expect((await patch('"other"')).status).toBe(412)
    expect((await patch(`"other", ${etag}`)).status).toBe(200)
  })

  test('an invalid tag is a 400', async () => {
    await using server = await startTestServer()
    await createItem(server)
    const headers = { 'If-Match': '1-Item' }
    const { status, body } = await server.request('PATCH', '/items/1', { json: { price: 1 }, headers })
    expect(status).toBe(400)
    expect(body).toEqual({ message: expect.stringContaining('If-Match') })
  })
})

describe('C62 over tRPC', () => {
  test('every record has a version that starts at 1 and grows with each write', async () => {
    await using server = await startTestServer()
    const { users, books, items } = server.client
    expect((await users.create.mutate(ada)).version).toBe(1)
    expect((await users.replace.mutate({ id: 1, ...ada, name: 'Eve', role: 'user' })).version).toBe(2)
    expect((await users.update.mutate({ id: 1, age: 36 })).version).toBe(3)
    expect((await users.setStatus.mutate({ id: 1, status: 'inactive' })).version).toBe(4)
    expect((await users.get.query({ id: 1 })).version).toBe(4)
    expect((await books.create.mutate(dune)).version).toBe(1)
    expect((await books.replace.mutate({ id: 1, ...dune, title: 'Emma' })).version).toBe(2)
    expect((await items.create.mutate(lamp)).version).toBe(1)
    expect((await items.replace.mutate({ id: 1, ...lamp, price: 7 })).version).toBe(2)
    expect((await items.update.mutate({ id: 1, price: 1 })).version).toBe(3)
  })

  test('if_version makes a write conditional', async () => {
    await using server = await startTestServer()
    const { users, books, items } = server.client
    await users.create.mutate(ada)
    await users.update.mutate({ id: 1, age: 36, if_version: 1 })
    await books.create.mutate(dune)
    await books.replace.mutate({ id: 1, ...dune, title: 'Emma', if_version: 1 })
    await items.create.mutate(lamp)
    await items.update.mutate({ id: 1, price: 1, if_version: 1 })
    for (const call of [
      () => users.replace.mutate({ id: 1, ...ada, role: 'user', if_version: 1 }),
      () => users.update.mutate({ id: 1, age: 1, if_version: 1 }),
      () => users.setStatus.mutate({ id: 1, status: 'inactive', if_version: 1 }),
      () => users.delete.mutate({ id: 1, if_version: 1 }),
      () => books.replace.mutate({ id: 1, ...dune, if_version: 1 }),
      () => books.delete.mutate({ id: 1, if_version: 1 }),
      () => items.replace.mutate({ id: 1, ...lamp, if_version: 1 }),
      () => items.update.mutate({ id: 1, price: 2, if_version: 1 }),
      () => items.delete.mutate({ id: 1, if_version: 1 }),
    ]) {
      await expect(call()).rejects.toMatchObject({ data: { code: 'PRECONDITION_FAILED', httpStatus: 412 } })
    }
    expect(await users.get.query({ id: 1 })).toMatchObject({ age: 36, status: 'active', version: 2 })
    expect(await items.update.mutate({ id: 1, price: 2, if_version: [1, 2] })).toMatchObject({ price: 2, version: 3 })
  })

  test('a condition of REST is a 400 that says so, and nothing is written', async () => {
    await using server = await startTestServer()
    await createItem(server)
    const headers = { 'If-Match': await etagOf(server, '/items/1') }
    const refused = await server.request('POST', '/trpc/items.update', { json: { id: 1, price: 1 }, headers })
    expect([refused.status, refused.body.error.message]).toEqual([
      400,
      'If-Match applies to REST; over tRPC, give the call if_version',
    ])
    const json = { id: 1, price: 1 }
    const absent = await server.request('POST', '/trpc/items.update', { json, headers: { 'If-None-Match': '*' } })
    expect([absent.status, absent.body.error.message]).toEqual([
      400,
      'If-None-Match applies to REST; over tRPC, only to reads',
    ])
    expect(await server.client.items.get.query({ id: 1 })).toMatchObject({ version: 1 })
  })

  test('a version from tRPC and a tag from REST describe the same record', async () => {
    await using server = await startTestServer()
    await createItem(server)
    const etag = await etagOf(server, '/items/1')
    await server.client.items.update.mutate({ id: 1, price: 1, if_version: 1 })
    const headers = { 'If-Match': etag }
    expect((await server.request('PATCH', '/items/1', { json: { price: 2 }, headers })).status).toBe(412)
  })
})
