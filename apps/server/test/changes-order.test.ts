import { createDatabase } from '@resource/database'
import { query, whileOpen } from '@resource/postgres-test'
import { expect, inject, test } from 'vitest'
import { openEvents } from './event-source.ts'
import { startTestServer, type TestServer } from './harness.ts'

const AUDIT = {
  shared: { actor: 'local', actor_detail: null, procedure: 'items.create', request_id: null, address: null },
  tables: { items: { resource: 'items', shown: ['id', 'name', 'price', 'category', 'version'], secrets: [] } },
}
const held = { name: 'held', name_key: 'held', price: 1, category: null }

/** A transaction of another process that has written an entry and stays open until `end` is called. */
async function openWrite({ databaseUrl }: TestServer) {
  const database = await createDatabase(databaseUrl)
  const written = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const write = database.write(
    async (tx) => {
      await tx.items.write([{ create: held }])
      written.resolve()
      await ended.promise
    },
    { audit: AUDIT },
  )
  write.catch(written.reject)
  await written.promise
  return {
    end: async (error?: Error) => {
      if (error === undefined) ended.resolve()
      else ended.reject(error)
      await write.catch(() => {})
      await database.close()
    },
  }
}

test.runIf(inject('postgres'))(
  'changes of an open transaction come before those with later ids, however late',
  async () => {
    await using server = await startTestServer()
    await server.client.items.create.mutate({ name: 'first', price: 1 })
    await using events = await openEvents(`${server.url}/api/changes?after=0-0`)
    const [first] = await events.changes(1)
    const open = await openWrite(server)
    for (const name of ['a', 'b']) await server.client.items.create.mutate({ name, price: 1 })
    const waiting = { changes: [], cursor: first.cursor }
    expect(await server.client.changes.list.query({ after: first.cursor })).toEqual(waiting)
    expect(await server.client.changes.list.query({ after: first.cursor, wait: 1 })).toEqual(waiting)
    await open.end()
    expect((await events.changes(3)).map(({ record }) => record.name)).toEqual(['held', 'a', 'b'])
  },
)

test.runIf(inject('postgres'))(
  'ids of a transaction that was rolled back hold up later changes no longer than it was open',
  async () => {
    await using server = await startTestServer()
    await server.client.items.create.mutate({ name: 'first', price: 1 })
    await using events = await openEvents(`${server.url}/api/changes?after=0-0`)
    const [first] = await events.changes(1)
    const open = await openWrite(server)
    await server.client.items.create.mutate({ name: 'a', price: 1 })
    await open.end(new Error('rolled back'))
    const [second] = await events.changes(1)
    expect(second.record.name).toBe('a')
    // An id is missing in between.
    const id = ({ cursor }: { cursor: string }) => Number(cursor.split('-')[0])
    expect(id(second) - id(first)).toBeGreaterThan(1)
    const answer = await server.client.changes.list.query({ after: first.cursor })
    expect(answer).toEqual({ changes: [second], cursor: second.cursor })
  },
)

test.runIf(inject('postgres'))(
  'an open transaction that has written no entry holds up no changes, also after ids that will never be used',
  async () => {
    await using server = await startTestServer()
    await server.client.items.create.mutate({ name: 'first', price: 1 })
    await using events = await openEvents(`${server.url}/api/changes`)
    await events.next()
    await whileOpen(server.databaseUrl, 'UPDATE items SET price = 2', async () => {
      await server.client.items.create.mutate({ name: 'a', price: 1 })
      await (await openWrite(server)).end(new Error('rolled back'))
      await server.client.items.create.mutate({ name: 'b', price: 1 })
      expect((await events.changes(2)).map(({ record }) => record.name)).toEqual(['a', 'b'])
    })
  },
)

test.runIf(inject('postgres'))(
  'a list beside an open transaction has a position before the changes of it',
  async () => {
    await using server = await startTestServer()
    await server.client.items.create.mutate({ name: 'first', price: 1 })
    const open = await openWrite(server)
    await server.client.items.create.mutate({ name: 'a', price: 1 })
    const { changes_cursor: after = '' } = await server.client.items.list.query({})
    await open.end()
    const { changes } = await server.client.changes.list.query({ after })
    expect(changes.map(({ record }) => record?.name).slice(-2)).toEqual(['held', 'a'])
  },
)

test('changes of another process come as well', async () => {
  await using server = await startTestServer()
  await using events = await openEvents(`${server.url}/api/changes`)
  await events.next()
  const open = await openWrite(server)
  await open.end()
  expect(await events.changes(1)).toMatchObject([{ type: 'items.created', record: { name: 'held' } }])
})

test.runIf(inject('postgres'))('a stream ends with reset when the database was restored to another state', async () => {
  await using server = await startTestServer()
  await server.client.items.create.mutate({ name: 'first', price: 1 })
  await using events = await openEvents(`${server.url}/api/changes?after=0-0`)
  await events.changes(1)
  // The id of the last entry belongs to another one.
  await query(server.databaseUrl, `UPDATE audit_entries SET at = at - interval '1 second'`)
  await server.client.items.create.mutate({ name: 'second', price: 1 })
  expect(await events.next()).toEqual({ event: 'reset', id: '', data: { reason: 'cursor_reset' } })
  expect(await events.next()).toBe(undefined)
})

test('a stream ends with reset when changes that it has not read were deleted', async () => {
  await using server = await startTestServer()
  await server.client.items.create.mutate({ name: 'first', price: 1 })
  await using events = await openEvents(`${server.url}/api/changes?after=0-0`)
  await events.changes(1)
  const database = await createDatabase(server.databaseUrl)
  await database.write((tx) => tx.auditEntries.deleteAll({}))
  await database.close()
  await server.client.items.create.mutate({ name: 'second', price: 1 })
  expect(await events.next()).toEqual({
    event: 'reset',
    id: '',
    data: { reason: expect.stringMatching(/^cursor_(?:expired|reset)$/) },
  })
  expect(await events.next()).toBe(undefined)
})
