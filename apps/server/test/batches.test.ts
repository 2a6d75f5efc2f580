import { createDatabase } from '@resource/database'
import { expect, test } from 'vitest'
import { ANONYMOUS } from '../src/access/caller.ts'
import { createOperations } from '../src/operations.ts'
import { readConfig } from '../src/process/config.ts'
import { createCallers } from './callers.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { aTimestamp, createItem, createUser, openDatabase } from './records.ts'

async function createItems(server: TestServer) {
  for (const [name, price] of [
    ['Lamp', 10],
    ['Lamp', 20],
    ['Rug', 30],
  ] as const)
    await createItem(server, { name, price, category: 'old' })
}

const itemsOf = async (server: TestServer) =>
  (await server.client.items.list.query({})).items.map(({ id, price, category, version }) => [
    id,
    price,
    category,
    version,
  ])

const apply = (server: TestServer, path: string, headers = {}) =>
  server.request('PATCH', path, { json: { status: 'applied' }, headers })

test('C38 a batch previews the matching records, changes none, and sets their fields when it is applied', async () => {
  await using server = await startTestServer()
  await createItems(server)
  const json = { action: 'update', filter: { q: 'lamp', price_lt: 25 }, changes: { price: 15, category: null } }
  const created = await server.request('POST', '/items/batches', { json })
  expect([created.status, created.headers.get('location')]).toEqual([201, '/items/batches/1'])
  expect(created.body).toEqual({
    id: 1,
    action: 'update',
    status: 'pending',
    count: 2,
    filter: { q: 'lamp', price_lt: 25 },
    changes: { price: 15, category: null },
    sample: [
      { id: 1, name: 'Lamp', price: 10, category: 'old' },
      { id: 2, name: 'Lamp', price: 20, category: 'old' },
    ],
    created_at: aTimestamp,
    expires_at: aTimestamp,
  })
  const { created_at, expires_at } = created.body
  expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(600_000)
  expect((await server.request('GET', '/items/batches/1')).body).toEqual(created.body)
  expect(await itemsOf(server)).toEqual([
    [1, 10, 'old', 1],
    [2, 20, 'old', 1],
    [3, 30, 'old', 1],
  ])

  const applied = await apply(server, '/items/batches/1')
  expect([applied.status, applied.body]).toEqual([200, { ...created.body, status: 'applied', sample: [] }])
  expect(await itemsOf(server)).toEqual([
    [1, 15, null, 2],
    [2, 15, null, 2],
    [3, 30, 'old', 1],
  ])
  expect((await server.client.audit.list.query({ procedure: 'items.applyBatch' })).audit).toHaveLength(2)
  const again = await apply(server, '/items/batches/1')
  expect([again.status, again.body]).toEqual([409, { message: 'The batch was already applied' }])
})

test('C38 a batch deletes the records of its preview', async () => {
  await using server = await startTestServer()
  await createItems(server)
  const { id } = await server.client.items.createBatch.mutate({ action: 'delete', filter: { price_gte: 20 } })
  expect(await server.client.items.applyBatch.mutate({ batch_id: id, status: 'applied' })).toMatchObject({ count: 2 })
  expect(await itemsOf(server)).toEqual([[1, 10, 'old', 1]])
})

test('C38 a batch is refused with 412 once a matching record was changed, added or deleted', async () => {
  await using server = await startTestServer()
  const changes: ((server: TestServer) => Promise<unknown>)[] = [
    ({ client }) => client.items.update.mutate({ id: 1, name: 'Lamp 2' }),
    (server) => createItem(server, { name: 'Lamp', price: 12, category: 'old' }),
    ({ client }) => client.items.delete.mutate({ id: 2 }),
  ]
  await createItems(server)
  for (const change of changes) {
    const { id } = await server.client.items.createBatch.mutate({ action: 'delete', filter: { category: 'old' } })
    await change(server)
    const before = await itemsOf(server)
    const { status, body } = await apply(server, `/items/batches/${id}`)
    expect([status, body]).toEqual([
      412,
      { message: 'The matching items have changed since the preview; create a new batch' },
    ])
    expect(await itemsOf(server)).toEqual(before)
  }
})

test('C38 a batch exists only for its caller and its collection', async () => {
  await using server = await startTestServer()
  await createItems(server)
  const { writer, admin } = await createCallers(server)
  const json = { action: 'update', filter: {}, changes: { category: 'new' } }
  const headers = { Authorization: writer as string }
  expect((await server.request('POST', '/items/batches', { json, headers })).status).toBe(201)
  const other = await apply(server, '/items/batches/1', { Authorization: admin as string })
  expect([other.status, other.body]).toEqual([404, { message: 'Batch not found' }])
  expect((await server.request('GET', '/books/batches/1', { headers })).status).toBe(404)
  expect((await apply(server, '/items/batches/1', headers)).status).toBe(200)
})

test('C9 an unknown batch is a 404, whatever the body', async () => {
  await using server = await startTestServer()
  for (const json of [{ status: 'applied' }, { status: 'x' }, {}, undefined]) {
    const { status, body } = await server.request('PATCH', '/items/batches/7', { json })
    expect([json, status, body]).toEqual([json, 404, { message: 'Batch not found' }])
  }
})

test('C38 a batch that deletes requires the role admin, and one that changes a role too', async () => {
  await using server = await startTestServer()
  await createUser(server)
  const headers = { Authorization: (await createCallers(server)).writer as string }
  const send = async (json: object) => (await server.request('POST', '/api/users/batches', { json, headers })).status
  expect(await send({ action: 'delete', filter: {} })).toBe(403)
  expect(await send({ action: 'update', filter: {}, changes: { role: 'admin' } })).toBe(403)
  expect(await send({ action: 'update', filter: {}, changes: { age: 4 } })).toBe(201)
})

test('C38 an invalid batch is a 400 that names the field', async () => {
  await using server = await startTestServer()
  const filter = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`field${n}`, 1]))
  const { body } = await server.request('POST', '/items/batches?envelope=true', { json: { action: 'delete', filter } })
  expect(body.error.fields.length).toBe(1_000)
  const messageOf = async (json: object) => (await server.request('POST', '/items/batches', { json })).body.message
  expect(await messageOf({ action: 'update', filter: { color: 'red' }, changes: { price: 1 } })).toBe(
    'filter.color: is not a recognized field',
  )
  expect(await messageOf({ action: 'update', filter: {}, changes: { price: -1 } })).toBe(
    'changes.price: must be a number from 0 to 1e12',
  )
  expect(await messageOf({ action: 'delete', filter: {}, changes: {} })).toBe(
    'changes: must have at least one field with the action update, and be absent with delete',
  )
  expect(await messageOf({ action: 'update', filter: {}, changes: { color: 'red', price: 1 } })).toBe(
    'changes.color: is not a recognized field',
  )
  expect(await messageOf({ action: 'update', filter: {}, changes: {} })).toBe(
    'changes: must have at least one field with the action update, and be absent with delete',
  )
  expect(await messageOf({ action: 'update', filter: null, changes: 1 })).toBe(
    'filter: must be an object, not null; changes: must be an object, not a number',
  )
  expect(await messageOf({ action: 'explode', filter: {} })).toBe('action: must be update or delete')
})

test('C38 a batch cannot set a password or a unique field for all of its records', async () => {
  await using server = await startTestServer()
  await createUser(server)
  const send = async (changes: object) =>
    (await server.request('POST', '/api/users/batches', { json: { action: 'update', filter: {}, changes } })).body.error
  expect(await send({ age: 3, password: 'correct horse' })).toBe('changes.password: is not a recognized field')
  expect(await send({ age: 3, email: 'all@example.com' })).toBe('changes.email: is not a recognized field')
})

test('C38 a batch expires after 10 minutes', async () => {
  await using server = await startTestServer()
  await createItems(server)
  const { id } = await server.client.items.createBatch.mutate({ action: 'delete', filter: {} })
  await using database = await openDatabase(server)
  await database.write((tx) => tx.batches.write([{ id, change: { expires_at: new Date(Date.now() - 1) } }]))
  const applied = await apply(server, `/items/batches/${id}`)
  expect([applied.status, applied.body]).toEqual([404, { message: 'Batch not found' }])
  expect((await server.request('GET', `/items/batches/${id}`)).status).toBe(404)
  expect(await itemsOf(server)).toHaveLength(3)
})

test('C38 a preview and its application find the matching records before their transactions', async () => {
  await using server = await startTestServer()
  await createItems(server)
  const seen: string[] = []
  const database = await createDatabase(server.databaseUrl, {
    around: (operation, table, run) => {
      if (operation === 'transaction' || (operation === 'lock' && table === 'items')) seen.push(operation)
      return run()
    },
  })
  const operations = createOperations(database, readConfig({}), { needsCredentials: () => false })
  const call = (procedure: string, input: object) =>
    operations.find(({ name }) => name === procedure)?.call(input, { caller: ANONYMOUS, read: database.read })
  const filter = { price_lt: 25 }
  const { id } = (await call('items.createBatch', { action: 'delete', filter })) as { id: number }
  expect(seen.splice(0)).toEqual(['lock', 'transaction'])
  await call('items.applyBatch', { batch_id: id, status: 'applied' })
  // On PostgreSQL the deletion locks the rows as well.
  expect(seen.slice(0, 3)).toEqual(['lock', 'transaction', 'lock'])
  await database.close()
})
