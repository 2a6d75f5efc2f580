import { calculated } from '@resource/contract'
import { createDatabase } from '@resource/database'
import { expect, test } from 'vitest'
import { ANONYMOUS } from '../src/access/caller.ts'
import { createOperations } from '../src/operations.ts'
import { readConfig } from '../src/process/config.ts'
import { createCallers } from './callers.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { createItem, createUser } from './records.ts'

async function createItems(server: TestServer) {
  for (const [name, price, category] of [
    ['Lamp', 10, 'light'],
    ['Lamp 2', 20.5, 'light'],
    ['Rug', 30, null],
  ] as const)
    await createItem(server, { name, price, category })
}

const stored = async (server: TestServer) =>
  (await server.client.items.list.query({})).items.map(({ id, price, category, version }) => [
    id,
    price,
    category,
    version,
  ])

const UNCHANGED = [
  [1, 10, 'light', 1],
  [2, 20.5, 'light', 1],
  [3, 30, null, 1],
]

const patch = async (server: TestServer, path: string, json: object, headers = {}) => {
  const { status, body } = await server.request('PATCH', path, { json, headers })
  return [status, body.message ?? body.error ?? body]
}

const remove = async (server: TestServer, path: string, headers = {}) => {
  const { status, body } = await server.request('DELETE', path, { headers })
  return [status, body.message ?? body.error]
}

test('C39 a write by filter sets and calculates the fields of all matching records, and of no other', async () => {
  await using server = await startTestServer()
  await createItems(server)
  const json = { set: { category: 'lighting' }, multiply: { price: 1.1 } }
  expect(await patch(server, '/items?category=light', json)).toEqual([200, { matched: 2, changed: 2 }])
  expect(await stored(server)).toEqual([
    [1, 11, 'lighting', 2],
    [2, 22.55, 'lighting', 2],
    [3, 30, null, 1],
  ])
  expect((await server.client.audit.list.query({ procedure: 'items.updateWhere' })).audit).toMatchObject([
    { record_id: 2, before: { price: 20.5 }, after: { price: 22.55, category: 'lighting' } },
    { record_id: 1, before: { price: 10 }, after: { price: 11, category: 'lighting' } },
  ])
  // All filters of the list, a search and ids are combined.
  expect(await patch(server, '/items/?q=lamp&price_gt=11&id_in=1,2,9', { add: { price: -0.05 } })).toEqual([
    200,
    { matched: 1, changed: 1 },
  ])
  expect(await patch(server, '/items?id_gte=1&id_lt=3', { set: { category: 'lighting', price: 22.5 } })).toEqual([
    200,
    { matched: 2, changed: 1 },
  ])
  expect(await stored(server)).toEqual([
    [1, 22.5, 'lighting', 3],
    [2, 22.5, 'lighting', 3],
    [3, 30, null, 1],
  ]) // Lists have the bounds of ids, too.
  const { body, headers } = await server.request('GET', '/items?id_gte=2&id_lt=4&sort=id_desc&limit=1&count=true')
  expect([body, headers.get('x-total-count')]).toMatchObject([[{ id: 3 }], '2'])
})

test('C39 a deletion by filter deletes all matching records, and no other', async () => {
  await using server = await startTestServer()
  await createItems(server)
  const deleted = await server.request('DELETE', '/items?category=light&price_lt=15')
  expect([deleted.status, deleted.body]).toEqual([200, { message: '1 item removed', removed: 1 }])
  expect(await remove(server, '/items?q=chair')).toEqual([200, '0 items removed'])
  expect(await server.client.items.deleteWhere.mutate({ q: 'lamp', id_in: [1, 2, 3] })).toEqual({
    message: '1 item removed',
    removed: 1,
  })
  expect(await stored(server)).toEqual([[3, 30, null, 1]])
  for (const age of [17, 70, 71]) await createUser(server, { email: `${age}@example.com`, age })
  expect(await server.client.users.deleteWhere.mutate({ age_gte: 65 })).toMatchObject({ message: '2 users removed' })
})

test('C39 without a filter, or with an unknown one, nothing changes', async () => {
  await using server = await startTestServer()
  await createItems(server)
  const rule =
    'At least one filter is required: category, price_lt, price_lte, price_gt, price_gte, name_contains, q, id_in, id_gte or id_lt'
  const json = { set: { price: 1 } }
  expect(await patch(server, '/items', json)).toEqual([400, rule])
  expect(await remove(server, '/items')).toEqual([400, rule])
  expect(await remove(server, '/items?envelope=false')).toEqual([400, rule])
  expect(await remove(server, '/items?color=red')).toEqual([
    400,
    expect.stringMatching(/^color is not a query parameter of this operation; it takes: category, /),
  ])
  expect(await remove(server, '/items?category=light&limit=1')).toEqual([
    400,
    expect.stringMatching(/^limit is not a query parameter of this operation/),
  ])
  await expect(server.client.items.deleteWhere.mutate({})).rejects.toMatchObject({ status: 400, message: rule })
  expect(await stored(server)).toEqual(UNCHANGED)
})

test('C39 an invalid change is a 400 that names the field, and nothing changes', async () => {
  await using server = await startTestServer()
  await createItems(server)
  const messageOf = async (json: object, path = '/items?id_gte=1') => (await patch(server, path, json))[1]
  expect(await messageOf({ set: { price: -1 } })).toBe('set.price: must be a number from 0 to 1e12')
  expect(await messageOf({ multiply: { price: '2' } })).toBe('multiply.price: must be a number, not text')
  expect(await messageOf({ add: { category: 1 } })).toBe('add.category: is not a recognized field')
  expect(await messageOf({ price: 1 })).toBe('price: is not a recognized field')
  expect(await messageOf({ set: {} })).toBe('Body: must have at least one field in set, add or multiply')
  expect(await messageOf({ add: { price: 1 }, multiply: { price: 2 } })).toBe(
    'multiply.price: must be in only one of set, add and multiply',
  )
  expect(await messageOf([])).toBe('Body: must be an object, not an array')
  expect(await messageOf({ set: { email: 'a@example.com' } }, '/api/users?id_gte=1')).toBe(
    'set.email: is not a recognized field',
  )
  expect(await messageOf({ set: { password: 'correct horse' } }, '/api/users?id_gte=1')).toBe(
    'set.password: is not a recognized field',
  )
  expect(await messageOf({ set: { price: 1 } }, '/items?id_in=1,x')).toBe('id_in[1]: must be a whole number')
  expect(await stored(server)).toEqual(UNCHANGED)
})

test('C39 a result outside of the bounds of its field is a 400 that names the record and the field, and nothing changes', async () => {
  await using server = await startTestServer()
  await createItems(server)
  expect(await patch(server, '/items?id_gte=1', { set: { category: 'x' }, add: { price: -20.5 } })).toEqual([
    400,
    'add.price: must be a number from 0 to 1e12, and would be -10.5 in item 1',
  ])
  expect(await patch(server, '/items?id_gte=2', { multiply: { price: 1e12 } })).toEqual([
    400,
    'multiply.price: must be a number from 0 to 1e12, and would be 20500000000000 in item 2',
  ])
  expect(await patch(server, '/items?id_gte=2', { multiply: { price: 1e308 } })).toMatchObject([400, expect.anything()])
  expect(await stored(server)).toEqual(UNCHANGED)
})

test('C39 calculated numbers are rounded half up: prices to cents, whole numbers to ones', async () => {
  for (const [value, change, decimals, expected] of [
    [24.5, { multiply: 1.1 }, 2, 26.95],
    [3.35, { multiply: 0.9 }, 2, 3.02],
    [1.005, { multiply: 1 }, 2, 1.01],
    [2.675, { add: 0 }, 2, 2.68],
    [0.1, { add: 0.2 }, 2, 0.3],
    [-2.5, { add: 0 }, 0, -2],
    [36, { multiply: 1.0139 }, 0, 37],
    [999_999_999_999.99, { add: 0.005 }, 2, 1e12],
    [1, { multiply: 1 / 3 }, 4, 0.3333],
    // 519999999999.9948 and 14343320579.674958
    [999_999_999_999.99, { multiply: 0.52 }, 2, 519_999_999_999.99],
    [63_947_037_805.06, { multiply: 0.2243 }, 2, 14_343_320_579.67],
    [-2.5, { multiply: 1 }, 0, -2],
    [-2.51, { multiply: 1 }, 0, -3],
    [5e-7, { multiply: 1e6 }, 0, 1],
    [24.5, { add: 1e-300 }, 2, 24.5],
    [1e21, { add: 1 }, 2, 1e21],
  ] as const)
    expect([value, change, calculated(value, change, decimals)]).toEqual([value, change, expected])
  expect(Object.is(calculated(0, { multiply: -1 }, 2), 0)).toBe(true)

  await using server = await startTestServer()
  for (const age of [36, null]) await createUser(server, { email: `${age}@example.com`, age })
  // A record without the number stays as it is.
  expect(await patch(server, '/api/users?id_gte=1', { add: { age: 0.5 } })).toEqual([200, { matched: 2, changed: 1 }])
  expect((await server.client.users.list.query({})).users).toMatchObject([
    { age: 37, version: 2 },
    { age: null, version: 1 },
  ])
})

test('C39 a repetition with its Idempotency-Key changes nothing', async () => {
  await using server = await startTestServer()
  await createItems(server)
  const headers = { 'Idempotency-Key': 'once' }
  const send = (factor: number) => patch(server, '/items?category=light', { multiply: { price: factor } }, headers)
  expect([await send(2), await send(2)]).toEqual([
    [200, { matched: 2, changed: 2 }],
    [200, { matched: 2, changed: 2 }],
  ])
  expect((await send(3))[0]).toBe(409)
  expect(await stored(server)).toEqual([[1, 20, 'light', 2], [2, 41, 'light', 2], UNCHANGED[2]])
})

test('C39 a deletion by other filters than id_in requires the role admin', async () => {
  await using server = await startTestServer()
  await createItems(server)
  const { reader, writer, admin } = await createCallers(server)
  const as = (authorization: string | undefined) => ({ Authorization: String(authorization) })
  const refusal = 'This needs the role admin; yours is writer'
  expect(await remove(server, '/items?category=light', as(writer))).toEqual([403, refusal])
  expect(await remove(server, '/items?id_gte=1', as(writer))).toEqual([403, refusal])
  expect((await remove(server, '/items?id_in=1', as(reader)))[0]).toBe(403)
  expect((await patch(server, '/items?id_in=1', { set: { price: 1 } }, as(reader)))[0]).toBe(403)
  expect(await remove(server, '/items?id_in=1,3', as(writer))).toEqual([200, '2 items removed'])
  expect(await patch(server, '/items?category=light', { set: { price: 1 } }, as(writer))).toEqual([
    200,
    { matched: 1, changed: 1 },
  ])
  expect(await remove(server, '/items?category=light', as(admin))).toEqual([200, '1 item removed'])
})

test('U17 a write by filter of a writer changes no role, and no admin; the error names the user', async () => {
  await using server = await startTestServer()
  await createUser(server)
  await createUser(server, { email: 'root@example.com', role: 'admin' })
  const headers = { Authorization: String((await createCallers(server)).writer) }
  expect(await patch(server, '/api/users?role=user', { set: { role: 'admin' } }, headers)).toEqual([
    403,
    'User 1: role: changing it needs the role admin; yours is writer',
  ])
  expect(await patch(server, '/api/users?id_gte=1', { set: { age: 3 } }, headers)).toEqual([
    403,
    'User 2: changing or deleting a user whose role is admin needs the role admin; yours is writer',
  ])
  expect(await patch(server, '/api/users?role=user', { set: { role: 'user', age: 3 } }, headers)).toEqual([
    200,
    { matched: 1, changed: 1 },
  ])
})

test('C39 a write by filter takes at most 10,000 records', async () => {
  await using server = await startTestServer()
  const items = Array.from({ length: 1000 }, (_, n) => ({ name: `Item ${n}`, price: n }))
  for (let n = 0; n < 10; n++) await server.client.items.createMany.mutate({ items })
  await createItem(server)
  const rule =
    'More than 10,000 items match: a request writes at most 10,000. Preview it and send its steps, or add filters'
  expect(await patch(server, '/items?id_gte=1', { set: { category: 'x' } })).toEqual([400, rule])
  expect(await remove(server, '/items?id_gte=1')).toEqual([400, rule])
  expect(await patch(server, '/items?id_lt=10001', { add: { price: 1 } })).toEqual([
    200,
    { matched: 10_000, changed: 10_000 },
  ])
  expect(await remove(server, '/items?id_lt=10001')).toEqual([200, '10000 items removed'])
  expect((await server.client.items.list.query({ count: true })).total).toBe(1)
})

test('C39 the matching records are searched before the transaction, and those that no longer match in it are left out', async () => {
  await using server = await startTestServer()
  await createItems(server)
  const seen: string[] = []
  const database = await createDatabase(server.databaseUrl, {
    around: async (operation, table, run) => {
      if (operation === 'transaction' || table === 'items') seen.push(operation)
      // Another writer changes the records between the search and the transaction.
      if (operation === 'transaction') {
        await server.client.items.update.mutate({ id: 1, category: 'shade' })
        await server.client.items.update.mutate({ id: 2, price: 21 })
      }
      return run()
    },
  })
  const operations = createOperations(database, readConfig({}), { needsCredentials: () => false })
  const deleteWhere = operations.find(({ name }) => name === 'items.deleteWhere')
  const context = { caller: ANONYMOUS, read: database.read }
  expect(await deleteWhere?.call({ category: 'light' }, context)).toEqual({ message: '1 item removed', removed: 1 })
  expect(seen.slice(0, 2)).toEqual(['lock', 'transaction'])
  expect(await stored(server)).toEqual([[1, 10, 'shade', 2], UNCHANGED[2]])
  await database.close()
})

test('U4 a deletion by status deletes every user with it, also more than other writes by filter may', async () => {
  await using server = await startTestServer()
  const database = await createDatabase(server.databaseUrl)
  const user = { name: 'Ada', name_key: 'ada', password_hash: null, role: 'user', status: 'inactive', age: null }
  const times = { created_at: new Date(), updated_at: new Date() }
  const creates = Array.from({ length: 10_001 }, (_, n) => {
    const email = `ada${n}@example.com`
    return { create: { ...user, ...times, email, email_key: email } }
  })
  await database.write((tx) => tx.users.write(creates))
  await database.close()
  expect(await remove(server, '/api/users?status=inactive&id_gte=10001')).toEqual([200, '1 inactive user removed'])
  await createUser(server, { status: 'inactive' })
  await createUser(server, { email: 'active@example.com' })
  expect(await remove(server, '/api/users?status=inactive')).toEqual([200, '10001 inactive users removed'])
  expect((await server.client.users.list.query({})).users.map(({ email }) => email)).toEqual(['active@example.com'])
})
