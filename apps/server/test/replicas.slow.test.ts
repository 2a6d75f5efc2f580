import { createClient } from '@resource/client'
import { query, startPostgres } from '@resource/postgres-test'
import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { createItem } from './records.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

const LAG_MS = '60000'
const WROTE_COOKIE = 'resource_wrote=1'
const lamp = { name: 'Lamp', price: 1 }

/** A primary and a streaming replica, and the environment of a service that uses them. */
async function startReplicated() {
  const primary = await startPostgres()
  const replica = await primary.startReplica()
  return {
    environment: {
      DATABASE_URL: primary.url,
      DATABASE_REPLICA_URLS: replica.url.replace('postgres@', 'with_password:secret@'),
      DATABASE_REPLICA_LAG_MS: LAG_MS,
    },
    replica,
    /** Pauses the replay of the replica: later writes stay invisible there. */
    freeze: () => query(replica.url, 'SELECT pg_wal_replay_pause()'),
    [Symbol.asyncDispose]: async () => {
      await replica[Symbol.asyncDispose]()
      await primary[Symbol.asyncDispose]()
    },
  }
}

type Replicated = Awaited<ReturnType<typeof startReplicated>>

/** A service that reads from a replica whose state is frozen without records. */
async function startFrozen({ environment, freeze }: Replicated) {
  const server = await startTestServer(environment)
  await expect.poll(() => server.log.filter((line) => line.includes('replica in rotation')).length).toBe(1)
  await freeze()
  return server
}

test('a client reads its own writes until its cookie expires, and others may not see them yet', async () => {
  await using cluster = await startReplicated()
  await using server = await startFrozen(cluster)
  const { headers } = await server.request('POST', '/items/', { json: lamp })
  expect(headers.get('Set-Cookie')).toBe(`${WROTE_COOKIE}; Max-Age=61; Path=/; HttpOnly; SameSite=Lax`)

  const withCookie = { headers: { Cookie: `theme=dark; ${WROTE_COOKIE}` } }
  expect((await server.request('GET', '/items/1', withCookie)).body).toMatchObject(lamp)
  expect((await server.request('GET', '/items', withCookie)).body).toHaveLength(1)
  expect((await server.request('GET', '/items/1')).status).toBe(404)
  expect((await server.request('GET', '/items')).body).toEqual([])
  for (const [options, status] of [
    [withCookie, 200],
    [{}, 404],
  ] as const) {
    expect((await fetch(`${server.url}/trpc/items.get?input={"id":1}`, options)).status).toBe(status)
  }
  expect((await server.request('GET', '/items/1', withCookie)).headers.get('Set-Cookie')).toBeNull()
})

test('the typed client sends the cookie automatically', async () => {
  await using cluster = await startReplicated()
  await using server = await startFrozen(cluster)
  const { id } = await server.client.items.create.mutate(lamp)
  expect(await server.client.items.get.query({ id })).toMatchObject(lamp)
  expect(await server.client.items.list.query({})).toMatchObject({ items: [lamp] })
  const other = createClient({ baseUrl: server.url })
  await expect(other.items.get.query({ id })).rejects.toThrow('Item not found')
})

test('the primary decides every write, and a refused write sets the cookie as well', async () => {
  await using cluster = await startReplicated()
  await using server = await startFrozen(cluster)
  await createItem(server)
  const ifMatch = (version: number) => ({ json: { price: 2 }, headers: { 'If-Match': `"${version}-Item"` } })
  expect((await server.request('PATCH', '/items/1', ifMatch(1))).body).toMatchObject({ price: 2 })
  const refused = await server.request('PATCH', '/items/1', ifMatch(1))
  expect([refused.status, refused.headers.get('Set-Cookie')]).toEqual([412, expect.stringContaining(WROTE_COOKIE)])

  const keyed = { json: lamp, headers: { 'Idempotency-Key': 'k' } }
  const first = await server.request('POST', '/items/', keyed)
  expect((await server.request('POST', '/items/', keyed)).body).toEqual(first.body)
  const ada = { json: { name: 'Ada', email: 'ada@example.com' } }
  expect((await server.request('POST', '/users', ada)).status).toBe(201)
  expect((await server.request('POST', '/users', ada)).status).toBe(409)
})

test('while the replica is down, reads use the primary, and the log reports it without the password', async () => {
  await using cluster = await startReplicated()
  await using server = await startFrozen(cluster)
  await createItem(server)
  await cluster.replica.stop('crash')
  expect((await server.request('GET', '/items/1')).status).toBe(200)
  const line = server.log.find((text) => text.includes('replica out of rotation'))
  expect(JSON.parse(line ?? '')).toMatchObject({ replica: `postgresql://127.0.0.1:${cluster.replica.port}/postgres` })
  expect(server.log.filter((text) => text.includes('secret'))).toEqual([])
})

test('the cookie from one worker makes the other read from the primary', async () => {
  await using cluster = await startReplicated()
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { ...cluster.environment, WORKERS: '2' })
  const serving = () => service.lines.filter((line) => line.includes('replica in rotation')).length
  await expect.poll(serving).toBe(2)
  const url = await service.url()
  await cluster.freeze()
  const created = await fetch(`${url}/items/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(lamp),
  })
  const Cookie = created.headers.get('Set-Cookie')?.split(';')[0] ?? ''
  // Each request uses a new connection, so that both workers get a share.
  const statuses = (headers: Record<string, string>) =>
    Promise.all(
      Array.from({ length: 20 }, async () => {
        const answer = await fetch(`${url}/items/1`, { headers: { Connection: 'close', ...headers } })
        return answer.status
      }),
    )
  expect(new Set(await statuses({ Cookie }))).toEqual(new Set([200]))
  expect(new Set(await statuses({}))).toEqual(new Set([404]))
  expect(service.lines.filter((line) => line.includes('secret'))).toEqual([])
})

test('without replicas no cookie is set', async () => {
  await using server = await startTestServer()
  expect((await server.request('POST', '/items/', { json: lamp })).headers.get('Set-Cookie')).toBeNull()
})
