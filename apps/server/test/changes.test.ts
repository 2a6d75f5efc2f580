import { DatabaseSync } from 'node:sqlite'
import { query } from '@resource/postgres-test'
import { describe, expect, test } from 'vitest'
import { filterOf } from '../src/changes/entry.ts'
import { Tailer } from '../src/changes/tailer.ts'
import { shareTestServer, startTestServer, type TestServer } from './harness.ts'
import { openDatabase } from './records.ts'

const LAMP = { name: 'Lamp', price: 24.5 }

/** Runs SQL on the database of a server. */
async function sql({ databaseUrl }: TestServer, text: string): Promise<void> {
  if (!databaseUrl.startsWith('file:')) return void (await query(databaseUrl, text))
  const file = new DatabaseSync(databaseUrl.slice('file:'.length))
  file.exec(text)
  file.close()
}

describe('C58 changes', () => {
  test('come in order, with the record as its reader may read it', async () => {
    await using server = await startTestServer()
    const start = (await server.request('GET', '/api/changes')).body
    expect(start).toEqual({ changes: [], cursor: '0-0' })
    await server.request('POST', '/items', { json: LAMP })
    await server.request('PATCH', '/items/1', { json: { price: 30 } })
    await server.request('POST', '/users', {
      json: { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' },
    })
    await server.request('DELETE', '/items/1')
    const { changes, cursor } = (await server.request('GET', '/api/changes?after=0-0')).body
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const item = { at, resource: 'items', record_id: 1, cursor: expect.stringMatching(/^\d+-[\da-z]+$/) }
    expect(changes).toEqual([
      {
        ...item,
        type: 'items.created',
        version: 1,
        record: expect.objectContaining({ id: 1, price: 24.5, version: 1 }),
      },
      { ...item, type: 'items.updated', version: 2, record: expect.objectContaining({ id: 1, price: 30, version: 2 }) },
      {
        ...item,
        type: 'users.created',
        resource: 'users',
        version: 1,
        record: await server.client.users.get.query({ id: 1 }),
      },
      { ...item, type: 'items.deleted', version: 2, record: null },
    ])
    expect(cursor).toBe(changes[3].cursor)
    expect((await server.request('GET', `/api/changes?after=${cursor}`)).body).toEqual({ changes: [], cursor })
    expect((await server.request('GET', `/api/changes?after=${changes[1].cursor}&limit=1`)).body).toEqual({
      changes: [changes[2]],
      cursor: changes[2].cursor,
    })
    expect(await server.client.changes.list.query({ after: changes[2].cursor })).toEqual({
      changes: [changes[3]],
      cursor,
    })
  })

  test('can be those of some resources, or of one record', async () => {
    await using server = await startTestServer()
    for (const name of ['a', 'b', 'c']) await server.client.items.create.mutate({ name, price: 1 })
    await server.client.books.create.mutate({ title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' })
    const { key } = await server.client.keys.create.mutate({ name: 'r', role: 'admin', expires_at: null })
    server.logIn(key)
    await server.client.items.update.mutate({ id: 2, price: 2 })
    const read = async (query: string) => {
      const { changes, cursor } = (await server.request('GET', `/api/changes?after=0-0${query}`)).body
      return [changes.map(({ type, record_id }: Record<string, unknown>) => `${type} ${record_id}`).join(), cursor]
    }
    const all = await read('')
    expect(all[0]).toBe('items.created 1,items.created 2,items.created 3,books.created 1,items.updated 2')
    expect(await read('&resources=books')).toEqual(['books.created 1', all[1]])
    expect(await read('&resources=users')).toEqual(['', all[1]])
    expect(await read('&resources=books,items')).toEqual(all)
    expect(await read('&resources=items&record_id=2')).toEqual(['items.created 2,items.updated 2', all[1]])
  })

  test('show readers no key, no actor and no hidden field', async () => {
    await using server = await startTestServer()
    const admin = await server.client.keys.create.mutate({ name: 'admin', role: 'admin', expires_at: null })
    server.logIn(admin.key)
    const reader = await server.client.keys.create.mutate({ name: 'reader', role: 'reader', expires_at: null })
    await server.client.users.create.mutate({
      name: 'Ada',
      email: 'ada@example.com',
      password: 'correct horse battery',
    })
    server.logIn(reader.key)
    const { changes } = (await server.request('GET', '/api/changes?after=0-0')).body
    expect(changes).toHaveLength(1)
    expect(Object.keys(changes[0].record).sort()).toEqual(
      ['age', 'created_at', 'email', 'id', 'name', 'role', 'status', 'updated_at', 'version'].sort(),
    )
    expect(JSON.stringify(changes)).not.toMatch(/password|key|127\.0\.0\.1|actor/)
    server.logIn(undefined)
    expect((await server.request('GET', '/api/changes')).status).toBe(401)
  })

  test('wait for a change, at most as long as asked', async () => {
    await using server = await startTestServer()
    const waiting = server.request('GET', '/api/changes?after=0-0&resources=items&wait=20')
    await server.client.books.create.mutate({ title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' })
    await server.client.items.create.mutate(LAMP)
    expect((await waiting).body.changes).toMatchObject([{ type: 'items.created', record_id: 1 }])
    const { cursor } = (await waiting).body
    expect((await server.request('GET', `/api/changes?after=${cursor}&wait=1`)).body).toEqual({ changes: [], cursor })
  })
})

describe('a cursor', () => {
  const server = shareTestServer(({ client }) => client.items.create.mutate(LAMP))

  test.each(['', '1', '1-', '01-a', '1-A', '-1-a', '1-a-b', '1e3-a', '1-aaaaaaaaaa', '0-1', '1234567890123456-a'])(
    '%j is a 400',
    async (cursor) => {
      const { status, body } = await server().request('GET', `/api/changes?after=${cursor}`)
      expect([status, body.error.fields]).toEqual([400, [{ field: 'after', message: 'must be a cursor of the feed' }]])
    },
  )

  test.each(['1-a', '999-mi5k3w8q'])('%s of another database is a 410 cursor_reset', async (cursor) => {
    const { status, body } = await server().request('GET', `/api/changes?after=${cursor}`)
    expect([status, body.error.reason]).toEqual([410, 'cursor_reset'])
    await expect(server().client.changes.list.query({ after: cursor })).rejects.toMatchObject({
      status: 410,
      reason: 'cursor_reset',
    })
  })

  test('of changes that were deleted is a 410 cursor_expired', async () => {
    await using server = await startTestServer()
    for (let i = 0; i < 3; i++) await server.client.items.create.mutate(LAMP)
    const { changes } = await server.client.changes.list.query({ after: '0-0' })
    await sql(server, 'DELETE FROM audit_entries WHERE id < 3')
    for (const cursor of ['0-0', changes[0]?.cursor, changes[1]?.cursor]) {
      const { status, body } = await server.request('GET', `/api/changes?after=${cursor}`)
      expect([status, body.error.reason]).toEqual([410, 'cursor_expired'])
    }
    expect((await server.client.changes.list.query({ after: changes[2]?.cursor })).changes).toEqual([])
  })

  test('leave out an entry that was damaged by hand, and the log names it', async () => {
    await using server = await startTestServer()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await server.client.items.create.mutate({ name, price: 1 })
    await sql(server, `UPDATE audit_entries SET after = '{"id": 2' WHERE id = 2`)
    await sql(server, 'UPDATE audit_entries SET record_id = 0 WHERE id = 5')
    await sql(
      server,
      `UPDATE audit_entries SET after = '[]' WHERE id = 3; UPDATE audit_entries SET after = '4' WHERE id = 4`,
    )
    const { changes } = (await server.request('GET', '/api/changes?after=0-0')).body
    expect(changes.map(({ record_id }: { record_id: number }) => record_id)).toEqual([1, 6])
    const message = 'Entry 2 of the audit log has no readable record: the changes leave it out'
    expect(server.log.filter((line) => line.includes(message))).toHaveLength(1)
  })

  test('that is behind entries of which the records were erased gets the deletions of those that no longer exist', async () => {
    await using server = await startTestServer()
    await server.client.items.createMany.mutate({ items: [LAMP, LAMP] })
    await server.client.items.delete.mutate({ id: 2 })
    await sql(server, 'UPDATE audit_entries SET before = NULL, after = NULL, kept = NULL')
    const deletion = { type: 'items.deleted', record_id: 2, record: null, version: 2147483647 }
    const { changes, cursor } = await server.client.changes.list.query({ after: '0-0' })
    expect(changes).toMatchObject([deletion, deletion])
    expect(cursor).toBe(changes[1]?.cursor)
  })
})

test('invalid parameters are named, with what is allowed', async () => {
  await using server = await startTestServer()
  const faults = async (query: string) => {
    const { status, body } = await server.request('GET', `/api/changes?${query}`)
    return [status, ...body.error.fields.map(({ field, message }: Record<string, string>) => `${field} ${message}`)]
  }
  expect(await faults('resources=keys')).toEqual([400, 'resources[0] must be users, books or items'])
  expect(await faults('record_id=1')).toEqual([
    400,
    'record_id requires exactly one of the resources: the one that the record belongs to',
  ])
  expect(await faults('resources=items,books&record_id=1')).toHaveLength(2)
  expect(await faults('wait=26')).toEqual([400, 'wait must be a whole number from 0 to 25'])
  expect(await faults('wait=x')).toHaveLength(2)
})

describe('the position of a list', () => {
  test('is a header and a field: its pages and the later changes are a copy', async () => {
    await using server = await startTestServer()
    const items = Array.from({ length: 5 }, (_, index) => ({ name: `${index}`, price: 1 }))
    await server.client.items.createMany.mutate({ items })
    const { headers } = await server.request('GET', '/items?limit=2&after=')
    const copy = new Map<number, object | null>()
    let position: string | undefined
    for await (const page of server.client.items.pages({ limit: 2 })) {
      position ??= page.changes_cursor
      for (const item of page.items) copy.set(item.id, item)
      await server.client.items.create.mutate({ name: 'new', price: 1 })
      await server.client.items.update.mutate({ id: 1, price: copy.size + 10 })
      if (copy.size === 2) await server.client.items.delete.mutate({ id: 4 })
    }
    for (const cursor of [headers.get('x-changes-cursor'), position]) {
      const { changes } = await server.client.changes.list.query({ after: `${cursor}`, resources: ['items'] })
      for (const { record_id, record } of changes) copy.set(record_id, record)
    }
    const kept = [...copy.values()].filter((record) => record !== null)
    const { items: source } = await server.client.items.list.query({ limit: 1000 })
    expect(kept.toSorted((a, b) => Reflect.get(a, 'id') - Reflect.get(b, 'id'))).toEqual(source)
  })

  test('is one of every collection, and includes all that was written before', async () => {
    await using server = await startTestServer()
    for (const path of ['/items', '/books', '/users', '/api/users', '/api/users/']) {
      expect((await server.request('GET', path)).headers.get('x-changes-cursor')).toBe('0-0')
    }
    await server.client.items.create.mutate(LAMP)
    const { cursor } = await server.client.changes.list.query({ after: '0-0' })
    const positions = async () => (await server.client.items.list.query({ limit: 1 })).changes_cursor
    await expect.poll(positions).toBe(cursor)
  })

  test('are read in turn: many pages of a caller delay neither other callers nor other requests', async () => {
    await using server = await startTestServer()
    const items = Array(1_000).fill(LAMP)
    await server.client.items.createMany.mutate({ items })
    await using database = await openDatabase(server)
    const tailer = new Tailer(database)
    await tailer.refresh()
    const filter = filterOf({ resources: ['items'] }, { caller: { name: 'key 1', role: 'reader' } })
    const order: string[] = []
    const read = async (caller: string) => {
      expect((await tailer.inTurn({ id: 0, at: 0 }, filter, 200, caller)).entries).toHaveLength(200)
      order.push(caller)
    }
    const reads = Promise.all([...Array.from({ length: 20 }, () => read('a')), read('b')])
    const others = setInterval(() => order.push('another request'), 1)
    await reads
    clearInterval(others)
    tailer.close()
    expect(order.filter((each) => each.length === 1).indexOf('b')).toBeLessThan(3)
    expect(order.indexOf('another request')).toBeLessThan(10)
  })
})
