import { createLocalClient } from '@resource/server/local'
import { describe, expect, test } from 'vitest'
import { createCallers } from './callers.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { createItem, createKey, createUser, openDatabase, someUsers } from './records.ts'

const anEffect = expect.stringMatching(/^[\w-]{43}$/)
const preview = async (server: TestServer, operation: string, input: object, headers = {}) =>
  (await server.request('POST', '/api/previews', { json: { operation, input }, headers })).body

/** All rows of the database, without when keys were last used. */
async function rowsOf(server: TestServer) {
  await using database = await openDatabase(server)
  const { users, books, items, apiKeys, auditEntries, idempotencyKeys } = database.read
  const order = { column: 'id', descending: false } as const
  const query = { where: {}, order, take: 1_000 }
  const keys = (await apiKeys.page(query)).map(({ last_used_at: _, version: __, ...key }) => key)
  return {
    users: await users.page(query),
    books: await books.page(query),
    items: await items.page(query),
    keys,
    audit: await auditEntries.page(query),
    replayable: await idempotencyKeys.count({}),
  }
}

test('C44, C49 the preview of a proposer is that of a proposal, also of a write that a writer can neither do nor preview', async () => {
  await using server = await startTestServer()
  await createItem(server)
  const callers = await createCallers(server)
  const json = { operation: 'items.deleteWhere', input: { id_gte: 1 } }
  const statuses: Record<string, number> = {}
  for (const kind of ['reader', 'proposer', 'writer', 'admin'] as const) {
    const headers = { Authorization: callers[kind] ?? '' }
    const { status, body } = await server.request('POST', '/api/previews', { json, headers })
    statuses[kind] = status
    if (kind !== 'proposer') continue
    const proposed = await server.request('POST', '/api/proposals', { json: { ...json, reason: 'Old' }, headers })
    expect(proposed.body).toMatchObject({ ...body, deleted: 1 })
  }
  expect(statuses).toEqual({ reader: 403, proposer: 200, writer: 403, admin: 200 })
})

describe('C44 a preview', () => {
  test('shows the records before and after a change', async () => {
    await using server = await startTestServer()
    await createItem(server)
    const lamp = { id: 1, name: 'Lamp', price: 24.5, category: null, version: 1 }
    expect(await preview(server, 'updateItem', { id: 1, price: 30 })).toEqual({
      effect: anEffect,
      created: 0,
      updated: 1,
      deleted: 0,
      changes: [{ resource: 'items', id: 1, before: lamp, after: { ...lamp, price: 30, version: 2 } }],
    })
    expect(await preview(server, 'items.delete', { id: 1 })).toEqual({
      effect: anEffect,
      created: 0,
      updated: 0,
      deleted: 1,
      changes: [{ resource: 'items', id: 1, before: lamp, after: null }],
    })
    expect(await preview(server, 'items.update', { id: 1, price: 24.5 })).toEqual({
      effect: anEffect,
      created: 0,
      updated: 0,
      deleted: 0,
      changes: [],
    })
  })

  test('shows a new record without what the service assigns, and a password as set', async () => {
    await using server = await startTestServer()
    const input = { name: 'Ada', email: 'ada@example.com', password: 'correct horse' }
    const fields = { name: 'Ada', email: 'ada@example.com', role: 'user', status: 'active', age: null }
    expect(await preview(server, 'users.create', input)).toEqual({
      effect: anEffect,
      created: 1,
      updated: 0,
      deleted: 0,
      changes: [{ resource: 'users', id: null, before: null, after: { ...fields, password: 'set' } }],
    })
    const { changes } = await preview(server, 'keys.create', { name: 'import', role: 'writer' })
    expect(changes[0].after).toEqual({ name: 'import', role: 'writer', owner: null, expires_at: null })
  })

  test('shows the first 100 changes and counts all', async () => {
    await using server = await startTestServer()
    await server.client.users.createMany.mutate({ users: someUsers(130) })
    const { deleted, changes } = await server.client.preview('users.deleteWhere', { status: 'active' })
    expect([deleted, changes.length, changes[99]?.id]).toEqual([130, 100, 100])
  })

  test('leaves out the rows that fail with partial success', async () => {
    await using server = await startTestServer()
    await createUser(server)
    await createUser(server, { email: 'bo@example.com' })
    const users = [
      { id: 1, name: 'Al' },
      { id: 2, email: 'ada@example.com' },
      { id: 9, name: 'Di' },
    ]
    const { updated, changes, effect } = await server.client.preview('users.updateMany', { users, partial: true })
    expect([updated, changes.map(({ id, after }) => [id, after?.name])]).toEqual([1, [[1, 'Al']]])
    await server.client.users.updateMany.mutate({ users, partial: true }, { ifEffect: effect })
  })

  test('leaves no trace, and gives the same effect again', async () => {
    await using server = await startTestServer()
    const { key } = await createKey(server)
    server.logIn(key)
    await createKey(server, { role: 'reader' })
    await createUser(server, { password: 'correct horse battery' })
    await createItem(server)
    const rows = await rowsOf(server)
    const writes: [string, object][] = [
      ['users.create', { name: 'Bo', email: 'bo@example.com', password: 'another long password' }],
      ['users.update', { id: 1, password: 'a third long password' }],
      ['users.replace', { id: 1, name: 'Al', email: 'al@example.com', role: 'admin', status: 'inactive' }],
      ['users.delete', { id: 1 }],
      ['users.setStatus', { id: 1, status: 'inactive' }],
      ['users.deleteWhere', { status: 'active' }],
      ['users.createMany', { users: someUsers(20) }],
      [
        'users.updateMany',
        {
          users: [
            { email: 'ada@example.com', age: 3 },
            { email: 'new@example.com', name: 'New' },
          ],
          key: 'email',
          create: true,
        },
      ],
      ['users.deleteWhere', { id_in: [1, 7] }],
      ['items.updateMany', { items: [{ id: 1, price: 1 }] }],
      ['items.create', { name: 'Rug', price: 2 }],
      ['keys.create', { name: 'other', role: 'reader' }],
      ['keys.rotate', { id: 2, grace: 60 }],
      ['keys.revoke', { id: 2 }],
    ]
    for (const [operation, input] of writes) {
      const given = { ...input, idempotency_key: 'one' }
      const first = await preview(server, operation, given, { 'Idempotency-Key': 'two' })
      expect(first.effect, operation).toEqual(anEffect)
      expect((await preview(server, operation, given)).effect).toBe(first.effect)
    }
    expect(await rowsOf(server)).toEqual(rows)
    // The id that previews have had.
    if (server.databaseUrl.startsWith('file:')) expect((await createItem(server)).id).toBe(2)
  })

  test('uses up no ids', async () => {
    await using server = await startTestServer()
    await preview(server, 'users.create', someUsers(1)[0] as object)
    const { created } = await preview(server, 'users.createMany', { users: someUsers(300) })
    const upsert = { items: [{ name: 'Lamp', price: 1 }], create: true, key: 'name' }
    await preview(server, 'items.updateMany', upsert)
    const user = await server.client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
    expect([created, user.id]).toEqual([300, 1])
  })

  test('has the errors of the write, at the paths of its input', async () => {
    await using server = await startTestServer()
    const refused = async (operation: string, input: object) => {
      const answer = await server.request('POST', '/api/previews', { json: { operation, input } })
      return [answer.status, answer.body.error.message]
    }
    for (const idempotency_key of ['', 'a b', 'x'.repeat(256), 7]) {
      expect(await refused('items.create', { name: 'Rug', price: 2, idempotency_key })).toEqual([
        400,
        'input.idempotency_key: must be 1 to 255 visible ASCII characters',
      ])
    }
    expect(await refused('items.update', { id: 7, price: 1 })).toEqual([404, 'Item not found'])
    expect(await refused('items.create', { name: 'Lamp' })).toEqual([400, 'Missing required fields: input.price'])
    await createUser(server)
    expect(
      await refused('users.createMany', { users: [...someUsers(1), { name: 'A', email: 'ada@example.com' }] }),
    ).toEqual([409, 'input.users[1].email: already in use by another user'])
    const known = 'operation: must be the operationId of a write or its procedure, such as items.update'
    for (const operation of ['items.list', 'getItem', 'items.nothing', 'previews.create', 'createPreview'])
      expect(await refused(operation, { id: 1 })).toEqual([400, known])
  })

  test('needs the rights of the write', async () => {
    await using server = await startTestServer()
    await createUser(server, { role: 'admin' })
    const callers = await createCallers(server)
    const outcome = async (kind: 'reader' | 'writer' | 'admin', operation: string, input: object) => {
      const headers = { Authorization: callers[kind] ?? '' }
      return (await server.request('POST', '/api/previews', { json: { operation, input }, headers })).status
    }
    expect(await outcome('reader', 'items.create', { name: 'Lamp', price: 1 })).toBe(403)
    expect(await outcome('writer', 'items.create', { name: 'Lamp', price: 1 })).toBe(200)
    expect(await outcome('writer', 'users.delete', { id: 1 })).toBe(403)
    expect(await outcome('writer', 'users.deleteWhere', { status: 'active' })).toBe(403)
    expect(await outcome('admin', 'users.delete', { id: 1 })).toBe(200)
  })
})

describe('C44 If-Effect', () => {
  test('lets a write do exactly what its preview showed', async () => {
    await using server = await startTestServer()
    await createItem(server)
    const { effect } = await preview(server, 'items.update', { id: 1, price: 30 })
    const headers = { 'If-Effect': `"${effect}"` }
    const other = await server.request('PATCH', '/items/1', { json: { price: 31 }, headers })
    const changed = 'The write would no longer do what its preview showed; preview it again'
    expect([other.status, other.body.message]).toEqual([412, changed])
    expect((await server.request('PATCH', '/items/1', { json: { price: 30 }, headers })).status).toBe(200)
    expect((await server.request('PATCH', '/items/1', { json: { price: 30 }, headers })).status).toBe(412)
    expect((await server.request('GET', '/items/1')).body).toMatchObject({ price: 30 })
    expect((await rowsOf(server)).audit).toHaveLength(2)
  })

  test('refuses a write of records that others have changed meanwhile', async () => {
    await using server = await startTestServer()
    await server.client.users.createMany.mutate({ users: someUsers(3) })
    const input = { status: 'active' } as const
    const { effect } = await server.client.preview('users.deleteWhere', input)
    await server.client.users.update.mutate({ id: 3, age: 40 })
    const rows = await rowsOf(server)
    await expect(server.client.users.deleteWhere.mutate(input, { ifEffect: effect })).rejects.toMatchObject({
      code: 'version_mismatch',
      reason: 'effect_changed',
    })
    expect(await rowsOf(server)).toEqual(rows)
    const { effect: current } = await server.client.preview('users.deleteWhere', input)
    expect(await server.client.users.deleteWhere.mutate(input, { ifEffect: current })).toMatchObject({ removed: 3 })
  })

  test('allows the ids of new records to differ', async () => {
    await using server = await startTestServer()
    const users = someUsers(5)
    const { effect } = await server.client.preview('users.createMany', { users })
    await createUser(server)
    const created = await server.client.users.createMany.mutate({ users }, { ifEffect: effect })
    expect(created.users).toHaveLength(5)
  })

  test('is ignored by a repeated request, which gets the first answer', async () => {
    await using server = await startTestServer()
    await createItem(server)
    const { effect } = await preview(server, 'items.update', { id: 1, price: 30 })
    const headers = { 'If-Effect': `"${effect}"`, 'Idempotency-Key': 'once' }
    const send = () => server.request('PATCH', '/items/1', { json: { price: 30 }, headers })
    expect([(await send()).status, (await send()).headers.get('idempotent-replayed')]).toEqual([200, 'true'])
  })

  test('is a 400 if it is no effect, and in a tRPC batch', async () => {
    await using server = await startTestServer()
    await createItem(server)
    const answer = await server.request('PATCH', '/items/1', { json: {}, headers: { 'If-Effect': 'x' } })
    expect([answer.status, answer.body.message]).toEqual([400, 'If-Effect: must be the effect of a preview in quotes'])
    const { effect } = await preview(server, 'items.update', { id: 1, price: 30 })
    const batch = await fetch(`${server.url}/trpc/items.update,items.update?batch=1`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'If-Effect': `"${effect}"` },
      body: JSON.stringify([{ id: 1, price: 30 }, { id: 1 }]),
    })
    expect([batch.status, await batch.text()]).toEqual([
      400,
      expect.stringContaining('If-Effect applies to a single call, not to a batch'),
    ])
  })

  test('is an option of the client without HTTP too', async () => {
    await using server = await startTestServer()
    await createItem(server)
    await using local = await createLocalClient({ databaseUrl: server.databaseUrl })
    const { effect, changes } = await local.preview('items.update', { id: 1, price: 30 })
    expect(changes[0]?.after).toMatchObject({ price: 30 })
    await expect(local.items.delete.mutate({ id: 1 }, { ifEffect: effect })).rejects.toMatchObject({ status: 412 })
    expect(await local.items.update.mutate({ id: 1, price: 30 }, { ifEffect: effect })).toMatchObject({ version: 2 })
  })
})
