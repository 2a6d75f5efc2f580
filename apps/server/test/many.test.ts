import { describe, expect, test } from 'vitest'
import { createCallers } from './callers.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { createItem, createUser } from './records.ts'

async function createItems(server: TestServer) {
  for (const name of ['Lamp', 'Rug', 'Chair']) await createItem(server, { name, price: 10 })
}

const versionsOf = async (server: TestServer) =>
  (await server.client.items.list.query({})).items.map(({ name, price, version }) => [name, price, version])

describe('C36 an update of many records', () => {
  test('changes the fields of each row and returns the records in the order sent', async () => {
    await using server = await startTestServer()
    await createItems(server)
    const json = [{ id: 3, price: 30 }, { id: 1, name: 'Lamp', category: 'light', if_version: 1 }, { id: 2 }]
    const { status, body } = await server.request('PATCH', '/items/bulk', { json })
    expect([status, body]).toEqual([
      200,
      [
        { status: 200, changed: true, record: { id: 3, name: 'Chair', price: 30, category: null, version: 2 } },
        { status: 200, changed: true, record: { id: 1, name: 'Lamp', price: 10, category: 'light', version: 2 } },
        { status: 200, changed: false, record: { id: 2, name: 'Rug', price: 10, category: null, version: 1 } },
      ],
    ])
  })

  test('changes nothing if one row fails, and names the row', async () => {
    await using server = await startTestServer()
    await createItems(server)
    const send = async (row: object) => {
      const { status, body } = await server.request('PATCH', '/items/bulk', { json: [{ id: 1, price: 99 }, row] })
      return [status, body.message]
    }
    expect(await send({ id: 9, price: 1 })).toEqual([404, '[1]: Item not found'])
    expect(await send({ id: 2, price: -1 })).toEqual([400, '[1].price: must be a number from 0 to 1e12'])
    expect(await send({ price: 1 })).toEqual([400, 'Missing required fields: [1].id'])
    expect(await send({ id: 2, price: 1, if_version: 7 })).toEqual([
      412,
      '[1]: Item has changed: its version is now 1; read it again before writing',
    ])
    expect(await versionsOf(server)).toEqual([
      ['Lamp', 10, 1],
      ['Rug', 10, 1],
      ['Chair', 10, 1],
    ])
  })

  test('with partial=true writes every valid row and reports the others', async () => {
    await using server = await startTestServer()
    await createItems(server)
    const json = [{ id: 1, price: 'x' }, { id: 9 }, { id: 2, price: 7 }, { id: 3, price: 7, if_version: 5 }]
    const { status, body } = await server.request('PATCH', '/items/bulk?partial=true', { json })
    expect([status, body]).toEqual([
      200,
      [
        {
          status: 400,
          error: 'price: must be a number from 0 to 1e12, not text',
          fields: [{ field: 'price', message: 'must be a number from 0 to 1e12, not text' }],
        },
        { status: 404, error: 'Item not found' },
        { status: 200, changed: true, record: { id: 2, name: 'Rug', price: 7, category: null, version: 2 } },
        { status: 412, error: 'Item has changed: its version is now 1; read it again before writing' },
      ],
    ])
    expect(await versionsOf(server)).toEqual([
      ['Lamp', 10, 1],
      ['Rug', 7, 2],
      ['Chair', 10, 1],
    ])
  })

  test('with partial=true a row that is no object names no field', async () => {
    await using server = await startTestServer()
    const { body } = await server.request('PATCH', '/items/bulk?partial=true', { json: [5, null] })
    expect(body).toEqual([
      { status: 400, error: 'must be an object, not a number' },
      { status: 400, error: 'must be an object, not null' },
    ])
  })

  test('names users by e-mail address, and creates the missing ones', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const users = [
      { email: 'ADA@example.com', age: 36 },
      { email: 'bob@example.com', name: 'Bob' },
      { email: 'bob@example.com', age: 20 },
      { email: 'carl@example.com' },
    ]
    const { results } = await server.client.users.updateMany.mutate({
      users,
      key: 'email',
      create: true,
      partial: true,
    })
    expect(
      results.map(({ status, record, error }) => [status, record?.id, record?.age, record?.version, error]),
    ).toEqual([
      [200, 1, 36, 2, undefined],
      [201, 2, null, 1, undefined],
      [200, 2, 20, 2, undefined],
      [400, undefined, undefined, undefined, 'Missing required fields: name'],
    ])
    const unknown = server.client.users.updateMany.mutate({ users: [{ email: 'dora@example.com' }], key: 'email' })
    await expect(unknown).rejects.toThrow('users[0]: User not found')
  })

  test('a row that creates a record has no version, and one that names a record by another key keeps the key', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const rows = [
      { email: 'ADA@example.com', age: 3 },
      { email: 'ada@example.com', id: 1, age: 3 },
      { email: 'ada@example.com', id: 2, age: 4 },
      { email: 'new@example.com', name: 'New', if_version: 1 },
    ]
    const { body } = await server.request('PATCH', '/api/users/bulk?key=email&create=true&partial=true', { json: rows })
    expect(body).toEqual([
      {
        status: 200,
        changed: true,
        record: expect.objectContaining({ id: 1, email: 'ada@example.com', age: 3, version: 2 }),
      },
      { status: 200, changed: false, record: expect.objectContaining({ id: 1, age: 3, version: 2 }) },
      {
        status: 400,
        error: 'id: must be that of the record with this email',
        fields: [{ field: 'id', message: 'must be that of the record with this email' }],
      },
      { status: 412, error: 'User does not exist, so it has no version' },
    ])
  })

  test('invalid parameters and rows are a 400 that says what is allowed', async () => {
    await using server = await startTestServer()
    const messageOf = async (query: string, json: unknown) =>
      (await server.request('PATCH', `/api/users/bulk${query}`, { json })).body.error
    expect(await messageOf('?partial=1', [{ id: 1 }])).toBe('partial: must be true or false')
    expect(await messageOf('?key=name', [{ id: 1 }])).toBe('key: must be id or email')
    expect(await messageOf('?create=yes', [{ id: 1 }])).toBe('create: must be true or false')
    expect(await messageOf('', [null])).toBe('[0]: must be an object, not null')
  })

  test('C6 a row that has unknown fields and changes none is a 400 that names them', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const json = [{ id: 1, nmae: 'Eve', if_version: 1 }, { id: 1, created_at: '2001-01-01T00:00:00.000Z' }, { id: 1 }]
    const { status, body } = await server.request('PATCH', '/api/users/bulk', { json })
    expect([status, body]).toEqual([400, { error: '[0].nmae: is not a recognized field' }])

    const partial = await server.request('PATCH', '/api/users/bulk?partial=true', { json })
    const error = 'nmae: is not a recognized field'
    const fields = [{ field: 'nmae', message: 'is not a recognized field' }]
    const unchanged = { status: 200, changed: false, record: expect.objectContaining({ name: 'Ada', version: 1 }) }
    expect(partial.body).toEqual([{ status: 400, error, fields }, unchanged, unchanged])

    const lamp = (await server.request('POST', '/items', { json: { name: 'Lamp', price: 1 } })).body.item
    for (const name of ['status', 'error', 'fields', 'record', 'created_at']) {
      const { status, body } = await server.request('PATCH', '/items/bulk', { json: [{ id: lamp.id, [name]: 1 }] })
      expect([name, status, body]).toEqual([name, 400, { message: `[0].${name}: is not a recognized field` }])
    }

    const wide = [{ id: 1, ...Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`x${n}`, 1])) }]
    const { body: results } = await server.request('PATCH', '/api/users/bulk?partial=true', { json: wide })
    expect([results[0].status, results[0].fields.length]).toEqual([400, 10])
    const long = await server.request('PATCH', '/api/users/bulk', { json: Array(2000).fill({ x: 0 }) })
    expect([long.status, long.body]).toEqual([400, { error: 'Body: must be an array of 1 to 1000 users' }])

    const mixed = await server.request('PATCH', '/api/users/bulk', { json: [{ id: 1, nmae: 'Eve', age: 5 }] })
    expect(mixed.body).toMatchObject([{ status: 200, record: { name: 'Ada', age: 5 } }])
  })

  test('C6 the key that identifies the record of a row changes none of its fields', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const json = [{ email: 'ada@example.com', nmae: 'Eve' }]
    const byEmail = await server.request('PATCH', '/api/users/bulk?key=email', { json })
    expect([byEmail.status, byEmail.body]).toEqual([400, { error: '[0].nmae: is not a recognized field' }])
    const byId = await server.request('PATCH', '/api/users/bulk', { json: [{ id: 1, email: 'eve@example.com', x: 1 }] })
    expect(byId.body).toMatchObject([{ status: 200, record: { email: 'eve@example.com' } }])
  })

  test('a row that conflicts with a unique field leaves the other rows and the transaction intact', async () => {
    await using server = await startTestServer()
    for (const email of ['a@example.com', 'b@example.com', 'c@example.com']) await createUser(server, { email })
    const users = [
      { id: 1, email: 'B@example.com' },
      { id: 2, name: 'Bea' },
      { id: 3, email: 'a@example.com' },
    ]
    const { results } = await server.client.users.updateMany.mutate({ users, partial: true })
    expect(results.map(({ status, error }) => [status, error])).toEqual([
      [409, 'email: already in use by another user'],
      [200, undefined],
      [409, 'email: already in use by another user'],
    ])
    expect((await server.client.audit.list.query({ procedure: 'users.updateMany' })).audit).toMatchObject([
      { record_id: 2, before: { name: 'Ada' }, after: { name: 'Bea' } },
    ])
  })

  test('a repetition with its Idempotency-Key changes nothing', async () => {
    await using server = await startTestServer()
    await createItems(server)
    const send = () =>
      server.request('PATCH', '/items/bulk?create=true', {
        json: [{ name: 'New', price: 1 }],
        headers: { 'Idempotency-Key': 'once' },
      })
    const first = await send()
    expect(first.body).toEqual([{ status: 201, record: { id: 4, name: 'New', price: 1, category: null, version: 1 } }])
    expect((await send()).body).toEqual(first.body)
    expect(await versionsOf(server)).toHaveLength(4)
  })

  test('U17 a writer may not change a role or a password, nor create an admin', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const headers = { Authorization: (await createCallers(server)).writer as string }
    const json = [
      { id: 1, role: 'admin' },
      { id: 1, password: 'correct horse' },
      { id: 1, role: 'user', age: 4 },
      { name: 'Eve', email: 'eve@example.com', role: 'admin' },
      { name: 'Bob', email: 'bob@example.com', password: 'correct horse' },
    ]
    const { body } = await server.request('PATCH', '/api/users/bulk?partial=true&create=true', { json, headers })
    expect(body.map(({ status }: { status: number }) => status)).toEqual([403, 403, 200, 403, 201])
    expect((await server.request('PATCH', '/api/users/bulk', { json: [json[0]], headers })).status).toBe(403)
  })
})
