import { type Client, isServiceError, requestIdOf } from '@resource/client'
import { createLocalClient } from '@resource/server/local'
import { describe, expect, test } from 'vitest'
import { createCallers } from './callers.ts'
import { seededRandom, seedOfRun } from './fuzz/random.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { randomWrite, snapshot, write } from './random-writes.ts'
import { createItem, createKey, createUser, openDatabase, someUsers } from './records.ts'

const undo = (server: TestServer, requestId: string | null | undefined, headers = {}) =>
  server.request('POST', '/api/reversals', { json: { request_id: requestId }, headers })

/** The users as the table has them, without what every write changes. */
async function storedUsers(server: TestServer) {
  await using database = await openDatabase(server)
  const order = { column: 'id', descending: false } as const
  const rows = await database.read.users.page({ where: {}, order, take: 1_000 })
  return rows.map(({ version, updated_at, ...row }) => row)
}

describe('C47 a reversal', () => {
  test('gives changed fields their former values', async () => {
    await using server = await startTestServer()
    await createItem(server, { category: 'light' })
    const { headers } = await server.request('PATCH', '/items/1', { json: { price: 30, category: null } })
    const id = headers.get('x-request-id')
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    const { status, body } = await undo(server, id)
    expect([status, body]).toEqual([201, { request_id: id, restored: 0, updated: 1, deleted: 0 }])
    const again = await server.request('PATCH', '/items/1', { json: { price: 31 } })
    const path = '/api/reversals?envelope=true'
    const wrapped = await server.request('POST', path, { json: { request_id: again.headers.get('x-request-id') } })
    expect(wrapped.body.data).toMatchObject({ reversal: { updated: 1 } })
    expect(await server.client.items.get.query({ id: 1 })).toEqual({
      id: 1,
      name: 'Lamp',
      price: 24.5,
      category: 'light',
      version: 5,
    })
  })

  test('takes an id in capital letters, as the audit log does', async () => {
    await using server = await startTestServer()
    await createItem(server)
    const change = async (price: number) =>
      (await server.request('PATCH', '/items/1', { json: { price } })).headers.get('x-request-id')?.toUpperCase() ?? ''
    const [first, second] = [await change(2), await change(3)]
    expect(second).toMatch(/^[\dA-F-]{36}$/)
    expect((await server.request('GET', `/api/audit?request_id=${second}`)).body).toMatchObject([
      { after: { price: 3 } },
    ])
    const done = { restored: 0, updated: 1, deleted: 0 }
    expect(await undo(server, second)).toMatchObject({
      status: 201,
      body: { ...done, request_id: second.toLowerCase() },
    })
    const undone = await server.client.reversals.create.mutate({ request_id: first })
    expect(undone).toEqual({ ...done, request_id: first.toLowerCase() })
    expect((await server.request('GET', '/items/1')).body.price).toBe(24.5)
  })

  test('restores deleted records with their ids, passwords and times, and deletes created ones', async () => {
    await using server = await startTestServer()
    await createUser(server, { password: 'correct horse battery' })
    await server.client.users.createMany.mutate({ users: someUsers(5) })
    const before = await storedUsers(server)
    const deleted = await server.client.users.deleteWhere.mutate({ status: 'active' })
    expect(await storedUsers(server)).toEqual([])
    expect(await server.client.undo(deleted)).toMatchObject({ restored: 6, updated: 0, deleted: 0 })
    expect(await storedUsers(server)).toEqual(before)
    expect((await createUser(server, { email: 'new@example.com' })).id).toBe(7)
    const created = await server.client.users.createMany.mutate({ users: [{ name: 'X', email: 'x@example.com' }] })
    expect(await server.client.undo(created)).toMatchObject({ restored: 0, deleted: 1 })
    expect((await storedUsers(server)).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7])
    // Searches find a restored record.
    expect((await server.client.users.list.query({ q: 'ada' })).users).toHaveLength(2)
  })

  test('restores records in the order of their ids', async () => {
    await using server = await startTestServer()
    const { users, audit } = server.client
    await users.createMany.mutate({ users: someUsers(12) })
    await server.client.undo(await users.deleteWhere.mutate({ status: 'active' }))
    const { audit: entries } = await audit.list.query({ procedure: 'reversals.create', sort: 'id_asc' })
    expect(entries.map(({ record_id }) => record_id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  })

  test('refuses what is no answer of a write', async () => {
    await using server = await startTestServer()
    const message = 'undo: this is not the answer of a call of this client'
    // @ts-expect-error: not an answer
    await expect(server.client.undo(null)).rejects.toThrow(message)
    await expect(server.client.undo({})).rejects.toThrow(message)
  })

  test('undoes a write by its replayed answer, over REST, tRPC and without HTTP', async () => {
    await using server = await startTestServer()
    const repeat = { json: { name: 'Lamp', price: 24.5 }, headers: { 'Idempotency-Key': 'once' } }
    const first = await server.request('POST', '/items/', repeat)
    const again = await server.request('POST', '/items/', repeat)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('x-request-id')).toBe(first.headers.get('x-request-id'))
    const { status, body } = await undo(server, again.headers.get('x-request-id'))
    expect([status, body]).toMatchObject([201, { deleted: 1 }])
    await using local = await createLocalClient({ databaseUrl: server.databaseUrl })
    for (const client of [server.client, local]) {
      const idempotency_key = client === local ? 'local' : 'http'
      await client.items.create.mutate({ name: 'Rug', price: 3, idempotency_key })
      const replayed = await client.items.create.mutate({ name: 'Rug', price: 3, idempotency_key })
      expect(await client.undo(replayed)).toMatchObject({ deleted: 1 })
    }
    expect((await server.client.items.list.query({})).items).toEqual([])
  })

  test('undoes a password, and its own reversal, but no later password', async () => {
    await using server = await startTestServer()
    await createUser(server, { password: 'the first long password' })
    const hashes = async () => (await storedUsers(server)).map(({ password_hash }) => password_hash)
    const first = await hashes()
    const changed = await server.client.users.update.mutate({ id: 1, password: 'the second long password', age: 5 })
    const second = await hashes()
    const undone = await server.client.undo(changed)
    expect(await hashes()).toEqual(first)
    await server.client.undo(undone)
    expect(await hashes()).toEqual(second)
    await server.client.users.update.mutate({ id: 1, password: 'the third long password' })
    const { status, body } = await undo(server, requestIdOf(changed))
    expect([status, body.error.message]).toEqual([412, 'users[1].password: was changed since'])
    expect([(await hashes())[0] === second[0], (await storedUsers(server))[0]?.age]).toEqual([false, 5])
  })

  test('is a 409 for a request that is undone already, even if another caller has written the same value since', async () => {
    await using server = await startTestServer()
    const { users, items } = server.client
    await createItem(server)
    const changed = await items.update.mutate({ id: 1, price: 30 })
    const deleted = await users.create.mutate(someUsers(1)[0] as object as { name: string; email: string })
    const undone = await server.client.undo(changed)
    await server.client.undo(deleted)
    const again = { status: 409, message: 'This request is undone already' }
    for (const request of [changed, deleted]) await expect(server.client.undo(request)).rejects.toMatchObject(again)
    await items.update.mutate({ id: 1, price: 30 })
    await expect(server.client.undo(changed)).rejects.toMatchObject(again)
    expect((await items.get.query({ id: 1 })).price).toBe(30)
    await items.update.mutate({ id: 1, price: 24.5 })
    await server.client.undo(undone)
    await server.client.undo(changed)
    expect((await items.get.query({ id: 1 })).price).toBe(24.5)
  })

  test('repeated with the same key while it runs gets the first answer', async () => {
    await using server = await startTestServer()
    const prices = [1, 2, 3].map((id) => ({ id, price: 9 }))
    for (const { id } of prices) await createItem(server, { name: `Item ${id}` })
    for (let round = 0; round < 10; round++) {
      const { headers } = await server.request('PATCH', '/items/bulk', { json: prices })
      const key = { 'Idempotency-Key': `round-${round}` }
      const answers = await Promise.all([1, 2, 3].map(() => undo(server, headers.get('x-request-id'), key)))
      const done = { request_id: headers.get('x-request-id'), restored: 0, updated: 3, deleted: 0 }
      expect(answers.map(({ status, body }) => [status, body])).toEqual(answers.map(() => [201, done]))
    }
  })

  test('leaves later changes of other fields, and refuses to overwrite one of its own: all or none', async () => {
    await using server = await startTestServer()
    for (const name of ['Lamp', 'Rug', 'Chair']) await createItem(server, { name })
    const { items } = server.client
    const many = await items.updateMany.mutate({ items: [1, 2, 3].map((id) => ({ id, price: 9 })) })
    await items.update.mutate({ id: 2, category: 'floor' })
    await server.client.undo(many)
    expect((await items.list.query()).items.map(({ price, category }) => [price, category])).toEqual([
      [24.5, null],
      [24.5, 'floor'],
      [24.5, null],
    ])
    const again = await items.updateMany.mutate({ items: [1, 2, 3].map((id) => ({ id, price: 9 })) })
    await items.update.mutate({ id: 1, price: 8 })
    await items.delete.mutate({ id: 3 })
    const before = await snapshot(server.client)
    const { status, body } = await undo(server, requestIdOf(again))
    expect([status, body.error.message, body.error.reason]).toEqual([
      412,
      'items[3]: was deleted since: there is no such item; items[1].price: was changed since',
      'changed_since',
    ])
    expect(await snapshot(server.client)).toEqual(before)
  })

  test('refuses a unique value that another record has taken, and names the record', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const deleted = await server.client.users.delete.mutate({ id: 1 })
    await createUser(server)
    const { status, body } = await undo(server, requestIdOf(deleted))
    expect([status, body.error.message]).toEqual([409, 'users[1].email: already in use by another user'])
  })

  test('can be previewed, and has the effect of its preview', async () => {
    await using server = await startTestServer()
    await createItem(server)
    const request_id = requestIdOf(await server.client.items.delete.mutate({ id: 1 })) ?? ''
    const preview = await server.client.preview('reversals.create', { request_id })
    const lamp = { id: 1, name: 'Lamp', price: 24.5, category: null, version: 1 }
    expect(preview).toMatchObject({ created: 1, changes: [{ resource: 'items', id: 1, before: null, after: lamp }] })
    await server.client.reversals.create.mutate({ request_id }, { ifEffect: preview.effect })
    expect(await server.client.items.get.query({ id: 1 })).toEqual(lamp)
  })

  test('counts a record once that its request has changed twice, as does its preview', async () => {
    await using server = await startTestServer()
    await createItem(server)
    await createItem(server, { name: 'Rug' })
    const { items } = server.client
    const [priced] = await Promise.all([
      items.update.mutate({ id: 1, price: 30 }),
      items.update.mutate({ id: 1, category: 'floor' }),
      items.delete.mutate({ id: 2 }),
    ])
    const request_id = requestIdOf(priced) ?? ''
    const lamp = { id: 1, name: 'Lamp', price: 24.5, category: null, version: 5 }
    const rug = { id: 2, name: 'Rug', price: 24.5, category: null, version: 1 }
    const { changes, ...counts } = await server.client.preview('reversals.create', { request_id })
    expect(counts).toMatchObject({ created: 1, updated: 1, deleted: 0 })
    expect(changes.toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual([
      { resource: 'items', id: 1, before: { ...lamp, price: 30, category: 'floor', version: 3 }, after: lamp },
      { resource: 'items', id: 2, before: null, after: rug },
    ])
    const undone = await server.client.undo(priced)
    expect(undone).toEqual({ request_id, restored: 1, updated: 1, deleted: 0 })
    expect((await items.list.query()).items).toEqual([lamp, rug])
    expect(await server.client.undo(undone)).toMatchObject({ restored: 0, updated: 1, deleted: 1 })
  })

  test('needs the rights of the inverse, by field', async () => {
    await using server = await startTestServer()
    await createUser(server)
    await createUser(server, { email: 'admin@example.com', role: 'admin' })
    const callers = await createCallers(server)
    const as = (kind: 'reader' | 'writer' | 'admin') => ({ headers: { Authorization: callers[kind] ?? '' } })
    const deleted = await server.request('DELETE', '/api/users/2', as('admin'))
    const aged = await server.request('PATCH', '/api/users/1', { json: { age: 3 }, ...as('admin') })
    const outcome = async (kind: 'reader' | 'writer' | 'admin', { headers }: typeof aged) =>
      (await undo(server, headers.get('x-request-id'), as(kind).headers)).status
    expect(await outcome('reader', aged)).toBe(403)
    expect(await outcome('writer', aged)).toBe(201)
    const promoted = await server.request('PATCH', '/api/users/1', { json: { role: 'admin' }, ...as('admin') })
    for (const request of [deleted, promoted]) {
      expect(await outcome('writer', request)).toBe(403)
      expect(await outcome('admin', request)).toBe(201)
    }
  })

  test('refuses an unknown request, and one that changed keys', async () => {
    await using server = await startTestServer()
    const outcome = async (id: string | null) => {
      const { status, body } = await undo(server, id)
      return [status, body.error.message]
    }
    expect(await outcome('01989f2e-6a00-7c3e-8a51-3f0f4d1c9b20')).toEqual([
      404,
      'The audit log has no changes of this request',
    ])
    expect(await outcome('b6f1a3c2-6a00-4c3e-8a51-3f0f4d1c9b20')).toEqual([
      400,
      'request_id: must be the X-Request-Id of the answer to a write',
    ])
    const { headers } = await server.request('POST', '/api/keys', { json: { name: 'x', role: 'admin' } })
    server.logIn((await createLocalKey(server)).key)
    expect(await outcome(headers.get('x-request-id'))).toEqual([409, 'keys.create cannot be undone'])
  })

  test('never shows what is kept of hidden columns', async () => {
    await using server = await startTestServer()
    await createUser(server, { password: 'correct horse battery' })
    await server.client.users.delete.mutate({ id: 1 })
    const { body } = await server.request('GET', '/api/audit')
    expect(body).toHaveLength(2)
    expect(JSON.stringify([body, await server.client.audit.get.query({ id: 2 })])).not.toMatch(/argon2|kept/)
    await using local = await createLocalClient({ databaseUrl: server.databaseUrl })
    expect(JSON.stringify(await local.audit.list.query({}))).not.toMatch(/argon2|kept/)
    await local.undo(await local.users.create.mutate({ name: 'Bo', email: 'bo@example.com' }))
  })
})

async function createLocalKey({ databaseUrl }: TestServer) {
  await using local = await createLocalClient({ databaseUrl })
  return await local.keys.create.mutate({ name: 'test', role: 'admin' })
}

const WRITES = 200

test('C47 after 200 random writes, undone newest first, the tables are as at the beginning', async () => {
  await using server = await startTestServer()
  const { key } = await createKey(server)
  server.logIn(key)
  const client: Client = server.client
  await client.users.createMany.mutate({
    users: someUsers(4).map((user) => ({ ...user, password: `${user.name} has it` })),
  })
  await createItem(server)
  const states = async () => {
    const records = [...(await snapshot(client))].filter(([name]) => !name.startsWith('keys'))
    const rows = records.map(([name, { version, updated_at, ...row }]) => [name, row])
    return [rows, await storedUsers(server)]
  }
  const before = await states()
  const random = seededRandom(seedOfRun())
  const answers: object[] = []
  while (answers.length < WRITES) {
    const planned = randomWrite(random, await snapshot(client))
    if (planned.operation.startsWith('keys')) continue
    try {
      answers.push((await write(client, planned)) as object)
    } catch (error) {
      if (!isServiceError(error) || error.status >= 500) throw error
    }
  }
  expect(await states()).not.toEqual(before)
  let undone = 0
  for (const answer of answers.toReversed()) {
    try {
      await client.undo(answer)
      undone++
    } catch (error) {
      // A write that changed nothing has no entries.
      if (!isServiceError(error) || error.status !== 404) throw error
    }
  }
  expect(undone).toBeGreaterThan(WRITES / 2)
  expect(await states()).toEqual(before)
})

test('C47 a reversal beside other writers undoes all or nothing, and loses none of their writes', async () => {
  await using server = await startTestServer()
  const { client } = server
  const ids = [1, 2, 3, 4]
  for (const id of ids) await createItem(server, { name: `Item ${id}`, price: 1 })
  const outcomes = { undone: 0, refused: 0 }
  for (let round = 2; round < 22; round++) {
    const raised = await client.items.updateMany.mutate({ items: ids.map((id) => ({ id, price: round * 10 })) })
    const writers = ids.map((id) => client.items.update.mutate({ id, category: `${round}` }))
    const rival = round % 2 === 0 ? client.items.update.mutate({ id: 3, price: round * 10 + 1 }) : undefined
    const undone = await client.undo(raised).then(
      () => true,
      (error) => {
        expect(error.reason).toBe('changed_since')
        return false
      },
    )
    await Promise.all([...writers, rival])
    outcomes[undone ? 'undone' : 'refused']++
    const { items } = await client.items.list.query()
    expect(items.map(({ category }) => category)).toEqual(ids.map(() => `${round}`))
    if (!undone) expect(items.map(({ price }) => price)).toEqual([round * 10, round * 10, round * 10 + 1, round * 10])
    await client.items.updateMany.mutate({ items: ids.map((id) => ({ id, price: 1 })) })
  }
  expect(outcomes.undone).toBeGreaterThan(0)
})
