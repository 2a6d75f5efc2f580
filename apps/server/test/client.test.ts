import { createClient } from '@resource/client'
import { contract } from '@resource/contract'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { startTestServer, type TestServer } from './harness.ts'
import { aTimestamp, someUsers } from './records.ts'
import { SPECIFIED } from './samples.ts'

const ada = { name: 'Ada', email: 'ada@example.com' }
const dune = { title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' }
const lamp = { name: 'Lamp', price: 24.5 }
const wholeAda = {
  id: 1,
  name: 'Ada',
  email: 'ada@example.com',
  role: 'user',
  status: 'active',
  age: null,
  created_at: aTimestamp,
  updated_at: aTimestamp,
  version: 1,
}

/** The logged paths under /trpc. */
function calls(server: TestServer): string[] {
  return server.log
    .map((line) => JSON.parse(line) as { path?: string })
    .flatMap(({ path }) => (path?.startsWith('/trpc') ? [path] : []))
}

const changes_cursor = expect.stringMatching(/^\d+-[\da-z]+$/)

test('a list needs no input, and an unknown field is refused', async () => {
  await using server = await startTestServer()
  expect(await server.client.books.list.query()).toMatchObject({ books: [], next: null })
  await server.client.users.createMany.mutate({ users: someUsers(2) })
  for (const [call, field] of [
    // @ts-expect-error: users have no category
    [() => server.client.users.deleteWhere.mutate({ status: 'active', category: 'x' }), 'category'],
    // @ts-expect-error: users have no category
    [() => server.client.users.list.query({ category: 'x' }), 'category'],
  ] as const) {
    await expect(call()).rejects.toMatchObject({
      message: `${field}: is not a recognized field`,
      data: { httpStatus: 400, fields: [{ field, message: 'is not a recognized field' }] },
    })
  }
  expect((await server.client.users.list.query({ count: true })).total).toBe(2)
})

test('C63 the procedures of the specified resources match the API rules', () => {
  const names = Object.entries(contract).flatMap(([noun, { procedures }]) =>
    SPECIFIED.includes(noun) ? Object.keys(procedures).map((verb) => `${noun}.${verb}`) : [],
  )
  expect(names.sort()).toEqual([
    'audit.get',
    'audit.list',
    'books.create',
    'books.createMany',
    'books.delete',
    'books.deleteWhere',
    'books.get',
    'books.list',
    'books.replace',
    'books.summarize',
    'books.updateMany',
    'books.updateWhere',
    'changes.list',
    'items.create',
    'items.createMany',
    'items.delete',
    'items.deleteWhere',
    'items.get',
    'items.list',
    'items.replace',
    'items.summarize',
    'items.update',
    'items.updateMany',
    'items.updateWhere',
    'keys.create',
    'keys.get',
    'keys.list',
    'keys.revoke',
    'keys.rotate',
    'previews.create',
    ...['proposals.create', 'proposals.get', 'proposals.list', 'proposals.setStatus'],
    'reversals.create',
    'reversals.open',
    ...['sessions.end', 'sessions.get', 'sessions.list'],
    'users.create',
    'users.createMany',
    'users.delete',
    'users.deleteWhere',
    'users.get',
    'users.list',
    'users.replace',
    'users.setStatus',
    'users.summarize',
    'users.update',
    'users.updateMany',
    'users.updateWhere',
  ])
})

describe('users', () => {
  test('C62 create and get return the whole public record', async () => {
    await using server = await startTestServer()
    const created = await server.client.users.create.mutate({ ...ada, password: 'correct horse' })
    expect(created).toEqual(wholeAda)
    const read = await server.client.users.get.query({ id: 1 })
    expect(read).toEqual(created)
    expectTypeOf(read.age).toEqualTypeOf<number | null>()
    expectTypeOf(read.role).toEqualTypeOf<'admin' | 'user'>()
  })

  test('C62 list returns the records with the page metadata', async () => {
    await using server = await startTestServer()
    await server.client.users.create.mutate(ada)
    expect(await server.client.users.list.query({})).toEqual({
      users: [wholeAda],
      page: 1,
      limit: 100,
      next: null,
      changes_cursor,
    })
  })

  test('list filters, sorts, counts and pages by cursor', async () => {
    await using server = await startTestServer()
    await server.client.users.createMany.mutate({ users: someUsers(5).map((user) => ({ ...user, age: 30 })) })
    await server.client.users.create.mutate(ada)
    const query = { age: 30, sort: 'name_desc', limit: 2, count: true } as const
    const first = await server.client.users.list.query({ ...query, after: '' })
    expect(first.users.map(({ id }) => id)).toEqual([5, 4])
    expect(first).toEqual({ users: first.users, limit: 2, next: expect.stringMatching(/./), total: 5, changes_cursor })
    const second = await server.client.users.list.query({ ...query, after: first.next ?? '' })
    expect(second.users.map(({ id }) => id)).toEqual([3, 2])
    const last = await server.client.users.list.query({ ...query, after: second.next ?? '' })
    expect(last.users.map(({ id }) => id)).toEqual([1])
    expect(last.next).toBeNull()
    const page = await server.client.users.list.query({ ...query, page: 2 })
    expect(page.users.map(({ id }) => id)).toEqual([3, 2])
    expect([page.page, page.limit, page.total]).toEqual([2, 2, 5])
  })

  test('list by cursor of an empty collection, or of a page past the end, has no next cursor', async () => {
    await using server = await startTestServer()
    expect(await server.client.users.list.query({ after: '' })).toEqual({
      users: [],
      limit: 100,
      next: null,
      changes_cursor,
    })
    expect(await server.client.users.list.query({ page: 9, limit: 5000 })).toEqual({
      users: [],
      page: 9,
      limit: 1000,
      next: null,
      changes_cursor,
    })
  })

  test('createMany returns the records in the order sent', async () => {
    await using server = await startTestServer()
    const { users } = await server.client.users.createMany.mutate({ users: [{ ...ada, name: 'Zoe' }, ...someUsers(1)] })
    expect(users).toEqual([
      { ...wholeAda, name: 'Zoe' },
      { ...wholeAda, id: 2, name: 'User 1', email: 'user1@example.com' },
    ])
  })

  test('replace, update and setStatus return the whole record', async () => {
    await using server = await startTestServer()
    await server.client.users.create.mutate({ ...ada, role: 'admin', age: 36 })
    expect(await server.client.users.replace.mutate({ id: 1, ...ada, name: 'Eve', role: 'user' })).toEqual({
      ...wholeAda,
      name: 'Eve',
      age: 36,
      version: 2,
    })
    expect(await server.client.users.update.mutate({ id: 1, age: 40 })).toEqual({
      ...wholeAda,
      name: 'Eve',
      age: 40,
      version: 3,
    })
    expect(await server.client.users.setStatus.mutate({ id: 1, status: 'inactive' })).toEqual({
      ...wholeAda,
      name: 'Eve',
      age: 40,
      status: 'inactive',
      version: 4,
    })
  })

  test('delete and deleteWhere return a message', async () => {
    await using server = await startTestServer()
    await server.client.users.createMany.mutate({ users: someUsers(3) })
    expect(await server.client.users.delete.mutate({ id: 1 })).toEqual({ message: expect.stringMatching(/./) })
    expect(await server.client.users.deleteWhere.mutate({ status: 'active' })).toEqual({
      message: '2 active users removed',
      removed: 2,
    })
    expect((await server.client.users.list.query({})).users).toEqual([])
  })
})

describe('books', () => {
  test('create, get, list, replace and delete work', async () => {
    await using server = await startTestServer()
    const { books } = server.client
    const book = { id: 1, ...dune, version: 1 }
    expect(await books.create.mutate(dune)).toEqual(book)
    expect(await books.get.query({ id: 1 })).toEqual(book)
    expect(await books.list.query({ count: true })).toEqual({
      books: [book],
      page: 1,
      limit: 100,
      next: null,
      changes_cursor,
      total: 1,
    })
    const emma = { title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' }
    expect(await books.replace.mutate({ id: 1, ...emma })).toEqual({ id: 1, ...emma, version: 2 })
    expect(await books.delete.mutate({ id: 1 })).toEqual({ message: expect.stringMatching(/./) })
    expect((await books.list.query({})).books).toEqual([])
  })
})

describe('items', () => {
  test('create, get, list, replace, update and delete work', async () => {
    await using server = await startTestServer()
    const { items } = server.client
    const item = { id: 1, name: 'Lamp', price: 24.5, category: null, version: 1 }
    expect(await items.create.mutate(lamp)).toEqual(item)
    expect(await items.get.query({ id: 1 })).toEqual(item)
    expect(await items.list.query({ price_lt: 25 })).toEqual({
      items: [item],
      page: 1,
      limit: 100,
      next: null,
      changes_cursor,
    })
    expect(await items.list.query({ category: 'x' })).toEqual({
      items: [],
      page: 1,
      limit: 100,
      next: null,
      changes_cursor,
    })
    expect(await items.replace.mutate({ id: 1, ...lamp, category: 'x' })).toEqual({
      ...item,
      category: 'x',
      version: 2,
    })
    expect(await items.update.mutate({ id: 1, price: 1 })).toEqual({ ...item, price: 1, category: 'x', version: 3 })
    expect(await items.delete.mutate({ id: 1 })).toEqual({ message: expect.stringMatching(/./) })
    expect((await items.list.query({})).items).toEqual([])
  })
})

describe('errors', () => {
  test('a missing record is NOT_FOUND with the same message as over REST', async () => {
    await using server = await startTestServer()
    const { users, books, items } = server.client
    for (const [call, message] of [
      [() => users.get.query({ id: 7 }), 'User not found'],
      [() => users.replace.mutate({ id: 7, ...ada, role: 'user' }), 'User not found'],
      [() => users.update.mutate({ id: 7, age: 1 }), 'User not found'],
      [() => users.setStatus.mutate({ id: 7, status: 'active' }), 'User not found'],
      [() => users.delete.mutate({ id: 7 }), 'User not found'],
      [() => books.get.query({ id: 7 }), 'Book not found'],
      [() => books.replace.mutate({ id: 7, ...dune }), 'Book not found'],
      [() => books.delete.mutate({ id: 7 }), 'Book not found'],
      [() => items.get.query({ id: 7 }), 'Item not found'],
      [() => items.replace.mutate({ id: 7, ...lamp }), 'Item not found'],
      [() => items.update.mutate({ id: 7, price: 1 }), 'Item not found'],
      [() => items.delete.mutate({ id: 7 }), 'Item not found'],
    ] as const) {
      await expect(call()).rejects.toMatchObject({
        name: 'NotFoundError',
        message,
        data: { code: 'NOT_FOUND', httpStatus: 404, fields: [] },
      })
    }
  })

  test('an invalid field is BAD_REQUEST, and the error names each field', async () => {
    await using server = await startTestServer()
    await expect(server.client.users.create.mutate({ name: '', email: 'nonsense' })).rejects.toMatchObject({
      name: 'InvalidInputError',
      message: expect.stringContaining('name: must be text of 1 to 200 characters'),
      data: {
        code: 'BAD_REQUEST',
        httpStatus: 400,
        fields: [
          { field: 'name', message: 'must be text of 1 to 200 characters' },
          { field: 'email', message: 'must be a valid e-mail address of at most 254 characters' },
        ],
      },
    })
  })

  test('an invalid element of a bulk create is named by its index', async () => {
    await using server = await startTestServer()
    const refused = server.client.users.createMany.mutate({ users: [...someUsers(2), { ...ada, age: 200 }] })
    await expect(refused).rejects.toMatchObject({
      data: { code: 'BAD_REQUEST', fields: [{ field: 'users[2].age', message: expect.stringMatching(/0 to 150/) }] },
    })
  })

  test('U19 the message for missing fields is the same as over REST', async () => {
    await using server = await startTestServer()
    // @ts-expect-error name and email are required
    await expect(server.client.users.create.mutate({})).rejects.toMatchObject({
      message: 'Missing required fields: name, email',
      data: { code: 'BAD_REQUEST', fields: [{ field: 'name' }, { field: 'email' }] },
    })
  })

  test('a taken e-mail address is CONFLICT', async () => {
    await using server = await startTestServer()
    await server.client.users.create.mutate(ada)
    const again = { ...ada, email: 'ADA@example.com' }
    for (const call of [
      () => server.client.users.create.mutate(again),
      () => server.client.users.createMany.mutate({ users: [again] }),
    ]) {
      await expect(call()).rejects.toMatchObject({
        data: { code: 'CONFLICT', httpStatus: 409, fields: [{ field: expect.stringMatching(/email$/) }] },
      })
    }
  })

  test('an update of only unknown fields is BAD_REQUEST', async () => {
    await using server = await startTestServer()
    await server.client.users.create.mutate(ada)
    await server.client.items.create.mutate(lamp)
    for (const call of [
      // @ts-expect-error there is no such field
      () => server.client.users.update.mutate({ id: 1, nickname: 'Ada' }),
      // @ts-expect-error there is no such field
      () => server.client.items.update.mutate({ id: 1, colour: 'red' }),
    ]) {
      await expect(call()).rejects.toMatchObject({ data: { code: 'BAD_REQUEST', httpStatus: 400 } })
    }
  })

  test('C62 a stale if_version is PRECONDITION_FAILED', async () => {
    await using server = await startTestServer()
    await server.client.items.create.mutate(lamp)
    await expect(server.client.items.update.mutate({ id: 1, price: 1, if_version: 9 })).rejects.toMatchObject({
      data: { code: 'PRECONDITION_FAILED', httpStatus: 412 },
    })
  })

  test('an invalid query is BAD_REQUEST', async () => {
    await using server = await startTestServer()
    for (const call of [
      () => server.client.users.list.query({ page: 0 }),
      () => server.client.books.list.query({ limit: 0 }),
      () => server.client.items.list.query({ after: 'garbage' }),
      () => server.client.items.list.query({ page: 1, after: '' }),
      () => server.client.books.get.query({ id: 1.5 }),
    ]) {
      await expect(call()).rejects.toMatchObject({
        data: { code: 'BAD_REQUEST', fields: [{ message: expect.any(String) }] },
      })
    }
  })

  test('a password shorter than the configured minimum is BAD_REQUEST', async () => {
    await using server = await startTestServer({ PASSWORD_MIN_LENGTH: '12' })
    server.logIn((await server.client.keys.create.mutate({ name: 'test', role: 'admin' })).key)
    await expect(server.client.users.create.mutate({ ...ada, password: '12345678901' })).rejects.toMatchObject({
      data: { code: 'BAD_REQUEST', fields: [{ field: 'password', message: expect.stringContaining('12') }] },
    })
  })

  test('an unknown procedure is NOT_FOUND in tRPC’s own form', async () => {
    await using server = await startTestServer()
    const response = await fetch(`${server.url}/trpc/users.nothing`)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { data: { code: 'NOT_FOUND', httpStatus: 404 } } })
  })
})

test('C62 /trpc uses plain JSON', async () => {
  await using server = await startTestServer()
  const created = await fetch(`${server.url}/trpc/items.create`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(lamp),
  })
  const item = { id: 1, name: 'Lamp', price: 24.5, category: null, version: 1 }
  expect(created.status).toBe(200)
  expect(await created.json()).toEqual({ result: { data: item } })
  const read = await fetch(`${server.url}/trpc/items.get?input=${encodeURIComponent('{"id":1}')}`)
  expect(await read.json()).toEqual({ result: { data: item } })
})

describe('batching', () => {
  test('two calls in one tick are one HTTP request', async () => {
    await using server = await startTestServer()
    await server.client.books.create.mutate(dune)
    const [books, items] = await Promise.all([server.client.books.list.query({}), server.client.items.list.query({})])
    expect([books.books.length, items.items.length]).toEqual([1, 0])
    await expect.poll(() => calls(server)).toEqual(['/trpc/books.create', '/trpc/books.list,items.list'])
  })

  test('a bulk create is sent separately: several in one request could exceed its size limit', async () => {
    await using server = await startTestServer()
    const items = Array.from({ length: 600 }, () => lamp)
    const [first, second, book] = await Promise.all([
      server.client.items.createMany.mutate({ items }),
      server.client.items.createMany.mutate({ items }),
      server.client.books.create.mutate(dune),
    ])
    expect([first.items.length, second.items.length, book.id]).toEqual([600, 600, 1])
    await expect
      .poll(async () => (await calls(server)).sort())
      .toEqual(['/trpc/books.create', '/trpc/items.createMany', '/trpc/items.createMany'])
  })

  test('writes by filter that are made at once all run, each in a request of its own', async () => {
    await using server = await startTestServer()
    await server.client.items.create.mutate(lamp)
    const raise = { id_gte: 1, changes: { add: { price: 1 } } }
    const updateWhere = () => server.client.items.updateWhere.mutate(raise)
    const outcomes = await Promise.all([updateWhere(), updateWhere(), updateWhere()])
    expect(outcomes).toEqual(Array(3).fill({ matched: 1, changed: 1 }))
    expect((await server.client.items.get.query({ id: 1 })).price).toBe(27.5)
  })

  test('a failing call of a batch does not affect the others', async () => {
    await using server = await startTestServer()
    const [item, missing] = await Promise.allSettled([
      server.client.items.create.mutate(lamp),
      server.client.books.replace.mutate({ id: 7, ...dune }),
    ])
    expect(item).toMatchObject({ status: 'fulfilled', value: { id: 1 } })
    expect(missing).toMatchObject({ status: 'rejected', reason: { data: { code: 'NOT_FOUND' } } })
    await expect.poll(() => calls(server)).toEqual(['/trpc/items.create,books.replace'])
  })
})

describe('C12 a field that the service does not know', () => {
  const ada = { name: 'Ada', email: 'ada@example.com', nickname: 'Countess' }

  test('is an error over the typed client, in a single call, in a batch and in a list', async () => {
    await using server = await startTestServer()
    const client = createClient({ baseUrl: server.url })
    const message = 'nickname: is not a recognized field'
    await expect(client.users.create.mutate(ada)).rejects.toMatchObject({ status: 400, message })
    const calls = [client.users.create.mutate(ada), client.users.create.mutate({ ...ada, name: 'Bob' })]
    for (const outcome of await Promise.allSettled(calls)) expect(outcome).toMatchObject({ reason: { message } })
    await expect(client.users.createMany.mutate({ users: [ada] })).rejects.toMatchObject({
      fields: [{ field: 'users[0].nickname', message: 'is not a recognized field' }],
    })
    expect((await client.users.list.query({ count: true })).total).toBe(0)
  })

  test('is ignored if it is a field of the response: a client sends back what it has read', async () => {
    await using server = await startTestServer()
    const client = createClient({ baseUrl: server.url })
    const book = await client.books.create.mutate({ title: 'Kindred', author: 'Butler', published_date: '1979-06-01' })
    expect(await client.books.replace.mutate({ ...book, title: 'Kindred!' })).toMatchObject({ title: 'Kindred!' })
  })
})
