import {
  AbortedError,
  ConflictError,
  createClient,
  InvalidInputError,
  NotFoundError,
  RateLimitedError,
  ServiceError,
  TimeoutError,
  UnavailableError,
  VersionMismatchError,
} from '@resource/client'
import { TRPCClientError } from '@trpc/client'
import { expect, expectTypeOf, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { spawnService, temporaryFolder } from './service-process.ts'
import { startStubServer } from './stub-server.ts'

const failure = (call: Promise<unknown>) =>
  call.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => error,
  )

test('each kind of failure has its own class, with the status, fields and message of the service', async () => {
  await using server = await startTestServer()
  const { users, items } = createClient({ baseUrl: server.url })
  const { id } = await users.create.mutate({ name: 'Ada', email: 'ada@example.com' })

  const missing = await failure(users.get.query({ id: 99 }))
  expect(missing).toBeInstanceOf(NotFoundError)
  expect(missing).toBeInstanceOf(ServiceError)
  expect(missing).toBeInstanceOf(TRPCClientError)
  expect(missing).toMatchObject({ name: 'NotFoundError', status: 404, message: 'User not found', fields: [] })

  const invalid = await failure(items.create.mutate({ name: '', price: -1 }))
  expect(invalid).toBeInstanceOf(InvalidInputError)
  expect(invalid).toMatchObject({
    status: 400,
    fields: [
      { field: 'name', message: 'must be text of 1 to 200 characters' },
      { field: 'price', message: 'must be a number from 0 to 1e12' },
    ],
  })

  const taken = await failure(users.create.mutate({ name: 'Eve', email: 'ADA@example.com' }))
  expect(taken).toBeInstanceOf(ConflictError)
  expect(taken).toMatchObject({ status: 409, fields: [{ field: 'email', message: 'already in use by another user' }] })

  const stale = await failure(users.update.mutate({ id, name: 'Ada L', if_version: 7 }))
  expect(stale).toBeInstanceOf(VersionMismatchError)
  expect(stale).toMatchObject({ status: 412 })
})

test('an unreachable service is reported as unavailable once the time for retries is over', async () => {
  const { books } = createClient({ baseUrl: 'http://127.0.0.1:9', retryForMs: 300 })
  const error = await failure(books.get.query({ id: 1 }))
  expect(error).toBeInstanceOf(UnavailableError)
  expect(error).toMatchObject({ status: 0, message: 'The service cannot be reached' })
})

test('a call ends at its timeout or at its abort signal', async () => {
  await using silent = await startStubServer(() => {})
  const { books } = createClient({ baseUrl: silent.url, timeoutMs: 100 })
  expect(await failure(books.get.query({ id: 1 }))).toBeInstanceOf(TimeoutError)

  const abort = new AbortController()
  const call = failure(books.get.query({ id: 1 }, { signal: abort.signal, timeoutMs: 30_000 }))
  abort.abort()
  expect(await call).toBeInstanceOf(AbortedError)
})

test('the client waits for Retry-After, and does not retry what the service rejects for good', async () => {
  const seen: { at: number; key: string }[] = []
  await using busy = await startStubServer((req, res) => {
    let body = ''
    req.on('data', (chunk) => {
      body += chunk
    })
    req.on('end', () => {
      seen.push({ at: performance.now(), key: JSON.parse(body)[0].idempotency_key })
      const status = seen.length === 1 ? 503 : 429
      res.writeHead(status, { 'Retry-After': seen.length === 1 ? '1' : '60', 'Content-Type': 'application/json' })
      res.end(`[{"error":{"message":"later","code":-32603,"data":{"code":"X","httpStatus":${status},"fields":[]}}}]`)
    })
  })
  const { books } = createClient({ baseUrl: busy.url, timeoutMs: 20_000 })
  const error = await failure(books.create.mutate({ title: 'T', author: 'A', published_date: '2020-01-01' }))
  expect(error).toBeInstanceOf(RateLimitedError)
  expect(error).toMatchObject({ retryAfterMs: 60_000 })
  expect(seen.length).toBe(2)
  expect((seen[1]?.at ?? 0) - (seen[0]?.at ?? 0)).toBeGreaterThanOrEqual(990)
  expect(seen[0]?.key).toMatch(/^[0-9a-f]{32}$/)
  expect(seen[1]?.key).toBe(seen[0]?.key)
})

test('with retries disabled a call is attempted once', async () => {
  const bodies: string[] = []
  await using busy = await startStubServer((req, res) => {
    req.on('data', (chunk) => bodies.push(String(chunk)))
    req.on('end', () => res.writeHead(503).end('{}'))
  })
  const { items } = createClient({ baseUrl: busy.url, retryForMs: 0 })
  await failure(items.create.mutate({ name: 'Lamp', price: 1 }, { idempotencyKey: 'key-1' }))
  expect(bodies).toEqual(['{"0":{"name":"Lamp","price":1,"idempotency_key":"key-1"}}'])
})

test('500 creates lose nothing and duplicate nothing across a kill and restart of the service', async () => {
  await using folder = await temporaryFolder()
  await using first = spawnService(folder.path)
  const baseUrl = await first.url()
  const client = createClient({ baseUrl, retryForMs: 25_000, retriesPerSecond: 200 })
  let created = 0
  const create = async (n: number) => {
    await client.items.create.mutate({ name: `Item ${n}`, price: n })
    created++
    if (created === 100) first.signal('SIGKILL')
  }
  const restarted = first.exited.then(async () => {
    const second = spawnService(folder.path, { PORT: new URL(baseUrl).port })
    await second.url()
    return second
  })
  const queue = Array.from({ length: 500 }, (_, n) => n)
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      for (let n = queue.shift(); n !== undefined; n = queue.shift()) await create(n)
    }),
  )
  await using _second = await restarted
  const names: string[] = []
  for await (const item of client.items.iterate({ limit: 150 })) names.push(item.name)
  expect(names.length).toBe(500)
  expect(new Set(names).size).toBe(500)
})

test('a list is iterated record by record or page by page', async () => {
  await using server = await startTestServer()
  const client = createClient({ baseUrl: server.url })
  const users = ['Ada', 'Bob', 'Cy', 'Di', 'Ed'].map((name, age) => ({ name, email: `${name}@example.com`, age }))
  await client.users.createMany.mutate({ users })
  const names: string[] = []
  for await (const user of client.users.iterate({ sort: 'age_desc', limit: 2 })) {
    expectTypeOf(user.email).toBeString()
    names.push(user.name)
  }
  expect(names).toEqual(['Ed', 'Di', 'Cy', 'Bob', 'Ada'])

  const sizes: number[] = []
  for await (const page of client.users.pages({ role: 'user', limit: 2 })) sizes.push(page.users.length)
  expect(sizes).toEqual([2, 2, 1])

  // @ts-expect-error: books have no role
  client.books.iterate({ role: 'admin' })
})
