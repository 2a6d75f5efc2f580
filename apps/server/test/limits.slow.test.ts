import { createClient, RateLimitedError, UnavailableError } from '@resource/client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createCallers } from './callers.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { exchangeBytes, parseAnswers } from './raw-http.ts'

const rateOf = ({ headers }: { headers: Headers }) =>
  /^"default";r=(\d+);t=\d+$/.exec(headers.get('RateLimit') ?? '')?.[1]
const JSON_TYPE = { 'Content-Type': 'application/json' }
const LAMP = { name: 'Lamp', price: 2 }

// Windows start with the minute. The fake clock leaves this one 42 s.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'], now: new Date('2026-11-21T12:00:18Z') }))
afterEach(() => void vi.useRealTimers())

describe('the rate limit', () => {
  test('is on every response, with the policy and the remaining quota', async () => {
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

  test('C32 refuses excess requests with a 429 in the form of the path, and with Retry-After', async () => {
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

  test('is a RateLimitedError in the client, with the time to wait', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '1' })
    const client = createClient({ baseUrl: server.url, retryForMs: 0 })
    await client.items.list.query({})
    const error = await client.items.list.query({}).catch((error) => error)
    expect(error).toBeInstanceOf(RateLimitedError)
    expect([error.status, error.retryAfterMs]).toEqual([429, 42_000])
  })

  test('does not apply to health checks', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '1' })
    const statuses = []
    for (const path of ['/healthz', '/readyz', '/items', '/healthz', '/readyz', '/items']) {
      statuses.push((await fetch(server.url + path)).status)
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  })

  test('counts one unit for each 20 rows that a request writes, over REST and tRPC', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '1000' })
    const used = async (run: () => Promise<unknown>) => {
      const before = Number(rateOf(await server.request('GET', '/items')))
      await run()
      return before - Number(rateOf(await server.request('GET', '/items'))) - 1
    }
    const users = Array.from({ length: 600 }, (_, n) => ({ name: 'A', email: `${n}@a.io`, status: 'inactive' }))
    const items = Array.from({ length: 600 }, () => LAMP)
    expect(await used(() => server.request('POST', '/api/users/bulk', { json: users }))).toBe(30)
    expect(await used(() => server.client.items.createMany.mutate({ items }))).toBe(30)
    const rows = items.map((_, n) => ({ id: n + 1, price: 3 }))
    expect(await used(() => server.request('PATCH', '/items/bulk', { json: rows }))).toBe(30)
    expect(await used(() => server.request('PATCH', '/items?price_lt=9', { json: { set: { price: 4 } } }))).toBe(30)
    expect(await used(() => server.request('DELETE', '/items?price_lt=9'))).toBe(30)
    expect(await used(() => server.request('DELETE', '/api/users?status=inactive'))).toBe(30)
  })

  test('refuses a write whose rows exceed the remaining quota, and writes nothing', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '60' })
    const items = Array.from({ length: 600 }, () => LAMP)
    expect((await server.request('POST', '/items/bulk', { json: items })).status).toBe(201)
    expect((await server.request('POST', '/items/bulk', { json: [LAMP] })).status).toBe(201)
    // 20 units are left: enough for the call, not for its 601 rows.
    const refused = await server.request('DELETE', '/items?price_lt=9')
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '42'])
    const left = await server.request('GET', '/items?limit=1&count=true')
    expect(left.headers.get('X-Total-Count')).toBe('601')
  })

  test.each(['1', '5', '9'])(
    'with RATE_LIMIT=%s a bulk write takes the whole quota, and is possible',
    async (limit) => {
      await using server = await startTestServer({ RATE_LIMIT: limit })
      const items = Array.from({ length: 1000 }, () => LAMP)
      const bulk = await server.request('POST', '/items/bulk', { json: items })
      expect([bulk.status, rateOf(bulk)]).toEqual([201, '0'])
      expect((await server.request('GET', '/items')).status).toBe(429)
    },
  )

  test('counts each call of a batch, and a bulk write as ten', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '100' })
    const batch = await fetch(`${server.url}/trpc/items.list,books.list,users.list?batch=1`)
    expect([batch.status, rateOf(batch)]).toEqual([200, '97'])
    const bulk = await server.request('POST', '/items/bulk', { json: [LAMP] })
    expect([bulk.status, rateOf(bulk)]).toEqual([201, '87'])
    const removal = await server.request('DELETE', '/api/users?status=inactive')
    expect([removal.status, rateOf(removal)]).toEqual([200, '77'])
    const unknown = await fetch(`${server.url}/trpc/x.constructor,x.__proto__,items.list?batch=1`)
    expect([unknown.status, (await server.request('GET', '/items')).headers.get('RateLimit')]).toEqual([
      207,
      expect.stringContaining('r=73;'),
    ])
  })

  test('counts a larger body by the KiB, also without a Content-Length', async () => {
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
    expect([streamed.status, rateOf(streamed)]).toEqual([201, '661'])
    // The part that arrives with the head, at most 64 KiB, is not counted.
    await expect.poll(async () => Number(rateOf(await fetch(`${server.url}/items/1`)))).toBeLessThan(661 - 220)
  })

  test('does not count a body that no request may have', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '1000' })
    const head = `POST /items HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9999999999`
    const [refused] = parseAnswers(await exchangeBytes(server.url, Buffer.from(`${head}\r\nConnection: close\r\n\r\n`)))
    expect(refused?.status).toBe(413)
    expect(rateOf(await server.request('GET', '/items'))).toBe('998')
  })

  test('refuses a batch of bulk writes as a whole if it costs more than the remaining quota', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '100' })
    const calls = (count: number) => ({
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [n, { items: [LAMP] }]))),
    })
    const url = (count: number) => `${server.url}/trpc/${Array(count).fill('items.createMany')}?batch=1`
    // A full quota covers any request.
    expect((await server.request('GET', '/items')).status).toBe(200)
    const refused = await fetch(url(50), calls(50))
    const errors = (await refused.json()) as { error: { data: { httpStatus: number } } }[]
    expect([refused.status, errors.length]).toEqual([429, 50])
    expect(new Set(errors.map(({ error }) => error.data.httpStatus))).toEqual(new Set([429]))
    expect(refused.headers.get('Retry-After')).toBe('42')
    expect((await fetch(url(9), calls(9))).status).toBe(200)
    const items = await server.request('GET', '/items')
    expect([items.body.length, rateOf(items)]).toEqual([9, '7'])
  })

  test('identifies callers by the address that a trusted proxy forwards, and by no other', async () => {
    const send = async (url: string, from: string) =>
      rateOf(await fetch(`${url}/items`, { headers: { 'X-Forwarded-For': from } }))
    await using trusting = await startTestServer({ RATE_LIMIT: '10', TRUST_PROXY: 'loopback' })
    expect(await send(trusting.url, '192.0.2.1')).toBe('9')
    expect(await send(trusting.url, '192.0.2.2')).toBe('9')
    // Addresses before the first untrusted one are under the control of the client.
    expect(await send(trusting.url, '192.0.2.9, 192.0.2.1')).toBe('8')
    // An IPv6 customer controls at least 64 bits.
    expect(await send(trusting.url, '2001:db8:1:2::1')).toBe('9')
    expect(await send(trusting.url, '2001:db8:1:2:3:4:5:6')).toBe('8')
    expect(await send(trusting.url, '2001:db8:1:3::1')).toBe('9')
    // An address has several spellings.
    expect(await send(trusting.url, '2001:db8::1')).toBe('9')
    expect(await send(trusting.url, '2001:0db8::5')).toBe('8')
    expect(await send(trusting.url, '2001:DB8::6')).toBe('7')
    expect(await send(trusting.url, '[2001:db8:00::8]:4711')).toBe('6')
    expect(await send(trusting.url, '1.2.3.4')).toBe('9')
    expect(await send(trusting.url, '::ffff:102:304')).toBe('8')
    expect(await send(trusting.url, '0:0:0:0:0:FFFF:1.2.3.4')).toBe('7')
    // Some proxies append the client's port.
    expect(await send(trusting.url, '192.0.2.1:4711')).toBe('7')
    expect(await send(trusting.url, '[2001:db8:1:3::2]:4711')).toBe('8')
    expect(await send(trusting.url, '[2001:db8:1:3::3]')).toBe('7')
    expect(await send(trusting.url, 'whatever')).toBe('9')
    expect(await send(trusting.url, 'something else')).toBe('8')
    expect(await send(trusting.url, '999.0.2.1:80')).toBe('7')
    await using plain = await startTestServer({ RATE_LIMIT: '10' })
    expect(await send(plain.url, '192.0.2.1')).toBe('9')
    expect(await send(plain.url, '192.0.2.2')).toBe('8')
  })

  test('counts a valid key by the key, and a missing or invalid one by the address', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '3' })
    const { reader, writer, wrong } = await createCallers(server)
    const send = async (authorization?: string) => {
      const headers = { ...(authorization !== undefined && { Authorization: authorization }) }
      const response = await fetch(`${server.url}/items`, { headers })
      return [response.status, rateOf(response)]
    }
    expect([await send(reader), await send(reader), await send(writer)]).toEqual([
      [200, '2'],
      [200, '1'],
      [200, '2'],
    ])
    expect([await send(), await send(wrong)]).toEqual([
      [401, '2'],
      [401, '1'],
    ])
    expect([await send(reader), await send(reader), await send(writer)]).toEqual([
      [200, '0'],
      [429, '0'],
      [200, '1'],
    ])
  })

  test('refuses no valid key after anonymous requests exhaust the quota of its address, and still refuses them', async () => {
    await using server = await startTestServer({ RATE_LIMIT: '3' })
    const { reader, wrong } = await createCallers(server)
    const send = async (authorization?: string, path = '/items') => {
      const headers = { ...(authorization !== undefined && { Authorization: authorization }) }
      const response = await fetch(server.url + path, { headers })
      return [response.status, rateOf(response)]
    }
    for (let time = 0; time < 4; time++) await send()
    expect([await send(), await send(wrong), await send('Bearer a.b.c'), await send(undefined, '/docs')]).toEqual(
      Array(4).fill([429, '0']),
    )
    expect([await send(reader), await send(reader, '/docs'), await send(reader, '/trpc/items.list')]).toEqual([
      [200, '2'],
      [200, '1'],
      [200, '0'],
    ])
    expect([await send(reader), await send()]).toEqual([
      [429, '0'],
      [429, '0'],
    ])
  })

  test('applies on loopback once a key exists, to keys and to anonymous requests', async () => {
    await using server = await startTestServer()
    const send = async (headers = {}) => (await fetch(`${server.url}/items`, { headers })).headers.get('RateLimit')
    expect(await send()).toBe(null)
    const { reader = '' } = await createCallers(server)
    await expect.poll(() => send({ Authorization: reader })).toMatch(/^"default";r=599\d;t=42$/)
    expect(await send()).toMatch(/^"default";r=599\d;t=42$/)
  })

  test('is off on loopback without a proxy, because only the user of the machine has access', async () => {
    await using direct = await startTestServer()
    await using proxied = await startTestServer({ TRUST_PROXY: '127.0.0.1' })
    await using open = await startTestServer({ HOST: '0.0.0.0', ALLOW_ANONYMOUS: 'true' })
    const policies = [direct, proxied, open].map(async ({ url }) => {
      const { headers } = await fetch(`${url.replace('0.0.0.0', '127.0.0.1')}/items`)
      return headers.get('RateLimit-Policy')
    })
    expect(await Promise.all(policies)).toEqual([null, '"default";q=6000;w=60', '"default";q=6000;w=60'])
  })
})

describe('under overload', () => {
  const latency = 3_000

  // Requests in progress: the latency of each ends with `goOn`.
  const held: (() => void)[] = []
  const goOn = () => held.splice(0).forEach((act) => void act())

  beforeEach(() => {
    vi.useRealTimers()
    const { setTimeout: start } = globalThis
    const hold = (act: () => void, ms?: number) => (ms === latency ? held.push(act) : start(act, ms))
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(hold as typeof setTimeout)
  })
  afterEach(() => void vi.restoreAllMocks())

  /** Sends requests; `seen` gets each status when it arrives. */
  const send = (server: TestServer, count: number, headers = {}) => {
    const seen: number[] = []
    const one = async () => void seen.push((await fetch(`${server.url}/items`, { headers })).status)
    return { seen, all: Promise.all(Array.from({ length: count }, one)) }
  }

  test('C32 requests over the concurrency limit get a 503 with Retry-After, and health checks still work', async () => {
    await using server = await startTestServer({ MAX_REQUESTS: '2' }, { latency })
    const sent = send(server, 2)
    await expect.poll(() => held.length).toBe(2)
    const refused = await server.request('GET', '/items')
    expect([refused.status, refused.headers.get('Retry-After'), refused.body]).toEqual([
      503,
      '1',
      { message: 'The service is overloaded; try again' },
    ])
    const problem = await server.request('GET', '/items', { headers: { Accept: 'application/problem+json, */*' } })
    expect([problem.status, problem.headers.get('Content-Type'), problem.body]).toEqual([
      503,
      'application/problem+json',
      {
        type: 'about:blank',
        status: 503,
        code: 'service_unavailable',
        detail: 'The service is overloaded; try again',
        fields: [],
      },
    ])
    const client = createClient({ baseUrl: server.url, retryForMs: 0 })
    const error = await client.items.list.query({}).catch((error) => error)
    expect([error instanceof UnavailableError, error.retryAfterMs, error.message]).toEqual([
      true,
      1000,
      'The service is overloaded; try again',
    ])
    const health = ['/healthz', '/readyz'].map(async (path) => (await fetch(server.url + path)).status)
    await expect.poll(() => held.length).toBe(4)
    goOn()
    expect(await Promise.all(health)).toEqual([200, 200])
    await sent.all
    expect(sent.seen).toEqual([200, 200])
  })

  test('one caller with all requests in progress does not shut out others', async () => {
    const settings = { MAX_REQUESTS: '8', TRUST_PROXY: 'loopback', ALLOW_ANONYMOUS: 'true' }
    await using server = await startTestServer(settings, { latency })
    const first = send(server, 20, { 'X-Forwarded-For': '192.0.2.1' })
    await expect.poll(() => [held.length, first.seen]).toEqual([8, Array(12).fill(503)])
    const second = send(server, 4, { 'X-Forwarded-For': '192.0.2.2' })
    await expect.poll(() => [held.length, second.seen]).toEqual([10, [503, 503]])
    goOn()
    await Promise.all([first.all, second.all])
    expect(first.seen).toEqual([...Array(12).fill(503), ...Array(8).fill(200)])
    expect(second.seen).toEqual([503, 503, 200, 200])
  })

  test('requests are accepted again as soon as others finish', async () => {
    await using server = await startTestServer({ MAX_REQUESTS: '1' }, { latency })
    const sent = send(server, 1)
    await expect.poll(() => held.length).toBe(1)
    expect((await fetch(`${server.url}/items`)).status).toBe(503)
    vi.restoreAllMocks()
    goOn()
    await sent.all
    await expect.poll(async () => (await fetch(`${server.url}/items`)).status).toBe(200)
  })

  test('a delayed event loop causes refusals under load, and requests are accepted again once it recovers', async () => {
    await using server = await startTestServer({ MAX_DELAY_MS: '5' }, { latency: 500 })
    let isBusy = true
    const callers = Array.from({ length: 100 }, async () => {
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
  test('share the quota of a caller', async () => {
    await using one = await startTestServer({ RATE_LIMIT: '1000', WORKERS: '2' })
    await using two = await startTestServer({ RATE_LIMIT: '1000', WORKERS: '2', DATABASE_URL: one.databaseUrl })
    const bulk = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify([LAMP]) }
    for (const { url } of [one, two]) {
      for (let count = 0; count < 40; count++) expect((await fetch(`${url}/items/bulk`, bulk)).status).toBe(201)
    }
    const left = async ({ url }: { url: string }) => Number(rateOf(await fetch(`${url}/items`)))
    // 600 minus these requests, once the processes have exchanged their counts.
    await expect.poll(() => left(one), { interval: 100 }).toBeLessThan(300)
    await expect.poll(() => left(two), { interval: 100 }).toBeLessThan(300)
  })
})
