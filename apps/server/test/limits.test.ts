import { createClient, RateLimitedError, UnavailableError } from '@resource/client'
import { createLocalClient } from '@resource/server/local'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createCallers } from './callers.ts'
import { startTestServer, type TestServer } from './harness.ts'

const rateOf = ({ headers }: { headers: Headers }) =>
  /^"default";r=(\d+);t=\d+$/.exec(headers.get('RateLimit') ?? '')?.[1]
const JSON_TYPE = { 'Content-Type': 'application/json' }
const LAMP = { name: 'Lamp', price: 2 }

// Windows begin with the minute; this one has 42 s left, and keeps them.
beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T12:00:18Z') }))
afterAll(() => void vi.useRealTimers())

describe('the rate limit', () => {
  test('names itself and what is left of it on every answer, whatever answers', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '10' })
    const answers = []
    for (const path of ['/items', '/users/7', '/nowhere', '/openapi.json', '/trpc/items.list', '/trpc/nowhere']) {
      const response = await fetch(server.url + path)
      answers.push([path, response.headers.get('RateLimit-Policy'), rateOf(response)])
    }
    expect(answers).toEqual([
      ['/items', '"default";q=10;w=60', '9'],
      ['/users/7', '"default";q=10;w=60', '8'],
      ['/nowhere', '"default";q=10;w=60', '7'],
      ['/openapi.json', '"default";q=10;w=60', '6'],
      ['/trpc/items.list', '"default";q=10;w=60', '5'],
      ['/trpc/nowhere', '"default";q=10;w=60', '4'],
    ])
  })

  test('refuses what is beyond it with 429 in the form of the path, and says when to come again', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '1' })
    const atStart = server.log.length
    await server.request('GET', '/items')
    const items = await server.request('GET', '/items')
    expect([items.status, items.headers.get('Retry-After'), items.body]).toEqual([
      429,
      '42',
      { message: 'Too many requests; try again in 42 s' },
    ])
    const users = await server.request('GET', '/users/1')
    expect([users.status, Object.keys(users.body)]).toEqual([429, ['error']])
    const other = await server.request('GET', '/nowhere')
    expect([other.status, other.body.error.code]).toEqual([429, 429])
    expect(server.log.slice(atStart).filter((line) => JSON.parse(line).level >= 40)).toEqual([])
  })

  test('is a RateLimitedError for the client, with the time to wait', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '1' })
    const client = createClient({ baseUrl: server.url, retryForMs: 0 })
    await client.items.list.query({})
    const error = await client.items.list.query({}).catch((error) => error)
    expect(error).toBeInstanceOf(RateLimitedError)
    expect([error.status, error.retryAfterMs]).toEqual([429, 42_000])
  })

  test('leaves health out', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '1' })
    const statuses = []
    for (const path of ['/healthz', '/readyz', '/items', '/healthz', '/readyz', '/items']) {
      statuses.push((await fetch(server.url + path)).status)
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  })

  test('counts each call of a batch, and a bulk write as ten', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '100' })
    const batch = await fetch(`${server.url}/trpc/items.list,books.list,users.list?batch=1`)
    expect([batch.status, rateOf(batch)]).toEqual([200, '97'])
    const bulk = await server.request('POST', '/items/bulk', { json: [LAMP] })
    expect([bulk.status, rateOf(bulk)]).toEqual([201, '87'])
    const removal = await server.request('DELETE', '/api/users?status=inactive')
    expect([removal.status, rateOf(removal)]).toEqual([200, '77'])
  })

  test('counts a body by the KiB where that is more, also one whose length is not said', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '1000' })
    const lamps = JSON.stringify(Array(1000).fill({ name: 'x'.repeat(200), price: 2, category: 'x'.repeat(60) }))
    expect(Math.floor(lamps.length / 1024)).toBe(289)
    const bulk = await server.request('POST', '/items/bulk', { raw: lamps, headers: JSON_TYPE })
    expect([bulk.status, rateOf(bulk)]).toEqual([201, '711'])
    const streamed = await fetch(`${server.url}/items/bulk`, {
      ...{ method: 'POST', headers: JSON_TYPE, duplex: 'half' },
      body: new Blob([lamps]).stream(),
    })
    await streamed.bytes()
    expect([streamed.status, rateOf(streamed)]).toEqual([201, '701'])
    // What has come with the head, at most 64 KiB, is not counted.
    await expect.poll(async () => Number(rateOf(await fetch(`${server.url}/items/1`)))).toBeLessThan(701 - 220)
  })

  test('refuses a batch of bulk writes that costs more than is left, whole', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '100' })
    const calls = (count: number) => ({
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [n, { items: [LAMP] }]))),
    })
    const url = (count: number) => `${server.url}/trpc/${Array(count).fill('items.createMany')}?batch=1`
    const refused = await fetch(url(50), calls(50))
    const errors = (await refused.json()) as { error: { data: { httpStatus: number } } }[]
    expect([refused.status, errors.length]).toEqual([429, 50])
    expect(new Set(errors.map(({ error }) => error.data.httpStatus))).toEqual(new Set([429]))
    expect(refused.headers.get('Retry-After')).toBe('42')
    expect((await fetch(url(9), calls(9))).status).toBe(200)
    const items = await server.request('GET', '/items')
    expect([items.body.length, rateOf(items)]).toEqual([9, '8'])
  })

  test('tells callers apart by the address that a trusted proxy names, and by no other', async () => {
    const ask = async (url: string, from: string) =>
      rateOf(await fetch(`${url}/items`, { headers: { 'X-Forwarded-For': from } }))
    await using trusting = await startTestServer({ RATE_LIMIT: '10', TRUST_PROXY: 'loopback' })
    expect(await ask(trusting.url, '192.0.2.1')).toBe('9')
    expect(await ask(trusting.url, '192.0.2.2')).toBe('9')
    // What stands before the first address that is not trusted, anyone can have written.
    expect(await ask(trusting.url, '192.0.2.9, 192.0.2.1')).toBe('8')
    // Of IPv6 a customer has at least 64 bits to choose from.
    expect(await ask(trusting.url, '2001:db8:1:2::1')).toBe('9')
    expect(await ask(trusting.url, '2001:db8:1:2:3:4:5:6')).toBe('8')
    expect(await ask(trusting.url, '2001:db8:1:3::1')).toBe('9')
    expect(await ask(trusting.url, 'whatever')).toBe('9')
    expect(await ask(trusting.url, 'something else')).toBe('8')
    await using plain = await startTestServer({ RATE_LIMIT: '10' })
    expect(await ask(plain.url, '192.0.2.1')).toBe('9')
    expect(await ask(plain.url, '192.0.2.2')).toBe('8')
  })

  test('counts who shows a key by the key, and who shows none or a wrong one by the address', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '3' })
    const { reader, writer, wrong } = await createCallers(server)
    const ask = async (authorization?: string) => {
      const headers = { ...(authorization !== undefined && { Authorization: authorization }) }
      const response = await fetch(`${server.url}/items`, { headers })
      return [response.status, rateOf(response)]
    }
    expect([await ask(reader), await ask(reader), await ask(writer)]).toEqual([
      [200, '2'],
      [200, '1'],
      [200, '2'],
    ])
    expect([await ask(), await ask(wrong)]).toEqual([
      [401, '2'],
      [401, '1'],
    ])
    expect([await ask(reader), await ask(reader), await ask(writer)]).toEqual([
      [200, '0'],
      [429, '0'],
      [200, '1'],
    ])
  })

  test('refuses no valid key for what strangers used up at its address, and strangers still', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '3' })
    const { reader, wrong } = await createCallers(server)
    const ask = async (authorization?: string, path = '/items') => {
      const headers = { ...(authorization !== undefined && { Authorization: authorization }) }
      const response = await fetch(server.url + path, { headers })
      return [response.status, rateOf(response)]
    }
    for (let time = 0; time < 4; time++) await ask()
    expect([await ask(), await ask(wrong), await ask('Bearer a.b.c'), await ask(undefined, '/docs')]).toEqual(
      Array(4).fill([429, '0']),
    )
    expect([await ask(reader), await ask(reader, '/docs'), await ask(reader, '/trpc/items.list')]).toEqual([
      [200, '2'],
      [200, '1'],
      [200, '0'],
    ])
    expect([await ask(reader), await ask()]).toEqual([
      [429, '0'],
      [429, '0'],
    ])
  })

  test('holds on loopback as soon as there is a key, for keys and for strangers', async () => {
    await using server = await startTestServer()
    const ask = async (headers = {}) => (await fetch(`${server.url}/items`, { headers })).headers.get('RateLimit')
    expect(await ask()).toBe(null)
    const { reader = '' } = await createCallers(server)
    await expect.poll(() => ask({ Authorization: reader })).toMatch(/^"default";r=599\d;t=42$/)
    expect(await ask()).toMatch(/^"default";r=599\d;t=42$/)
  })

  test('is off on loopback, where nobody but the user of the machine comes, unless a proxy stands before it', async () => {
    await using alone = await startTestServer()
    await using behind = await startTestServer({ TRUST_PROXY: '127.0.0.1' })
    await using open = await startTestServer({ HOST: '0.0.0.0', ALLOW_ANONYMOUS: 'true' })
    const policies = [alone, behind, open].map(async ({ url }) => {
      const { headers } = await fetch(`${url.replace('0.0.0.0', '127.0.0.1')}/items`)
      return headers.get('RateLimit-Policy')
    })
    expect(await Promise.all(policies)).toEqual([null, '"default";q=6000;w=60', '"default";q=6000;w=60'])
  })
})

describe('under too much load', () => {
  // Every request is worked on for so long.
  const latency = 3_000

  /** Waits until so many requests are worked on. */
  const occupied = async (server: TestServer, count: number) => {
    const sent = Array.from({ length: count }, () => fetch(`${server.url}/items`).then(({ status }) => status))
    // Of those that come while all places are taken, the first refusal shows it.
    await expect.poll(async () => (await fetch(`${server.url}/items`)).status).toBe(503)
    return sent
  }

  test('requests beyond the most at once are refused with 503 and Retry-After; health is answered', async () => {
    await using server = await startTestServer({ MAX_REQUESTS: '2' }, { latency })
    const sent = await occupied(server, 2)
    const refused = await server.request('GET', '/items')
    expect([refused.status, refused.headers.get('Retry-After'), refused.body]).toEqual([
      503,
      '1',
      { message: 'The service is overloaded; try again' },
    ])
    const client = createClient({ baseUrl: server.url, retryForMs: 0 })
    const error = await client.items.list.query({}).catch((error) => error)
    expect([error instanceof UnavailableError, error.retryAfterMs]).toEqual([true, 1000])
    const health = ['/healthz', '/readyz'].map(async (path) => (await fetch(server.url + path)).status)
    expect(await Promise.all(health)).toEqual([200, 200])
    expect(await Promise.all(sent)).toEqual([200, 200])
  })

  test('requests are taken again as soon as others have gone', async () => {
    await using server = await startTestServer({ MAX_REQUESTS: '1' }, { latency })
    await Promise.all(await occupied(server, 1))
    await expect.poll(async () => (await fetch(`${server.url}/items`)).status).toBe(200)
  })

  test('a late event loop refuses requests while there are many, and takes them again when it is in time', async () => {
    await using server = await startTestServer({ MAX_DELAY_MS: '5' }, { latency: 500 })
    let isBusy = true
    const callers = Array.from({ length: 40 }, async () => {
      while (isBusy) await fetch(`${server.url}/items`)
    })
    const spin = () => {
      const end = performance.now() + 50
      while (performance.now() < end);
      if (isBusy) setImmediate(spin)
    }
    spin()
    const status = async () => (await fetch(`${server.url}/items`)).status
    await expect.poll(status).toBe(503)
    isBusy = false
    await expect.poll(status).toBe(200)
    await Promise.all(callers)
  })
})

describe('tRPC batches', () => {
  test.for([
    ['of 10,000 commas', `/trpc/${','.repeat(10_000)}?batch=1`, 400],
    ['of 50 commas', `/trpc/${','.repeat(50)}?batch=1`, 400],
    ['of three empty paths', '/trpc/,,?batch=1', 404],
    ['of no path', '/trpc/?batch=1', 404],
    ['of 51 calls', `/trpc/${Array(51).fill('items.list')}?batch=1`, 400],
  ] as const)('%s are refused', async ([, path, status]) => {
    await using server = await startTestServer()
    expect((await fetch(server.url + path)).status).toBe(status)
  })
})

describe('two processes on one database', () => {
  test('add up what a caller uses at either', async () => {
    await using one = await startTestServer({ RATE_LIMIT: '1000', WORKERS: '2' })
    await using two = await startTestServer({ RATE_LIMIT: '1000', WORKERS: '2', DATABASE_URL: one.databaseUrl })
    const bulk = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify([LAMP]) }
    for (const { url } of [one, two]) {
      for (let count = 0; count < 40; count++) expect((await fetch(`${url}/items/bulk`, bulk)).status).toBe(201)
    }
    const left = async ({ url }: { url: string }) => Number(rateOf(await fetch(`${url}/items`)))
    // 600 less what is asked here, until they have heard of each other.
    await expect.poll(() => left(one), { interval: 100 }).toBeLessThan(300)
    await expect.poll(() => left(two), { interval: 100 }).toBeLessThan(300)
  })
})

test('passwords wait for their turn to be hashed, a hundred of them; what comes then is refused with 503', async () => {
  await using server = await startTestServer()
  // However long the last of them waits.
  const patience = { timeoutMs: 60_000, attemptTimeoutMs: 60_000, retryForMs: 0 }
  await using local = await createLocalClient({ databaseUrl: server.databaseUrl, ...patience })
  const many = Array.from({ length: 150 }, (_, n) =>
    local.users.create.mutate({ name: 'Ada', email: `ada${n}@example.com`, password: 'analytical' }).then(
      () => 201,
      (error) => [error.status, error.message],
    ),
  )
  const outcomes = await Promise.all(many)
  const refused = outcomes.filter((outcome) => outcome !== 201)
  // At least one is hashed at once and a hundred wait; some may be done before the last has come.
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.length).toBeLessThan(50)
  expect(new Set(refused.map(String))).toEqual(new Set(['503,Too many passwords are waiting to be hashed; try again']))
})
