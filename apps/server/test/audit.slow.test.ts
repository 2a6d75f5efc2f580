import { userInfo } from 'node:os'
import { type audited, type Contract, contract } from '@resource/contract'
import { createLocalClient } from '@resource/server/local'
import { describe, expect, test } from 'vitest'
import { deleteOldEntries } from '../src/audit/retention.ts'
import { SEEDED, seed } from './examples.ts'
import { bearer, preparedServers, startTestServer, type TestServer } from './harness.ts'
import { startIdentityProvider } from './identity-provider.ts'
import { logIn } from './log-in.ts'
import {
  aTimestamp,
  createBook,
  createItem,
  createKey,
  createUser,
  dropTable,
  executeSql,
  openDatabase,
  someUsers,
} from './records.ts'
import { changesOf, type collections, inputOf, nextId, recordOf } from './samples.ts'

type Fields = Record<string, unknown>

const times = { created_at: aTimestamp, updated_at: aTimestamp }
const ada = {
  ...{ id: 1, name: 'Ada', email: 'ada@example.com', role: 'user', status: 'active', age: null },
  ...{ ...times, version: 1 },
}
const bob = { ...ada, id: nextId('users'), name: 'Bob', email: 'bob@example.com' }
const dune = { id: 1, title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01', version: 1 }
const emma = { title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' }
const lamp = { id: 1, name: 'Lamp', price: 24.5, category: null, version: 1 }
const rug = { id: nextId('items'), name: 'Rug', price: 80, category: 'floor', version: 1 }
const key = {
  ...{ id: 2, name: 'test', role: 'reader', owner: null },
  ...{ prefix: expect.stringMatching(/^rsk_\w{12}$/), created_at: aTimestamp, expires_at: null, revoked_at: null },
  ...{ last_used_at: null, rotated_at: null, former_until: null, version: 1 },
}
const session = {
  ...{ id: 1, actor: 'key 1', actor_detail: 'test', role: 'admin', address: '127.0.0.1', browser: 'node' },
  ...{ created_at: aTimestamp, last_used_at: aTimestamp, expires_at: aTimestamp },
}

type Noun = 'users' | 'books' | 'items' | 'keys' | 'sessions'
type Mutations<N extends Noun> = {
  [P in keyof Contract[N]['procedures']]: Contract[N]['procedures'][P] extends { type: 'mutation' } ? P : never
}[keyof Contract[N]['procedures']]

/** An input, and the records that the procedure then changes, each before and after. */
type Example = [input: Fields, ...changes: [before: Fields | null, after: Fields | null][]]

/** One example for each procedure that writes. Those of other collections are built from their fields. */
const writes: { [N in Noun]: Record<Mutations<N>, Example> } = {
  users: {
    create: [{ name: 'Bob', email: 'bob@example.com', password: 'analytical' }, [null, { ...bob, password: 'set' }]],
    createMany: [
      {
        users: [
          { name: 'Bob', email: 'bob@example.com' },
          { name: 'Cy', email: 'cy@example.com', role: 'admin', age: 9, password: 'analytical' },
        ],
      },
      [null, bob],
      [
        null,
        {
          ...bob,
          id: nextId('users') + 1,
          name: 'Cy',
          email: 'cy@example.com',
          role: 'admin',
          age: 9,
          password: 'set',
        },
      ],
    ],
    replace: [
      { id: 1, name: 'Ada L.', email: 'ada@example.com', role: 'admin' },
      [ada, { ...ada, name: 'Ada L.', role: 'admin', version: 2 }],
    ],
    update: [{ id: 1, password: 'difference' }, [ada, { ...ada, version: 2, password: 'set' }]],
    setStatus: [{ id: 1, status: 'inactive' }, [ada, { ...ada, status: 'inactive', version: 2 }]],
    updateMany: [
      {
        users: [
          { id: 1, password: 'difference' },
          { name: 'Bob', email: 'bob@example.com' },
        ],
        create: true,
      },
      [ada, { ...ada, version: 2, password: 'set' }],
      [null, bob],
    ],
    delete: [{ id: 1 }, [ada, null]],
    updateWhere: [{ status: 'active', changes: { set: { age: 40 } } }, [ada, { ...ada, age: 40, version: 2 }]],
    deleteWhere: [{ status: 'active' }, [ada, null]],
  },
  books: {
    create: [emma, [null, { ...emma, id: nextId('books'), version: 1 }]],
    createMany: [
      { books: [emma, emma] },
      [null, { ...emma, id: nextId('books'), version: 1 }],
      [null, { ...emma, id: nextId('books') + 1, version: 1 }],
    ],
    replace: [{ id: 1, ...emma }, [dune, { id: 1, ...emma, version: 2 }]],
    updateMany: [{ books: [{ id: 1, ...emma }] }, [dune, { id: 1, ...emma, version: 2 }]],
    updateWhere: [
      { q: 'dune', changes: { set: { author: 'F. H.' } } },
      [dune, { ...dune, author: 'F. H.', version: 2 }],
    ],
    deleteWhere: [{ q: 'dune' }, [dune, null]],
    delete: [{ id: 1 }, [dune, null]],
  },
  items: {
    create: [{ name: 'Rug', price: 80, category: 'floor' }, [null, rug]],
    createMany: [{ items: [{ name: 'Rug', price: 80, category: 'floor' }] }, [null, rug]],
    replace: [{ id: 1, name: 'Rug', price: 80 }, [lamp, { ...lamp, name: 'Rug', price: 80, version: 2 }]],
    update: [{ id: 1, price: 19.9 }, [lamp, { ...lamp, price: 19.9, version: 2 }]],
    updateMany: [
      {
        items: [
          { id: 1, price: 19.9 },
          { id: 1, price: 19.9 },
        ],
      },
      [lamp, { ...lamp, price: 19.9, version: 2 }],
    ],
    updateWhere: [{ id_lt: 2, changes: { multiply: { price: 2 } } }, [lamp, { ...lamp, price: 49, version: 2 }]],
    deleteWhere: [{ id_lt: 2 }, [lamp, null]],
    delete: [{ id: 1 }, [lamp, null]],
  },
  keys: {
    create: [{ name: 'import', role: 'writer' }, [null, { ...key, id: 3, name: 'import', role: 'writer' }]],
    rotate: [{ id: 2 }, [key, { ...key, rotated_at: aTimestamp, former_until: aTimestamp, version: 2 }]],
    revoke: [{ id: 2 }, [key, { ...key, revoked_at: aTimestamp, version: 2 }]],
  },
  sessions: { end: [{ id: 1 }, [session, null]] },
}

/** An example for a standard procedure of a collection. */
function writeOf(noun: (typeof collections)[number], verb: string): Example | undefined {
  const [stored, input] = [recordOf(noun, 2), recordOf(noun, 1)]
  const { collection, procedures } = contract[noun]
  const { [verb as 'create']: procedure } = procedures
  const changes = Object.fromEntries(Object.entries(input).filter(([name]) => name in procedure.input.shape))
  const assigned = { ...(collection.timestamps && times), version: 1 }
  const before = { id: 1, ...stored, ...assigned }
  const created: [null, Fields] = [null, { id: nextId(noun), ...input, ...assigned }]
  const changed: Example = [{ id: 1, ...changes }, [before, { ...before, ...changes, version: 2 }]]
  const examples: Record<string, Example> = {
    create: [input, created],
    createMany: [{ [noun]: [input] }, created],
    replace: changed,
    update: changed,
    delete: [{ id: 1 }, [before, null]],
    updateMany: [{ [noun]: [{ id: 1, ...input }] }, [before, { ...before, ...input, version: 2 }]],
    updateWhere: [inputOf(noun, 'updateWhere', 1), [before, { ...before, ...changesOf(noun), version: 2 }]],
    deleteWhere: [inputOf(noun, 'deleteWhere', 1), [before, null]],
  }
  return examples[verb]
}

/** All audit entries, oldest first. The first `SEEDED` of them come from `seed`. */
async function entriesOf(server: TestServer, query = '') {
  const { status, body } = await server.request('GET', `/api/audit?sort=id_asc${query}`)
  expect(status).toBe(200)
  return body as (Fields & { id: number; before: Fields | null; after: Fields | null })[]
}

const startSeeded = preparedServers(seed)

describe('C55 every procedure that writes', () => {
  for (const [noun, { procedures }] of Object.entries(contract)) {
    for (const [verb, { type }] of Object.entries(procedures)) {
      if (type === 'query' || ['previews', 'proposals', 'reversals'].includes(noun)) continue

      test(`${noun}.${verb} records the actor and each record before and after`, async () => {
        const example =
          (writes as Record<string, Record<string, Example>>)[noun]?.[verb] ??
          writeOf(noun as (typeof collections)[number], verb)
        if (example === undefined) throw new Error('has no example')
        const [input, ...changes] = example
        await using server = await startSeeded()
        const client = server.client as unknown as Record<
          string,
          Record<string, { mutate: (input: Fields) => unknown }>
        >
        await client[noun]?.[verb]?.mutate(input)
        const entries = (await entriesOf(server)).slice(SEEDED)
        expect(entries).toEqual(
          changes.map(([before, after], index) => ({
            id: SEEDED + 1 + index,
            at: aTimestamp,
            actor: 'key 1',
            actor_detail: 'test',
            proposed_by: null,
            procedure: `${noun}.${verb}`,
            resource: noun,
            record_id: (after ?? before)?.id,
            before,
            after,
            request_id: expect.stringMatching(/^[\da-f-]{36}$/),
            address: '127.0.0.1',
            group: null,
            reverses: null,
          })),
        )
        // The record as the contract shows it, without the password marker.
        if (entries.length === 0) return
        const { before, after } = entries.at(-1) ?? {}
        const { password: _, ...shown } = after ?? before ?? {}
        const get = contract[noun as keyof typeof audited].procedures.get.output
        expect(Object.keys(shown)).toEqual(Object.keys(get.shape))
        get.parse(shown)
      })
    }
  }
})

describe('the actor of an entry is', () => {
  const actorOf = async (server: TestServer) => {
    const entry = (await entriesOf(server)).at(-1)
    return [entry?.actor, entry?.actor_detail, entry?.address]
  }

  test('anonymous while no key exists', async () => {
    await using server = await startTestServer()
    await createBook(server)
    expect(await actorOf(server)).toEqual(['anonymous', null, '127.0.0.1'])
  })

  test('a key, with its name', async () => {
    await using server = await startTestServer()
    const { key } = await createKey(server, { name: 'nightly import' })
    server.logIn(key)
    await createBook(server)
    expect(await actorOf(server)).toEqual(['key 1', 'nightly import', '127.0.0.1'])
  })

  test('a key that logged in to the console', async () => {
    await using server = await startTestServer()
    const { key } = await createKey(server, { name: 'operator' })
    const headers = { Cookie: (await logIn(server, key)).cookie }
    const { status } = await server.request('POST', '/books', { json: emma, headers })
    expect(status).toBe(201)
    server.logIn(key)
    expect(await actorOf(server)).toEqual(['key 1', 'operator (console)', '127.0.0.1'])
  })

  test('the subject of a token, with its issuer', async () => {
    await using provider = await startIdentityProvider()
    await using server = await startTestServer({ OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: 'resource' })
    server.logIn(await provider.token({ role: 'admin' }))
    await createBook(server)
    expect(await actorOf(server)).toEqual(['subject console', provider.issuer, '127.0.0.1'])
  })

  test('the operating-system user for the local client', async () => {
    await using server = await startTestServer()
    await using local = await createLocalClient({ databaseUrl: server.databaseUrl })
    await local.books.create.mutate(emma)
    expect(await entriesOf(server)).toMatchObject([
      {
        actor: 'local',
        actor_detail: userInfo().username,
        request_id: expect.stringMatching(/^[\da-f-]{36}$/),
        address: null,
      },
    ])
  })

  test('recorded with the address that a trusted proxy forwards, and only a trusted one', async () => {
    const addresses = async (environment: Record<string, string>) => {
      await using server = await startTestServer({ ALLOW_ANONYMOUS: 'true', ...environment })
      for (const from of ['192.0.2.9, 192.0.2.1', '2001:db8:1:2:3:4:5:6', 'whatever']) {
        await server.request('POST', '/books', { json: emma, headers: { 'X-Forwarded-For': from } })
      }
      return (await entriesOf(server)).map(({ address }) => address)
    }
    expect(await addresses({ TRUST_PROXY: 'loopback' })).toEqual(['192.0.2.1', '2001:db8:1:2:3:4:5:6', '127.0.0.1'])
    expect(await addresses({})).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1'])
  })
})

test('passwords, their hashes and keys never appear in the audit log', async () => {
  await using server = await startTestServer()
  const { key } = await createKey(server)
  server.logIn(key)
  await createUser(server, { password: 'analytical engine' })
  await server.request('POST', '/api/users/bulk', {
    json: [{ name: 'Bob', email: 'bob@example.com', password: 'analytical engine' }],
  })
  await server.request('PATCH', '/api/users/1', { json: { password: 'difference engine' } })
  await server.request('PATCH', '/api/users/1', { json: { name: 'Ada L.' } })
  await server.request('DELETE', '/api/users/1')
  await server.request('DELETE', '/api/keys/1', { headers: bearer((await createKey(server)).key) })
  await using database = await openDatabase(server)
  const entries = await database.read.auditEntries.page({
    where: {},
    order: { column: 'id', descending: false },
    take: 100,
  })
  expect(entries.map(({ procedure }) => procedure)).toEqual([
    ...['keys.create', 'users.create', 'users.createMany', 'users.update', 'users.update', 'users.delete'],
    ...['keys.create', 'keys.revoke'],
  ])
  // Reversals need the former hashes, which no answer contains.
  const text = JSON.stringify(entries.map(({ kept, ...entry }) => entry))
  for (const secret of ['engine', '$argon2', 'hash', key.slice(16)]) expect(text).not.toContain(secret)
  // Changes of other fields carry no password marker.
  expect(entries.map(({ after }) => after?.includes('password'))).toEqual([
    ...[false, true, true, true, false, undefined],
    ...[false, false],
  ])
})

describe('no entry is recorded', () => {
  test('for reads, refused requests and failed ones', async () => {
    await using server = await startTestServer()
    await seed(server)
    const { key: reader } = await createKey(server, { role: 'reader' })
    const refused: [number, string, string, unknown?, Record<string, string>?][] = [
      [200, 'GET', '/books/1'],
      [400, 'POST', '/books', { title: '' }],
      [403, 'POST', '/books', emma, bearer(reader)],
      [401, 'POST', '/books', emma, bearer('rsk_')],
      [404, 'DELETE', '/books/7'],
      [412, 'DELETE', '/books/1', undefined, { 'If-Match': '"7-Book"' }],
      [412, 'PUT', '/books/1', emma, { 'If-Match': '"7-Book"' }],
      [409, 'POST', '/api/users', { name: 'Ada', email: 'ADA@example.com' }],
      [409, 'POST', '/api/users/bulk', [...someUsers(3), { name: 'Ada', email: 'ADA@example.com' }]],
      // A user that other records reference stays even if inactive.
      [nextId('users') > 2 ? 409 : 200, 'DELETE', '/api/users?status=inactive'],
    ]
    for (const [expected, method, path, json, headers] of refused) {
      const { status } = await server.request(method, path, { json, ...(headers && { headers }) })
      expect([method, path, status]).toEqual([method, path, expected])
    }
    expect((await entriesOf(server)).slice(SEEDED)).toEqual([
      expect.objectContaining({ procedure: 'keys.create', record_id: 3 }),
    ])
  })

  test('for a repeat under the same idempotency key', async () => {
    await using server = await startTestServer()
    const headers = { 'Idempotency-Key': 'key-1' }
    for (const _ of [1, 2, 3]) await server.request('POST', '/api/users/bulk', { json: someUsers(2), headers })
    expect((await entriesOf(server)).map(({ record_id }) => record_id)).toEqual([1, 2])
  })
})

test('C43 a write that changes nothing has no entry', async () => {
  await using server = await startTestServer()
  await createItem(server)
  await server.request('PATCH', '/items/1', { json: { price: 24.5 } })
  expect(await entriesOf(server)).toMatchObject([{ before: null, after: lamp }])
})

test('a write whose audit entry fails is not stored', async () => {
  await using server = await startTestServer()
  await createBook(server)
  await dropTable(server, 'audit_entries')
  for (const [method, path, json] of [
    ['POST', '/books', emma],
    ['POST', '/books/bulk', [emma, emma]],
    ['PUT', '/books/1', emma],
    ['DELETE', '/books/1'],
  ] as const) {
    expect((await server.request(method, path, { json })).status).toBe(500)
  }
  const { body } = await server.request('GET', '/books')
  expect(body).toEqual([{ id: 1, title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' }])
})

test('C55 a deletion by filter records one entry for each record, however many', async () => {
  await using server = await startTestServer()
  await server.request('POST', '/api/users/bulk', { json: someUsers(600) })
  await server.request('PATCH', '/api/users/7/status', { json: { status: 'inactive' } })
  await server.request('DELETE', '/api/users?status=active')
  const query = '&procedure=users.deleteWhere&limit=1000&count=true'
  const { headers, body } = await server.request('GET', `/api/audit?sort=id_asc${query}`)
  expect(headers.get('x-total-count')).toBe('599')
  const ids = body.map((entry: { record_id: number }) => entry.record_id).sort((a: number, b: number) => a - b)
  expect([ids.slice(0, 8), ids.at(-1)]).toEqual([[1, 2, 3, 4, 5, 6, 8, 9], 600])
  expect(body[0]).toMatchObject({ before: { name: expect.stringMatching(/^User \d+$/), version: 1 }, after: null })
})

test('concurrent writes to one record form an unbroken chain of entries', async () => {
  await using server = await startTestServer()
  await createItem(server)
  const prices = Array.from({ length: 20 }, (_, n) => n)
  const write = (price: number) => server.request('PATCH', '/items/1', { json: { price } })
  for (const { status } of await Promise.all(prices.map(write))) expect(status).toBe(200)
  const entries = await entriesOf(server, '&procedure=items.update')
  const byVersion = new Map(entries.map((entry) => [entry.after?.version, entry]))
  for (let version = 2; version <= 21; version++) {
    expect(byVersion.get(version)?.before).toEqual(version === 2 ? lamp : byVersion.get(version - 1)?.after)
  }
})

test('an entry that was damaged outside the service is listed as such, and its request cannot be undone', async () => {
  await using server = await startTestServer()
  await createItem(server)
  const { headers } = await server.request('PATCH', '/items/1', { json: { price: 30 } })
  const request_id = headers.get('x-request-id')
  await server.request('PATCH', '/items/1', { json: { price: 31 } })
  await executeSql(server, `UPDATE audit_entries SET before = '{"id": 1, "price"' WHERE id = 2`)
  await executeSql(server, `UPDATE audit_entries SET before = '[]' WHERE id = 3`)
  expect(await entriesOf(server)).toEqual([
    expect.not.objectContaining({ is_damaged: true }),
    expect.objectContaining({ id: 2, before: null, after: { ...lamp, price: 30, version: 2 }, is_damaged: true }),
    expect.objectContaining({ id: 3, before: null, after: { ...lamp, price: 31, version: 3 }, is_damaged: true }),
  ])
  expect((await server.request('GET', '/api/audit/2')).body).toMatchObject({ id: 2, is_damaged: true })
  const { status, body } = await server.request('POST', '/api/reversals', { json: { request_id } })
  const message = 'items.update cannot be undone: its entry 2 of the audit log is damaged'
  expect([status, body.error.message]).toEqual([409, message])
  await executeSql(server, `UPDATE audit_entries SET before = after, kept = 'junk' WHERE id = 2`)
  expect((await server.request('POST', '/api/reversals', { json: { request_id } })).body.error.message).toBe(message)
})

describe('C55 the list', () => {
  const numbers = (body: { id: number }[]) => body.map(({ id }) => id)

  test('has the changes of one request', async () => {
    await using server = await startTestServer()
    await createItem(server)
    const { headers } = await server.request('POST', '/api/users/bulk', { json: someUsers(3) })
    await createItem(server)
    const of = (id: string | null, query = '') => server.request('GET', `/api/audit?request_id=${id}${query}`)
    const { headers: facts, body } = await of(headers.get('x-request-id'), '&count=true&limit=2')
    expect([numbers(body), facts.get('x-total-count')]).toEqual([[4, 3], '3'])
    expect((await of(headers.get('x-request-id'), '&at_gte=2099-01-01T00:00:00Z')).body).toEqual([])
    expect((await of('01989f2e-6a00-7c3e-8a51-3f0f4d1c9b20')).body).toEqual([])
    const { status, body: refused } = await of('7')
    const message = 'request_id: must be the X-Request-Id of the answer to a write'
    expect([status, refused.error.message]).toEqual([400, message])
  })

  test('is sorted newest first and supports pages and cursors', async () => {
    await using server = await startTestServer()
    await server.request('POST', '/api/users/bulk', { json: someUsers(5) })
    const page = async (query: string) => numbers((await server.request('GET', `/api/audit?${query}`)).body)
    expect(await page('')).toEqual([5, 4, 3, 2, 1])
    expect(await page('limit=2&page=2')).toEqual([3, 2])
    expect(await page('sort=id_asc&limit=2')).toEqual([1, 2])
    const walked: number[] = []
    for await (const { id } of server.client.audit.iterate({ limit: 2 })) walked.push(id)
    expect(walked).toEqual([5, 4, 3, 2, 1])
    const { headers } = await server.request('GET', '/api/audit?limit=2&after=')
    expect(headers.get('link')).toContain('rel="next"')
  })

  test('filters by resource, record, actor, procedure, kind of change and any combination', async () => {
    await using server = await startTestServer()
    for (const create of [createUser, createBook, createItem]) await create(server)
    server.logIn((await createKey(server)).key)
    await createKey(server)
    await server.request('PATCH', '/items/1', { json: { price: 1 } })
    const page = async (query: string) => numbers((await server.request('GET', `/api/audit?${query}`)).body)
    expect(await page('resource=items')).toEqual([6, 3])
    expect(await page('record_id=1')).toEqual([6, 4, 3, 2, 1])
    expect(await page('resource=users&record_id=1')).toEqual([1])
    expect(await page('actor=key%201')).toEqual([6, 5])
    expect(await page('procedure=keys.create')).toEqual([5, 4])
    expect(await page('resource=items&record_id=1&actor=key+1&procedure=items.update')).toEqual([6])
    expect(await page('resource=nosuch')).toEqual([])
    await server.request('DELETE', '/items/1')
    expect(await page('change=created')).toEqual([5, 4, 3, 2, 1])
    expect(await page('change=updated')).toEqual([6])
    expect(await page('change=deleted&resource=items')).toEqual([7])
    const { status, body } = await server.request('GET', '/api/audit?change=moved')
    expect([status, body.error.message]).toEqual([400, 'change: must be created, updated or deleted'])
    expect((await server.request('GET', '/api/audit?user=1')).status).toBe(400)
  })

  test('filters by time to the millisecond, even if ids and times are in different orders', async () => {
    await using server = await startTestServer()
    const start = Date.parse('2026-01-02T03:04:05.678Z')
    const at = (ms: number) => new Date(start + ms)
    const entry = { actor: 'local', procedure: 'books.create', resource: 'books', record_id: 1 }
    const offsets = [0, 1, 2, 1, 40_000, 20_000, 90_000, 600_000]
    await using database = await openDatabase(server)
    await database.write((tx) => tx.auditEntries.write(offsets.map((ms) => ({ create: { ...entry, at: at(ms) } }))))
    const page = async (from?: string, to?: string) => {
      const query = new URLSearchParams({ sort: 'id_asc', ...(from && { at_gte: from }), ...(to && { at_lt: to }) })
      return numbers((await server.request('GET', `/api/audit?${query}`)).body)
    }
    const time = (ms: number) => at(ms).toISOString()
    expect(await page(time(1), time(2))).toEqual([2, 4])
    expect(await page(time(1))).toEqual([2, 3, 4, 5, 6, 7, 8])
    expect(await page(undefined, time(2))).toEqual([1, 2, 4])
    expect(await page(time(30_000), time(90_001))).toEqual([5, 7])
    expect(await page(time(600_000))).toEqual([8])
    expect(await page(time(600_001))).toEqual([])
    expect(await page('0001-01-01T00:00:00Z', '9999-12-31T23:59:59.9999999Z')).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(await page('2026-01-02T03:04:05Z', '2026-01-02T03:04:06Z')).toEqual([1, 2, 3, 4])
    expect((await server.request('GET', '/api/audit?at_gte=yesterday')).status).toBe(400)
  })

  test('accepts ids over 32 bits', async () => {
    await using server = await startTestServer()
    const { status, body } = await server.request('GET', '/api/audit/4294967296')
    expect([status, body.error.message]).toEqual([404, 'Entry not found'])
    const cursor = Buffer.from(JSON.stringify(['id_asc', 2 ** 32, 2 ** 32])).toString('base64url')
    expect(await entriesOf(server, `&after=${cursor}`)).toEqual([])
  })
})

test('no API route changes an entry', async () => {
  await using server = await startTestServer()
  await createBook(server)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    for (const path of ['/api/audit', '/api/audit/1']) {
      const { status, headers } = await server.request(method, path, { json: {} })
      expect([method, path, status, headers.get('allow')]).toEqual([method, path, 405, 'GET, HEAD, OPTIONS'])
    }
  }
  expect(Object.values(contract.audit.procedures).map(({ type }) => type)).toEqual(['query', 'query'])
  expect((await server.request('GET', '/api/audit/1')).body).toMatchObject({ id: 1, procedure: 'books.create' })
})

test('entries older than the retention are dropped, except the newest, whose id must not be reused', async () => {
  await using server = await startTestServer()
  await using database = await openDatabase(server)
  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000)
  const entry = { actor: 'local', procedure: 'books.create', resource: 'books', record_id: 1 }
  const insert = (days: number, count: number) =>
    database.write((tx) => tx.auditEntries.write(Array(count).fill({ create: { ...entry, at: daysAgo(days) } })))
  await insert(31, 1200)
  await deleteOldEntries(database, 30)
  expect((await entriesOf(server)).map(({ id }) => id)).toEqual([1200])
  await insert(29, 3)
  await deleteOldEntries(database, 30)
  expect((await entriesOf(server)).map(({ id }) => id)).toEqual([1200, 1201, 1202, 1203])
})

test('a service drops entries older than AUDIT_DAYS at its start; AUDIT_DAYS=0 keeps all', async () => {
  const afterStart = async (days: string) => {
    await using first = await startTestServer()
    await using database = await openDatabase(first)
    const entry = { actor: 'local', procedure: 'books.create', resource: 'books', record_id: 1 }
    const at = new Date(Date.now() - 10 * 24 * 60 * 60 * 1000)
    await database.write((tx) => tx.auditEntries.write(Array(3).fill({ create: { ...entry, at } })))
    await using _second = await startTestServer({ DATABASE_URL: first.databaseUrl, AUDIT_DAYS: days })
    const count = () => database.read.auditEntries.count({})
    if (days !== '0') await expect.poll(count).toBe(1)
    return count()
  }
  expect(await afterStart('9')).toBe(1)
  expect(await afterStart('0')).toBe(3)
})
