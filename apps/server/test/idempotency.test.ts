import type { Database, IdempotencyKey, Tables } from '@resource/database'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { deleteExpiredKeys } from '../src/store/idempotency.ts'
import { createCallers } from './callers.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { createItem, createUser, openDatabase, someUsers } from './records.ts'

const ada = { name: 'Ada', email: 'ada@example.com' }
const dune = { title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' }
const lamp = { name: 'Lamp', price: 24.5 }
const headers = { 'Idempotency-Key': 'key-1' }
const hour = 60 * 60 * 1000

afterEach(() => void vi.useRealTimers())

describe('C45, C46 Idempotency-Key', () => {
  for (const [path, json, other, list] of [
    ['/api/users', ada, { ...ada, role: 'admin' }, '/users'],
    ['/users', ada, { ...ada, name: 'Eve' }, '/users'],
    ['/api/users/', ada, { ...ada, age: 3 }, '/users'],
    ['/api/users/bulk', [ada], [{ ...ada, name: 'Eve' }], '/users'],
    ['/books', dune, { ...dune, title: 'Emma' }, '/books'],
    ['/items/', lamp, { ...lamp, price: 1 }, '/items/'],
  ] as const) {
    test(`a repeat of POST ${path} has no second effect and the same status, body and Location`, async () => {
      await using server = await startTestServer()
      const first = await server.request('POST', path, { json, headers })
      const again = await server.request('POST', path, { json, headers })
      expect(first.status).toBe(201)
      expect(again.status).toBe(201)
      expect(again.body).toEqual(first.body)
      expect(again.headers.get('location')).toBe(first.headers.get('location'))
      expect(again.headers.get('etag')).toBe(first.headers.get('etag'))
      expect((await server.request('GET', list)).body).toHaveLength(1)
    })

    test(`POST ${path} with a different body under the same key is a 409 without effect`, async () => {
      await using server = await startTestServer()
      await server.request('POST', path, { json, headers })
      const { status, body } = await server.request('POST', path, { json: other, headers })
      expect(status).toBe(409)
      expect(Object.values(body)).toEqual([expect.stringContaining('Idempotency-Key')])
      expect((await server.request('GET', list)).body).toHaveLength(1)
    })
  }

  test('is scoped to a procedure: others may use the same key', async () => {
    await using server = await startTestServer()
    expect((await server.request('POST', '/users', { json: ada, headers })).status).toBe(201)
    expect((await server.request('POST', '/api/users/bulk', { json: someUsers(1), headers })).status).toBe(201)
    expect((await server.request('POST', '/books', { json: dune, headers })).status).toBe(201)
    expect((await server.request('POST', '/items/', { json: lamp, headers })).status).toBe(201)
  })

  test('is scoped to a caller: the same key of another caller is independent', async () => {
    await using server = await startTestServer()
    const { writer = '', admin = '' } = await createCallers(server)
    const create = async (Authorization: string, json: object) => {
      const { status, body } = await server.request('POST', '/items/', { json, headers: { ...headers, Authorization } })
      return [status, body.item?.id]
    }
    expect(await create(writer, lamp)).toEqual([201, 1])
    expect(await create(admin, { ...lamp, price: 7 })).toEqual([201, 2])
    expect(await create(admin, { ...lamp, price: 7 })).toEqual([201, 2])
    expect(await create(writer, lamp)).toEqual([201, 1])
    expect(await create(writer, { ...lamp, price: 7 })).toEqual([409, undefined])
  })

  test('with another value is another request', async () => {
    await using server = await startTestServer()
    await server.request('POST', '/items/', { json: lamp, headers })
    const other = { 'Idempotency-Key': 'key-2' }
    const { body } = await server.request('POST', '/items/', { json: lamp, headers: other })
    expect(body.item.id).toBe(2)
  })

  test('treats the same fields in another order and notation as the same request', async () => {
    await using server = await startTestServer()
    await server.request('POST', '/items/', { json: { name: 'Lamp', price: 1 }, headers })
    const { status, body } = await server.request('POST', '/items/', {
      raw: '{ "price": 1.0,\n "name": "Lamp" }',
      headers: { ...headers, 'Content-Type': 'application/json' },
    })
    expect(status).toBe(201)
    expect(body.item.id).toBe(1)
  })

  test('covers the password: the same one is a repeat, a different one a 409', async () => {
    await using server = await startTestServer()
    const send = (password: string) => server.request('POST', '/api/users', { json: { ...ada, password }, headers })
    const first = await send('correct horse')
    const again = await send('correct horse')
    expect([again.status, again.body]).toEqual([201, first.body])
    expect((await send('battery staple')).status).toBe(409)
    expect((await server.request('POST', '/api/users', { json: ada, headers })).status).toBe(409)
  })

  test('replays the first response after the record was changed or deleted', async () => {
    await using server = await startTestServer()
    const first = await server.request('POST', '/users', { json: ada, headers })
    await server.request('PATCH', '/api/users/1', { json: { name: 'Eve' } })
    const changed = await server.request('POST', '/users', { json: ada, headers })
    expect([changed.status, changed.body]).toEqual([201, first.body])
    await server.request('DELETE', '/users/1')
    const deleted = await server.request('POST', '/users', { json: ada, headers })
    expect([deleted.status, deleted.body]).toEqual([201, first.body])
    expect(deleted.headers.get('location')).toBe('/users/1')
    expect((await server.request('GET', '/users')).body).toEqual([])
  })

  test('of a failed first attempt can be used again', async () => {
    await using server = await startTestServer()
    await createUser(server)
    expect((await server.request('POST', '/users', { json: ada, headers })).status).toBe(409)
    expect((await server.request('POST', '/users', { json: { name: 'Ada' }, headers })).status).toBe(400)
    await server.request('DELETE', '/users/1')
    const { status, body } = await server.request('POST', '/users', { json: ada, headers })
    // The failed first attempt may have used up an id.
    expect([status, body.name, body.id > 1]).toEqual([201, 'Ada', true])
  })

  for (const [length, status] of [
    [1, 201],
    [255, 201],
    [256, 400],
  ] as const) {
    test(`with ${length} characters is a ${status}`, async () => {
      await using server = await startTestServer()
      const { status: actual, body } = await server.request('POST', '/items/', {
        json: lamp,
        headers: { 'Idempotency-Key': 'k'.repeat(length) },
      })
      expect(actual).toBe(status)
      if (status === 400) expect(body).toEqual({ message: expect.stringContaining('Idempotency-Key') })
    })
  }

  test('is stored for 24 hours', async () => {
    await using server = await startTestServer()
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: new Date('2031-02-03T04:05:06.789Z') })
    const idOf = async () => (await server.request('POST', '/items/', { json: lamp, headers })).body.item.id
    expect(await idOf()).toBe(1)
    vi.advanceTimersByTime(24 * hour - 1000)
    expect(await idOf()).toBe(1)
    vi.advanceTimersByTime(2000)
    expect(await idOf()).toBe(2)
    expect(await idOf()).toBe(2)
  })

  test('older than 24 hours is available for another request', async () => {
    await using server = await startTestServer({}, { isAlone: true })
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: new Date('2031-02-03T04:05:06.789Z') })
    await createItem(server)
    await server.request('POST', '/items/', { json: lamp, headers })
    vi.advanceTimersByTime(24 * hour + 1000)
    const { status } = await server.request('POST', '/items/', { json: { ...lamp, price: 1 }, headers })
    expect(status).toBe(201)
  })

  test('is replayed if the clock is set ahead by 25 hours, and after a restart too', async () => {
    await using server = await startTestServer()
    const send = ({ request }: TestServer) => request('POST', '/items/', { json: lamp, headers })
    expect((await send(server)).body.item.id).toBe(1)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * hour })
    expect((await send(server)).body.item.id).toBe(1)
    await using database = await openDatabase(server)
    await deleteExpiredKeys(database)
    await using restarted = await startTestServer({ DATABASE_URL: server.databaseUrl })
    expect((await send(restarted)).body.item.id).toBe(1)
    expect((await server.request('GET', '/items/')).body).toHaveLength(1)
  })

  test('older than 24 hours is deleted, with other writes in between', async () => {
    await using server = await startTestServer()
    await using database = await openDatabase(server)
    const insert = (tx: Tables, key: string, created_at: Date) =>
      tx.idempotencyKeys.write([
        { create: { procedure: 'items.create', key, fingerprint: '', answer: '{}', created_at } },
      ])
    await database.write(async (tx) => {
      for (let n = 0; n < 1001; n++) await insert(tx, `old-${n}`, new Date(Date.now() - 24 * hour))
      await insert(tx, 'new', new Date(Date.now() - 23 * hour))
    })
    let writes = 0
    const write: Database['write'] = (...args) => {
      writes++
      return database.write(...args)
    }
    await deleteExpiredKeys({ ...database, write })
    expect(writes).toBe(3)
    expect(await database.read.idempotencyKeys.count({})).toBe(1)
  })

  for (const [method, path, json] of [
    ['PUT', '/api/users/1', { ...ada, name: 'Ada L.', role: 'user' }],
    ['PATCH', '/api/users/1', { age: 3 }],
    ['PATCH', '/api/users/1/status', { status: 'inactive' }],
    ['DELETE', '/api/users/1', undefined],
    ['DELETE', '/api/users?status=active', undefined],
  ] as const) {
    test(`replays the first response of ${method} ${path}`, async () => {
      await using server = await startTestServer()
      await createUser(server)
      const first = await server.request(method, path, { json, headers })
      const again = await server.request(method, path, { json, headers })
      expect(first.status).toBe(200)
      expect([again.status, again.body]).toEqual([200, first.body])
      expect(again.headers.get('etag')).toBe(first.headers.get('etag'))
    })
  }

  for (const [method, path, otherPath, json] of [
    ['PATCH', '/api/users/1/status', '/api/users/2/status', { status: 'inactive' }],
    ['DELETE', '/api/users/1', '/api/users/2', undefined],
    ['DELETE', '/users/1', '/users/2', undefined],
    ['DELETE', '/api/users?status=active', '/api/users?status=inactive', undefined],
  ] as const) {
    test(`of ${method} ${path} is a 409 for ${method} ${otherPath}`, async () => {
      await using server = await startTestServer()
      for (const user of someUsers(2)) await createUser(server, user)
      expect((await server.request(method, path, { json, headers })).status).toBeLessThan(300)
      expect((await server.request(method, otherPath, { json, headers })).status).toBe(409)
    })
  }
})

describe('a request that an earlier version of the service has carried out', () => {
  const repeated = async (lacking: string) => {
    await using server = await startTestServer()
    const first = await server.request('POST', '/items/', { json: lamp, headers })
    await using database = await openDatabase(server)
    await database.write(async (tx) => {
      const where = { procedure: 'items.create', key: 'key-1' }
      const stored = (await tx.idempotencyKeys.find(where)) as IdempotencyKey
      const { [lacking]: _, ...answer } = JSON.parse(stored.answer)
      await tx.idempotencyKeys.deleteAll(where)
      await tx.idempotencyKeys.write([{ create: { ...stored, answer: JSON.stringify(answer) } }])
    })
    // A later version has the defaults of further fields in the request.
    const again = await server.request('POST', '/items/', { json: { ...lamp, category: null }, headers })
    const list = await server.request('GET', '/items/')
    return { first, again, count: list.body.length }
  }

  test('is answered with null for a field that the version did not have', async () => {
    const { first, again, count } = await repeated('category')
    expect([again.status, again.body, count]).toEqual([201, first.body, 1])
  })

  test('is a 409 if the field cannot be null', async () => {
    const { again, count } = await repeated('price')
    const message =
      'An earlier version of the service has carried out this request; its answer does not fit this version'
    expect([again.status, again.body, count]).toEqual([409, { message }, 1])
  })
})

describe('C62 idempotency_key over tRPC', () => {
  test('replays the first response, for every mutation', async () => {
    await using server = await startTestServer()
    const { users, books, items } = server.client
    const idempotency_key = 'key-1'
    const calls = [
      () => users.create.mutate({ ...ada, idempotency_key }),
      () => users.createMany.mutate({ users: someUsers(2), idempotency_key }),
      () => users.replace.mutate({ id: 1, ...ada, name: 'Ada L.', role: 'user', idempotency_key }),
      () => users.update.mutate({ id: 1, age: 36, idempotency_key }),
      () => users.setStatus.mutate({ id: 1, status: 'inactive', idempotency_key }),
      () => users.delete.mutate({ id: 1, idempotency_key }),
      () => users.updateWhere.mutate({ id_gte: 1, changes: { add: { age: 1 } }, idempotency_key }),
      () => users.deleteWhere.mutate({ status: 'active', idempotency_key }),
      () => books.create.mutate({ ...dune, idempotency_key }),
      () => books.replace.mutate({ id: 1, ...dune, idempotency_key }),
      () => books.delete.mutate({ id: 1, idempotency_key }),
      () => items.create.mutate({ ...lamp, idempotency_key }),
      () => items.replace.mutate({ id: 1, ...lamp, idempotency_key }),
      () => items.update.mutate({ id: 1, price: 1, idempotency_key }),
      () => items.delete.mutate({ id: 1, idempotency_key }),
    ]
    const first = []
    for (const call of calls) first.push(await call())
    for (const [index, call] of calls.entries()) expect(await call()).toEqual(first[index])
  })

  test('with a different input is a CONFLICT', async () => {
    await using server = await startTestServer()
    await server.client.items.create.mutate({ ...lamp, idempotency_key: 'key-1' })
    await expect(
      server.client.items.create.mutate({ ...lamp, price: 1, idempotency_key: 'key-1' }),
    ).rejects.toMatchObject({ data: { code: 'CONFLICT', httpStatus: 409 } })
  })

  test('and the header share the keys of a procedure', async () => {
    await using server = await startTestServer()
    const { id } = await server.client.items.create.mutate({ ...lamp, idempotency_key: 'key-1' })
    const { body } = await server.request('POST', '/items/', { json: lamp, headers })
    expect([id, body.item.id]).toEqual([1, 1])
  })

  test('that is too long is an error that names the field', async () => {
    await using server = await startTestServer()
    const refused = server.client.items.create.mutate({ ...lamp, idempotency_key: 'k'.repeat(256) })
    await expect(refused).rejects.toMatchObject({
      data: { code: 'BAD_REQUEST', fields: [{ field: 'idempotency_key', message: expect.stringMatching(/./) }] },
    })
  })
})
