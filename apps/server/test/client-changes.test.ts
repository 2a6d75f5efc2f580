import {
  type Change,
  createClient,
  GoneError,
  InvalidInputError,
  type Output,
  UnauthorizedError,
} from '@resource/client'
import { createLocalClient } from '@resource/server/local'
import { createTestServer } from '@resource/server/testing'
import { expect, expectTypeOf, test } from 'vitest'
import { spawnService, temporaryFolder } from './service-process.ts'

/** The first changes. */
async function take<C>(count: number, changes: AsyncIterable<C>): Promise<C[]> {
  const taken: C[] = []
  for await (const change of changes) if (taken.push(change) === count) break
  return taken
}

const titleOf = ({ type, record_id, version }: Change) => `${type} ${record_id} v${version}`

test('changes have the types of their resources, and can be those of some resources or of one record', async () => {
  await using server = await createTestServer()
  const client = createClient({ baseUrl: server.url })
  const book = await client.books.create.mutate({ title: 'Emma', author: 'J. Austen', published_date: '1815-12-23' })
  await client.items.createMany.mutate({ items: ['Lamp', 'Rug'].map((name) => ({ name, price: 1 })) })
  const rug = await client.items.update.mutate({ id: 2, price: 3 })
  await client.items.delete.mutate({ id: 2 })

  const all = await take(5, client.changes({ after: '0-0' }))
  expect(all.map(titleOf)).toEqual([
    'books.created 1 v1',
    'items.created 1 v1',
    'items.created 2 v1',
    'items.updated 2 v2',
    'items.deleted 2 v2',
  ])
  expect([all[0]?.record, all[3]?.record, all[4]?.record]).toEqual([book, rug, null])
  const [first] = all
  if (first?.type === 'books.created') expectTypeOf(first.record).toEqualTypeOf<Output<'books', 'get'>>()
  expectTypeOf<Extract<Change, { type: 'items.deleted' }>['record']>().toBeNull()
  expectTypeOf<'users' | 'books' | 'items'>().toExtend<Change['resource']>()

  const resources = ['items'] as const
  const items = await take(2, client.changes({ resources, recordId: 2, after: all[2]?.cursor }))
  expect(items).toEqual(all.slice(3))
  expectTypeOf(items).toEqualTypeOf<Change<'items'>[]>()
  // @ts-expect-error: keys cannot be followed
  client.changes({ resources: ['keys'] })
  expect((await client.changes.list.query({ after: '0-0' })).changes).toEqual(all)
})

test('without a cursor they begin now, and the position where they begin is known', async () => {
  await using server = await createTestServer()
  const client = createClient({ baseUrl: server.url })
  await client.items.create.mutate({ name: 'Lamp', price: 1 })
  const positions: string[] = []
  const onPosition = (position: string) => {
    positions.push(position)
    if (positions.length === 1) void client.items.update.mutate({ id: 1, price: 2 })
  }
  const [change] = await take(1, client.changes({ onPosition }))
  expect(titleOf(change as Change)).toBe('items.updated 1 v2')
  const { changes } = await client.changes.list.query({ after: '0-0' })
  expect(positions).toEqual([changes[0]?.cursor])
})

test('they end with a typed error where they cannot go on', async () => {
  await using server = await createTestServer()
  const client = createClient({ baseUrl: server.url })
  await client.items.create.mutate({ name: 'Lamp', price: 1 })
  const failure = (options: object) => take(1, client.changes(options)).catch((error) => error)
  const invalid = await failure({ after: 'x' })
  expect(invalid).toBeInstanceOf(InvalidInputError)
  expect(invalid).toMatchObject({ fields: [{ field: 'after', message: 'must be a cursor of the feed' }] })
  const gone = await failure({ after: '1-a' })
  expect(gone).toBeInstanceOf(GoneError)
  expect(gone).toMatchObject({ status: 410, reason: 'cursor_reset' })
  const { key } = await client.keys.create.mutate({ name: 'first', role: 'admin' })
  expect(await failure({})).toBeInstanceOf(UnauthorizedError)
  const admin = createClient({ baseUrl: server.url, apiKey: key })
  const reader = await admin.keys.create.mutate({ name: 'second', role: 'reader' })
  const onPosition = () => void admin.keys.revoke.mutate({ id: reader.id })
  const following = take(1, createClient({ baseUrl: server.url, apiKey: reader.key }).changes({ onPosition }))
  await expect(following).rejects.toBeInstanceOf(UnauthorizedError)
})

test('after a break they continue at the last position, also one without a change, until a reset', async () => {
  const bodies = [
    'retry: 1\nevent: position\nid: 5-a\ndata: {}\n\n',
    'event: change\nid: 6-b\ndata: {"cursor":"6-b"}\n\nevent: position\nid: 9-c\ndata: {}\n\n',
    'event: reset\ndata: {"reason":"cursor_reset"}\n\n',
  ]
  const urls: string[] = []
  const fetch = async (url: unknown) => {
    urls.push(String(url))
    return new Response(bodies[urls.length - 1], { headers: { 'Content-Type': 'text/event-stream' } })
  }
  const positions: string[] = []
  const onPosition = (position: string) => void positions.push(position)
  const client = createClient({ baseUrl: 'http://127.0.0.1:9', fetch })
  const changes = client.changes({ resources: ['items', 'books'], onPosition })
  expect((await changes.next()).value).toEqual({ cursor: '6-b' })
  const lost = await changes.next().catch((error) => error)
  expect(lost).toBeInstanceOf(GoneError)
  expect(lost).toMatchObject({ code: 'gone', status: 410, reason: 'cursor_reset' })
  expect(urls).toEqual(
    ['', 'after=5-a&', 'after=9-c&'].map((after) => `http://127.0.0.1:9/api/changes?${after}resources=items%2Cbooks`),
  )
  expect(positions).toEqual(['5-a', '9-c'])
})

test('a service that is killed three times gives each change once, in the order of the versions', async () => {
  await using folder = await temporaryFolder()
  let service = spawnService(folder.path)
  const baseUrl = await service.url()
  try {
    const client = createClient({ baseUrl, retryForMs: 60_000, timeoutMs: 60_000 })
    const ids = [1, 2, 3, 4, 5]
    await client.items.createMany.mutate({ items: ids.map((id) => ({ name: `${id}`, price: 0 })) })
    const { cursor } = await client.changes.list.query({})
    const seen = take(300, client.changes({ after: cursor, resources: ['items'] }))
    for (let price = 1; price <= 60; price++) {
      await Promise.all(ids.map((id) => client.items.update.mutate({ id, price })))
      if (price % 20 !== 10) continue
      await service[Symbol.asyncDispose]()
      service = spawnService(folder.path, { PORT: new URL(baseUrl).port })
    }
    const changes = await seen
    for (const id of ids) {
      const versions = changes.filter(({ record_id }) => record_id === id).map(({ version }) => version)
      expect(versions).toEqual(Array.from({ length: 60 }, (_, n) => n + 2))
    }
  } finally {
    await service[Symbol.asyncDispose]()
  }
})

test('the client without HTTP has them too, also those of other processes', async () => {
  await using server = await createTestServer()
  await using local = await createLocalClient({ databaseUrl: server.databaseUrl })
  const client = createClient({ baseUrl: server.url })
  const onPosition = async () => {
    if (positions++ === 0) await client.items.create.mutate({ name: 'Lamp', price: 1 })
  }
  let positions = 0
  const [change] = await take(1, local.changes({ resources: ['items'], onPosition }))
  expect(change?.type).toBe('items.created')
  const abort = new AbortController()
  const next = local.changes({ signal: abort.signal }).next()
  abort.abort()
  await expect(next).rejects.toMatchObject({ code: 'aborted' })
})
