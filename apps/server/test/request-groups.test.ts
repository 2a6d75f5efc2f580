import { type Client, createClient, isServiceError } from '@resource/client'
import { createLocalClient } from '@resource/server/local'
import { describe, expect, test } from 'vitest'
import { createCallers } from './callers.ts'
import { seededRandom, seedOfRun } from './fuzz/random.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { randomWrite, snapshot, write } from './random-writes.ts'
import { createItem, createKey, createUser, someUsers } from './records.ts'

const GROUP = '0198a1c4-7d52-4b0e-9c3f-5a2f8e6b1d07'
const OTHER = '0198a1c4-7d52-4b0e-9c3f-5a2f8e6b1d08'

const grouped = (group: string) => ({ headers: { 'X-Request-Group': group } })

/** Three requests of a group, with another request in between: creates two items, prices both, deletes the second. */
async function writeGroup({ client, request }: TestServer) {
  const { items } = client
  await items.createMany.mutate(
    {
      items: [
        { name: 'Lamp', price: 1 },
        { name: 'Rug', price: 2 },
      ],
    },
    { group: GROUP },
  )
  await createUserOf(client)
  await request('PATCH', '/items?id_gte=1', { json: { add: { price: 10 } }, ...grouped(GROUP.toUpperCase()) })
  await items.delete.mutate({ id: 2 }, { group: GROUP })
}

const createUserOf = (client: Client) => client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })

const names = async ({ client }: TestServer) =>
  (await client.items.list.query()).items.map(({ id, name, price }) => `${id} ${name} ${price}`)

describe('C48 a group of requests', () => {
  test('is shown in the audit log, and filters it', async () => {
    await using server = await startTestServer()
    await writeGroup(server)
    const { body } = await server.request('GET', `/api/audit?group=${GROUP.toUpperCase()}&sort=id_asc`)
    expect(
      body.map(({ procedure, record_id, group, reverses }: Record<string, unknown>) => [
        procedure,
        record_id,
        group,
        reverses,
      ]),
    ).toEqual([
      ['items.createMany', 1, GROUP, null],
      ['items.createMany', 2, GROUP, null],
      ['items.updateWhere', 1, GROUP, null],
      ['items.updateWhere', 2, GROUP, null],
      ['items.delete', 2, GROUP, null],
    ])
    const { audit } = await server.client.audit.list.query({ resource: 'users' })
    expect(audit).toMatchObject([{ group: null, reverses: null }])
    expect((await server.client.audit.list.query({ group: OTHER })).audit).toEqual([])
  })

  test('lists its requests until they are undone, and again once that is undone', async () => {
    await using server = await startTestServer()
    await writeGroup(server)
    const { reversals } = server.client
    const { requests, total, group } = await reversals.open.query({ group: GROUP })
    expect([total, requests.map(({ changes }) => changes)]).toEqual([3, [1, 2, 2]])
    const { body } = await server.request('GET', `/api/reversals?group=${GROUP}`)
    expect(body).toEqual({ requests, total, group })
    const [last] = requests
    expect(Math.abs(Date.parse(`${last?.at}`) - Date.now())).toBeLessThan(60_000)
    const undone = await reversals.create.mutate({ request_id: `${last?.request_id}` })
    expect(await names(server)).toEqual(['1 Lamp 11', '2 Rug 12'])
    const { audit } = await server.client.audit.list.query({ procedure: 'reversals.create' })
    expect(audit).toMatchObject([{ group: null, reverses: last?.request_id }])
    const changes = async () => (await reversals.open.query({ group: GROUP })).requests.map(({ changes }) => changes)
    expect(await changes()).toEqual([2, 2])
    const redone = await server.client.undo(undone)
    expect([await changes(), await names(server)]).toEqual([[1, 2, 2], ['1 Lamp 11']])
    await server.client.undo(redone)
    expect(await changes()).toEqual([2, 2])
  })

  test('is undone newest first as a group, whose undo undoes it, and so on', async () => {
    await using server = await startTestServer()
    await writeGroup(server)
    const { client } = server
    const seen: [number, number][] = []
    const undone = await client.undo({ group: GROUP }, { onProgress: (...progress) => seen.push(progress) })
    expect(undone).toEqual({ group: expect.any(String), requests: 3, restored: 1, updated: 2, deleted: 2 })
    expect(seen).toEqual([
      [0, 3],
      [1, 3],
      [2, 3],
      [3, 3],
    ])
    expect(await names(server)).toEqual([])
    expect(await client.undo({ group: GROUP })).toEqual({ ...undone, requests: 0, restored: 0, updated: 0, deleted: 0 })
    expect(await client.undo(undone)).toMatchObject({ requests: 3, restored: 2, updated: 2, deleted: 1 })
    expect(await names(server)).toEqual(['1 Lamp 11'])
    expect(await client.undo({ group: GROUP })).toEqual(undone)
    expect([await names(server), (await client.users.list.query()).users.length]).toEqual([[], 1])
  })

  test('stops its undo at a request whose changes were overwritten, names them, and continues once they are gone', async () => {
    await using server = await startTestServer()
    await writeGroup(server)
    const { client } = server
    const changed = await client.items.update.mutate({ id: 1, price: 99 })
    const undo = () => client.undo({ group: GROUP })
    await expect(undo()).rejects.toMatchObject({ status: 412, message: 'items[1].price: was changed since' })
    expect(await names(server)).toEqual(['1 Lamp 99', '2 Rug 12'])
    await client.undo(changed)
    expect(await undo()).toMatchObject({ requests: 2, updated: 2, deleted: 2 })
    expect(await names(server)).toEqual([])
  })

  test('lists no changes of keys, which cannot be undone, and undoes the others', async () => {
    await using server = await startTestServer()
    const { key } = await createKey(server)
    server.logIn(key)
    const { items, keys } = server.client
    await items.create.mutate({ name: 'Lamp', price: 1 }, { group: GROUP })
    await keys.create.mutate({ name: 'a key', role: 'reader' }, { group: GROUP })
    await items.create.mutate({ name: 'Rug', price: 2 }, { group: GROUP })
    expect(await server.client.reversals.open.query({ group: GROUP })).toMatchObject({ total: 2 })
    expect(await server.client.undo({ group: GROUP })).toMatchObject({ requests: 2, deleted: 2 })
    expect((await items.list.query()).items).toEqual([])
  })

  test('needs a UUID, on every request', async () => {
    await using server = await startTestServer()
    await using local = await createLocalClient({ databaseUrl: server.databaseUrl })
    const message = 'X-Request-Group: must be a UUID'
    for (const group of ['x', '', '0198a1c4', `${GROUP}0`]) {
      const { status, body } = await server.request('POST', '/items', {
        json: { name: 'Lamp', price: 1 },
        ...grouped(group),
      })
      expect([group, status, body.message]).toEqual([group, 400, message])
    }
    for (const client of [server.client, local]) {
      const creating = client.items.create.mutate({ name: 'Lamp', price: 1 }, { group: 'x' })
      await expect(creating).rejects.toMatchObject({ status: 400, message })
      await expect(client.reversals.open.query({ group: 'x' })).rejects.toMatchObject({
        message: 'group: must be a UUID',
      })
    }
    await local.items.create.mutate({ name: 'Lamp', price: 1 }, { group: GROUP })
    expect(await server.client.undo({ group: GROUP })).toMatchObject({ requests: 1, deleted: 1 })
  })

  test('is part of a call: calls of one tick with different groups are separate requests', async () => {
    await using server = await startTestServer()
    const { items } = server.client
    const groups = [GROUP, OTHER, GROUP, undefined]
    await Promise.all(groups.map((group, n) => items.create.mutate({ name: `Item ${n}`, price: n }, { group })))
    const { audit } = await server.client.audit.list.query({ sort: 'id_asc' })
    const found = audit.map(({ after, group }) => [after?.name, group])
    expect(found.toSorted()).toEqual(groups.map((group, n) => [`Item ${n}`, group ?? null]))
    // Calls of one request are undone together.
    expect(await server.client.undo({ group: GROUP })).toMatchObject({ requests: 1, deleted: 2 })
  })

  test('is undone with the rights of the inverse of each request', async () => {
    await using server = await startTestServer()
    await createItem(server)
    await server.client.items.update.mutate({ id: 1, price: 2 }, { group: GROUP })
    await createUser(server, { email: 'root@example.com', role: 'admin' })
    await server.client.users.update.mutate({ id: 1, name: 'Root' }, { group: OTHER })
    const callers = await createCallers(server)
    const as = (kind: 'reader' | 'writer' | 'admin') =>
      createClient({ baseUrl: server.url, apiKey: (callers[kind] ?? '').replace('Bearer ', '') })
    await expect(as('reader').undo({ group: GROUP })).rejects.toMatchObject({ status: 403 })
    await expect(as('writer').undo({ group: OTHER })).rejects.toMatchObject({ status: 403 })
    expect(await as('writer').undo({ group: GROUP })).toMatchObject({ requests: 1, updated: 1 })
    expect(await as('admin').undo({ group: OTHER })).toMatchObject({ requests: 1, updated: 1 })
  })
})

const WRITES = 100

test('C48 after 100 random writes of a group, its undo, and the undo of that, the tables are as before and after them', async () => {
  await using server = await startTestServer()
  const { key } = await createKey(server)
  server.logIn(key)
  const { client } = server
  await client.users.createMany.mutate({ users: someUsers(4) })
  await createItem(server)
  const state = async () =>
    [...(await snapshot(client))].flatMap(([name, { version, updated_at, ...row }]) =>
      name.startsWith('keys') ? [] : [[name, row]],
    )
  const before = await state()
  const random = seededRandom(seedOfRun())
  for (let written = 0; written < WRITES; ) {
    const planned = randomWrite(random, await snapshot(client))
    if (planned.operation.startsWith('keys')) continue
    try {
      await write(client, planned, { group: GROUP })
      written++
    } catch (error) {
      if (!isServiceError(error) || error.status >= 500) throw error
    }
  }
  const after = await state()
  expect(after).not.toEqual(before)
  const undone = await client.undo({ group: GROUP })
  expect(await state()).toEqual(before)
  await client.undo(undone)
  expect(await state()).toEqual(after)
  await client.undo({ group: GROUP })
  expect(await state()).toEqual(before)
})
