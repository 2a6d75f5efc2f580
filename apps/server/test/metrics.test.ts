import { createClient } from '@resource/client'
import { expect, test, vi } from 'vitest'
import { type CallerKind, createCallers } from './callers.ts'
import { bearer, startTestServer, type TestServer } from './harness.ts'

const LAMP = { name: 'Lamp', price: 2 }

/** The metrics of the service by name with labels. */
async function scrape({ url }: TestServer, headers: Record<string, string> = {}): Promise<Record<string, number>> {
  const response = await fetch(`${url}/metrics`, { headers })
  expect(response.status).toBe(200)
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
}

/** The metrics whose name has this prefix. */
function withPrefix(metrics: Record<string, number>, name: string) {
  return Object.fromEntries(Object.entries(metrics).filter(([line]) => line.startsWith(name)))
}

test('calls are counted by procedure and outcome, over REST and tRPC', async () => {
  await using server = await startTestServer({}, { isAlone: true })
  const client = createClient({ baseUrl: server.url })
  await server.request('POST', '/items/', { json: LAMP })
  await client.items.create.mutate(LAMP)
  await server.request('GET', '/items/1')
  await server.request('GET', '/items/9')
  const input = encodeURIComponent(JSON.stringify({ 0: { id: 1 }, 1: {}, 2: { id: 9 }, 3: { id: 'x' } }))
  await fetch(`${server.url}/trpc/items.get,books.list,items.get,items.get?batch=1&input=${input}`)

  const metrics = await scrape(server)
  expect(withPrefix(metrics, 'resource_call_duration_seconds_count')).toEqual({
    'resource_call_duration_seconds_count{procedure="items.create",outcome="ok"}': 2,
    'resource_call_duration_seconds_count{procedure="items.get",outcome="ok"}': 2,
    'resource_call_duration_seconds_count{procedure="items.get",outcome="client_error"}': 3,
    'resource_call_duration_seconds_count{procedure="books.list",outcome="ok"}': 1,
  })
  const buckets = Object.entries(
    withPrefix(metrics, 'resource_call_duration_seconds_bucket{procedure="books.list",outcome="ok"'),
  )
  expect(buckets.map(([line]) => /le="(.*)"/.exec(line)?.[1]).join(' ')).toBe(
    '0.0001 0.00025 0.0005 0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 +Inf',
  )
  expect(buckets.at(-1)?.[1]).toBe(1)
  const sum = metrics['resource_call_duration_seconds_sum{procedure="books.list",outcome="ok"}']
  expect(sum).toBeGreaterThan(0)
  expect(sum).toBeLessThan(10)
  const answers = withPrefix(metrics, 'resource_http_answers_total')
  expect(answers).toEqual({
    'resource_http_answers_total{method="POST",status="201"}': 1,
    'resource_http_answers_total{method="POST",status="200"}': 1,
    'resource_http_answers_total{method="GET",status="200"}': 1,
    'resource_http_answers_total{method="GET",status="404"}': 1,
    'resource_http_answers_total{method="GET",status="207"}': 1,
  })
})

test('metrics cover query and transaction times, replays, open requests and the event loop', async () => {
  await using server = await startTestServer({}, { isAlone: true })
  const repeat = { json: LAMP, headers: { 'Idempotency-Key': 'once' } }
  // The first four transactions of the service delete old idempotency keys, sessions, audit entries and proposals.
  const transactions = 'resource_database_duration_seconds_count{operation="transaction",table=""}'
  await expect.poll(async () => (await scrape(server))[transactions]).toBe(4)
  const before = await scrape(server)
  await server.request('POST', '/items/', repeat)
  await server.request('POST', '/items/', repeat)
  await server.request('GET', '/items/1')
  const metrics = await scrape(server)
  const count = (operation: string, table: string) => {
    const name = `resource_database_duration_seconds_count{operation="${operation}",table="${table}"}`
    return (metrics[name] ?? 0) - (before[name] ?? 0)
  }
  expect([
    count('transaction', ''),
    count('insert', 'items'),
    count('insert', 'idempotency_keys'),
    count('find', 'idempotency_keys'),
    count('find', 'items'),
    // A replay also goes through the write queue, so that its stored response is on disk first.
  ]).toEqual([2, 1, 1, 3, 1])
  expect((metrics.resource_replays_total as number) - (before.resource_replays_total as number)).toBe(1)
  expect(metrics.resource_http_requests_open).toBe(1)
  expect(metrics.nodejs_eventloop_lag_p99_seconds).toBeGreaterThan(0)
  expect(metrics.process_resident_memory_bytes).toBeGreaterThan(10_000_000)
  expect(withPrefix(metrics, 'resource_passwords')).toEqual({
    'resource_passwords{state="running"}': 0,
    'resource_passwords{state="waiting"}': 0,
  })
  const pool = withPrefix(metrics, 'resource_database_connections')
  if (server.databaseUrl.startsWith('file:')) expect(pool).toEqual({})
  else {
    expect(Object.keys(pool)).toEqual([
      'resource_database_connections{state="busy"}',
      'resource_database_connections{state="idle"}',
      'resource_database_connections{state="waiting"}',
    ])
    expect(pool['resource_database_connections{state="idle"}']).toBeGreaterThan(0)
  }
})

test('C61 once a key exists, every role may read the metrics, and anonymous requests get a 401', async () => {
  await using server = await startTestServer()
  const open = await fetch(`${server.url}/metrics`)
  expect([open.status, open.headers.get('Cache-Control'), open.headers.get('Content-Type')]).toEqual([
    200,
    'no-store',
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  const callers = await createCallers(server)
  const answers: Record<string, unknown> = {}
  // The service checks for a first key once a second.
  await expect.poll(() => fetch(`${server.url}/metrics`).then(({ status }) => status)).toBe(401)
  for (const [kind, authorization] of Object.entries(callers) as [CallerKind, string | undefined][]) {
    for (const method of ['GET', 'HEAD']) {
      const headers = authorization === undefined ? {} : { Authorization: authorization }
      const { status, headers: sent } = await fetch(`${server.url}/metrics`, { method, headers })
      answers[`${method} ${kind}`] = [status, sent.get('WWW-Authenticate')]
    }
  }
  const noCredentials = [401, 'Bearer realm="resource"']
  const invalid = [401, 'Bearer realm="resource", error="invalid_token"']
  expect(answers).toEqual({
    'GET none': noCredentials,
    'HEAD none': noCredentials,
    'GET wrong': invalid,
    'HEAD wrong': invalid,
    'GET revoked': invalid,
    'HEAD revoked': invalid,
    'GET expired': invalid,
    'HEAD expired': invalid,
    'GET reader': [200, null],
    'HEAD reader': [200, null],
    'GET proposer': [200, null],
    'HEAD proposer': [200, null],
    'GET writer': [200, null],
    'HEAD writer': [200, null],
    'GET admin': [200, null],
    'HEAD admin': [200, null],
  })
})

test('on other addresses than loopback the metrics require a key, even with ALLOW_ANONYMOUS', async () => {
  await using server = await startTestServer({ HOST: '0.0.0.0', ALLOW_ANONYMOUS: 'true' })
  const url = server.url.replace('0.0.0.0', '127.0.0.1')
  expect((await fetch(`${url}/items`)).status).toBe(200)
  const { status, headers } = await fetch(`${url}/metrics`)
  expect([status, headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer realm="resource"'])
})

test('refusals are counted by status and reason', async () => {
  await using server = await startTestServer({ RATE_LIMIT: '100' })
  const send = async (headers: Record<string, string>, method = 'GET', path = '/items/1') =>
    (await fetch(server.url + path, { method, headers })).status
  expect(await send({ Via: '1.1 proxy' })).toBe(401)
  expect(await send({ Origin: 'https://other.example.com' }, 'DELETE')).toBe(403)
  const { wrong = '', revoked = '', expired = '', reader = '', admin = '' } = await createCallers(server)
  await expect.poll(() => fetch(`${server.url}/metrics`).then(({ status }) => status)).toBe(401)
  const before = withPrefix(await scrape(server, { Authorization: admin }), 'resource_denied_total{status="401"')
  for (const Authorization of [wrong, revoked, expired, 'Basic YTpi']) expect(await send({ Authorization })).toBe(401)
  expect(await send({})).toBe(401)
  for (let time = 0; time < 2; time++) expect(await send({ Authorization: reader }, 'DELETE')).toBe(403)
  const batch = `/trpc/${Array(50).fill('items.list')}?batch=1`
  expect(await send({ Authorization: reader }, 'GET', batch)).toBe(200)
  // The second exceeds the quota, unless a new minute has begun: then a later one does.
  await expect.poll(() => send({ Authorization: reader }, 'GET', batch)).toBe(429)
  const counts = withPrefix(await scrape(server, { Authorization: admin }), 'resource_denied_total')
  const noCredentials = 'resource_denied_total{status="401",reason="no_credentials"}'
  expect((counts[noCredentials] as number) - (before[noCredentials] as number)).toBe(1)
  delete counts[noCredentials]
  expect(counts).toEqual({
    'resource_denied_total{status="401",reason="proxy"}': 1,
    'resource_denied_total{status="401",reason="unknown_key"}': 1,
    'resource_denied_total{status="401",reason="revoked_key"}': 1,
    'resource_denied_total{status="401",reason="expired_key"}': 1,
    'resource_denied_total{status="401",reason="malformed"}': 1,
    'resource_denied_total{status="403",reason="origin"}': 1,
    'resource_denied_total{status="403",reason="role"}': 2,
    'resource_denied_total{status="429",reason="rate_limit"}': 1,
  })
})

test('other methods are a 405 with Allow, and the OpenAPI document excludes the metrics', async () => {
  await using server = await startTestServer()
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const { status, headers } = await fetch(`${server.url}/metrics`, { method })
    expect([status, headers.get('Allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  }
  const options = await fetch(`${server.url}/metrics`, { method: 'OPTIONS' })
  expect([options.status, options.headers.get('Allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
  expect(await (await fetch(`${server.url}/openapi.json`)).text()).not.toContain('/metrics')
})

test('a scrape costs one unit of the rate limit, and refusals of the limit are counted', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: new Date('2026-11-21T12:00:18Z') })
  try {
    await using server = await startTestServer({ RATE_LIMIT: '3' }, { isAlone: true })
    for (let n = 0; n < 2; n++) await server.request('GET', '/items')
    expect((await scrape(server))['resource_refused_total{limit="rate_limit"}']).toBe(0)
    expect((await fetch(`${server.url}/metrics`)).status).toBe(429)
    expect((await fetch(`${server.url}/items`)).status).toBe(429)
    vi.advanceTimersByTime(42_000)
    expect((await scrape(server))['resource_refused_total{limit="rate_limit"}']).toBe(2)
  } finally {
    vi.useRealTimers()
  }
})

test('metrics are available during overload', async () => {
  await using server = await startTestServer({ MAX_REQUESTS: '1' }, { latency: 2_000 })
  const stop = new AbortController()
  const sent = fetch(`${server.url}/items`, { signal: stop.signal }).catch(() => 'stopped')
  await expect.poll(async () => (await fetch(`${server.url}/items`)).status).toBe(503)
  const metrics = await scrape(server)
  expect(metrics['resource_refused_total{limit="overload"}']).toBeGreaterThan(0)
  expect(metrics['resource_http_answers_total{method="GET",status="503"}']).toBeGreaterThan(0)
  expect(metrics['resource_http_connections{state="working"}']).toBeGreaterThan(0)
  stop.abort()
  await sent
})

test('open requests and connections are counted by state, and aborted requests are counted', async () => {
  await using server = await startTestServer()
  // The body never ends, so the request stays open.
  const stop = new AbortController()
  const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{')) })
  const sent = fetch(`${server.url}/items/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
    duplex: 'half',
    signal: stop.signal,
  } as RequestInit).catch(() => 'stopped')
  await expect.poll(async () => (await scrape(server)).resource_http_requests_open).toBe(2)
  expect(await scrape(server)).toMatchObject({
    'resource_http_connections{state="body"}': 1,
    'resource_http_connections{state="working"}': 1,
    'resource_http_connections{state="answer"}': 0,
    'resource_http_connections_closed_total{bound="unread"}': 0,
  })
  stop.abort()
  expect(await sent).toBe('stopped')
  const aborted = 'resource_http_answers_total{method="POST",status="aborted"}'
  await expect.poll(async () => (await scrape(server))[aborted]).toBe(1)
})

test('metrics contain no secret, and unknown paths, procedures and methods add no line', async () => {
  await using server = await startTestServer({ RATE_LIMIT: '0' })
  const { key } = await server.client.keys.create.mutate({ name: 'operator', role: 'admin' })
  server.logIn(key)
  const ada = { name: 'Ada Lovelace', email: 'ada@example.com', password: 'analytical' }
  await server.client.users.create.mutate(ada)
  await expect(server.client.users.create.mutate(ada)).rejects.toThrow('already in use')
  const headers = bearer(key)
  const attempt = async (unique: string | number) => {
    await fetch(`${server.url}/nowhere/${unique}`, { headers })
    await fetch(`${server.url}/users/${unique}?status=${unique}`, { headers })
    await fetch(`${server.url}/trpc/items.${unique}`, { headers })
    await fetch(`${server.url}/trpc/${unique}.get,items.get?batch=1&input={}`, { headers })
  }
  const unknownMethod = async (method: string) => void (await fetch(server.url, { method, headers }))
  await attempt('first')
  await unknownMethod('PURGE')
  await scrape(server, headers)
  const before = Object.keys(await scrape(server, headers))
  await unknownMethod('MKCOL')
  for (let from = 0; from < 1_000; from += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, n) => attempt(`ada${from + n}`)))
  }
  const after = Object.keys(await scrape(server, headers))
  // Without the metrics of the process, which list its open resources by type.
  const ofService = (lines: string[]) => lines.filter((line) => !line.startsWith('nodejs_')).toSorted()
  expect(ofService(after)).toEqual(ofService(before))
  const text = await (await fetch(`${server.url}/metrics`, { headers })).text()
  expect(text).toContain('users.create')
  for (const secret of [key, key.slice(0, 16), 'operator', 'ada', 'Lovelace', 'analytical', 'nowhere', 'MKCOL']) {
    expect(text).not.toContain(secret)
  }
})
