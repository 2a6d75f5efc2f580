import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { query, startPostgres } from '@resource/postgres-test'
import { expect, onTestFinished, test, vi } from 'vitest'
import { bearer, startTestServer } from './harness.ts'
import { createItem, createKey, createUser } from './records.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

type Failure = { error?: { message: string } }

const secret = 'postgresql://with_password:secret@'

test('the role that the compose file creates is not a superuser and runs the service, migrations included', async () => {
  await using postgres = await startPostgres()
  const script = await readFile(new URL('../../../deploy/postgres-role.sh', import.meta.url), 'utf8')
  const [, sql = ''] = /<<'SQL'\n(.*)\nSQL\n/s.exec(script) ?? []
  for (const statement of sql.replace(":'password'", "'hunter2'").split(';\n')) await query(postgres.url, statement)
  const url = `postgresql://resource:hunter2@127.0.0.1:${postgres.port}/resource`
  await using server = await startTestServer({ DATABASE_URL: url })
  await createItem(server)
  await server.request('POST', '/items/bulk', {
    json: [{ name: 'Lamp', price: 1 }],
    headers: { 'Idempotency-Key': 'k' },
  })
  await server.request('PATCH', '/items/1', { json: { price: 2 } })
  await server.request('DELETE', '/items/2')
  expect((await server.request('GET', '/items')).body).toMatchObject([{ id: 1, price: 2 }])
  expect((await server.request('GET', '/api/audit')).body).toHaveLength(4)
  const { rows } = await query(
    url,
    'SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = current_user',
  )
  expect(rows).toEqual([
    { rolsuper: false, rolcreaterole: false, rolcreatedb: false, rolreplication: false, rolbypassrls: false },
  ])
  await expect(query(url.replace(/resource$/, 'postgres'), 'SELECT 1')).rejects.toThrow(
    'permission denied for database',
  )
})

test('a database that only resembles PostgreSQL is refused, unless ALLOW_UNTESTED_DATABASE is true', async () => {
  await using postgres = await startPostgres()
  await query(
    postgres.url,
    `CREATE SCHEMA shadow; CREATE FUNCTION shadow.version() RETURNS text LANGUAGE sql RETURN 'CockroachDB CCL v25.4.5';
     ALTER ROLE postgres SET search_path = shadow, pg_catalog`,
  )
  await using folder = await temporaryFolder()
  await using refused = spawnService(folder.path, { DATABASE_URL: postgres.url })
  expect(await refused.exited).toEqual({
    code: 1,
    stderr: `The database postgresql://127.0.0.1:${postgres.port}/postgres cannot be used: it is CockroachDB, not PostgreSQL: its generated ids exceed 2147483647, and its DO blocks do not execute SQL. Use PostgreSQL 15 or newer, or set ALLOW_UNTESTED_DATABASE=true to try.\n`,
  })
  await using tried = spawnService(folder.path, { DATABASE_URL: postgres.url, ALLOW_UNTESTED_DATABASE: 'true' })
  expect((await fetch(`${await tried.url()}/items`)).status).toBe(200)
})

test('settings of the role change no answer: an expired key is refused, and numbers and times are returned as stored', async () => {
  await using postgres = await startPostgres()
  await query(
    postgres.url,
    `ALTER ROLE postgres SET DateStyle = 'German, DMY'; ALTER ROLE postgres SET TimeZone = 'Asia/Kolkata';
     ALTER ROLE postgres SET extra_float_digits = -15; ALTER ROLE postgres SET search_path = other, public;
     CREATE SCHEMA other; CREATE TABLE other.items (id int)`,
  )
  await using folder = await temporaryFolder()
  const key = await (async () => {
    await using server = await startTestServer({ DATABASE_URL: postgres.url })
    await createItem(server, { price: 123_456_789.123_4 })
    return (await createKey(server, { expires_at: '2031-01-01T00:00:00Z' })).key
  })()
  const get = async (path: string) => {
    await using service = spawnService(folder.path, { DATABASE_URL: postgres.url })
    const response = await fetch((await service.url()) + path, { headers: { Authorization: `Bearer ${key}` } })
    return [response.status, await response.json()]
  }
  expect(await get('/items/1')).toMatchObject([200, { price: 123_456_789.123_4 }])
  expect(await get('/api/keys')).toMatchObject([200, [{ expires_at: '2031-01-01T00:00:00.000Z' }]])
  await query(postgres.url, `UPDATE public.api_keys SET expires_at = now() AT TIME ZONE 'UTC' - interval '1 day'`)
  expect((await get('/items/1'))[0]).toBe(401)
})

test('while PostgreSQL is down, requests get a 503 with Retry-After and readiness fails; the service recovers automatically', async () => {
  await using postgres = await startPostgres()
  await using server = await startTestServer({ DATABASE_URL: postgres.url.replace('postgresql://postgres@', secret) })
  await createItem(server)
  await postgres.stop('crash')

  const json = { name: 'Lamp', price: 1 }
  for (const [method, path, options] of [
    ['GET', '/items/1', {}],
    ['GET', '/items', {}],
    ['POST', '/items/', { json }],
    ['POST', '/items/', { json, headers: { 'Idempotency-Key': 'k' } }],
  ] as const) {
    const { status, headers, body } = await server.request(method, path, options)
    expect([status, headers.get('Retry-After'), body]).toEqual([
      503,
      '1',
      { message: 'The database cannot be reached; try again' },
    ])
  }
  const overTrpc = await fetch(`${server.url}/trpc/items.get?input={"id":1}`)
  expect([overTrpc.status, overTrpc.headers.get('Retry-After')]).toEqual([503, '1'])
  const unready = await fetch(`${server.url}/readyz`)
  expect([unready.status, unready.headers.get('Retry-After')]).toEqual([503, '1'])
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)

  await postgres.start()
  expect((await server.request('GET', '/items/1')).body).toMatchObject({ name: 'Lamp' })
  expect((await server.request('POST', '/items/', { json })).status).toBe(201)
  await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200)
  expect(server.log.filter((line) => line.includes('secret'))).toEqual([])
})

/**
 * Passes connections on to PostgreSQL, and can break one that sends a text, possibly after another one: before it is passed on,
 * or instead of its answer.
 */
async function breakable(port: number) {
  let fault: { text: string; isSent: boolean; after?: string } | undefined
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(port, '127.0.0.1')
    let isLost = false
    let sent = ''
    const end = () => [client, server].map((socket) => socket.destroy())
    for (const socket of [client, server]) sockets.add(socket.on('error', end).on('close', end))
    client.on('data', (chunk) => {
      sent += chunk.toString('latin1')
      if (fault !== undefined && chunk.includes(fault.text) && sent.includes(fault.after ?? '')) {
        if (!fault.isSent) return end()
        isLost = true
        fault = undefined
      }
      return server.write(chunk)
    })
    server.on('data', (chunk) => (isLost ? end() : client.write(chunk)))
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    port: (proxy.address() as AddressInfo).port,
    breakAt: (text: string, how: { isSent: boolean; after?: string }) => {
      fault = { text, ...how }
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      proxy.close()
    },
  }
}

test('a write whose confirmation is lost gets a 503 that says that it may have been stored; with the key, a repetition is safe', async () => {
  await using postgres = await startPostgres()
  await using proxy = await breakable(postgres.port)
  const url = postgres.url.replace(`:${postgres.port}/`, `:${proxy.port}/`)
  await using server = await startTestServer({ DATABASE_URL: url })
  const doubt = {
    message:
      'The database did not confirm the write, which may have been stored: only a repetition with the same Idempotency-Key is safe',
  }
  const create = (name: string, headers: Record<string, string> = {}) =>
    server.request('POST', '/items/', { json: { name, price: 1 }, headers })

  proxy.breakAt('INSERT INTO "items"', { isSent: true })
  expect(await create('Single')).toMatchObject({ status: 503, body: doubt })

  // Not the commit of another transaction of the service.
  proxy.breakAt('COMMIT\0', { isSent: true, after: 'Keyed' })
  const lost = await create('Keyed', { 'Idempotency-Key': 'k' })
  expect([lost.status, lost.headers.get('Retry-After'), lost.body]).toEqual([503, '1', doubt])
  const repeated = await create('Keyed', { 'Idempotency-Key': 'k' })
  expect([repeated.status, repeated.headers.get('Idempotent-Replayed')]).toEqual([201, 'true'])

  // The commit was never sent: nothing is in doubt.
  proxy.breakAt('INSERT INTO "items"', { isSent: false })
  const failed = await server.request('POST', '/items/bulk', {
    json: [
      { name: 'Lamp', price: 1 },
      { name: 'Desk', price: 2 },
    ],
  })
  expect([failed.status, failed.body]).toEqual([503, { message: 'The database cannot be reached; try again' }])

  const { rows } = await query(postgres.url, 'SELECT name FROM items ORDER BY id')
  expect(rows).toEqual([{ name: 'Single' }, { name: 'Keyed' }])
})

test('a statement that exceeds its timeout gets a 503 with Retry-After', async () => {
  await using postgres = await startPostgres()
  await using server = await startTestServer({ DATABASE_URL: postgres.url, DATABASE_STATEMENT_TIMEOUT_MS: '500' })
  await query(postgres.url, "INSERT INTO items (name, name_key, price, version) VALUES ('Lamp', 'lamp', 1, 1)")
  const blocked = await postgres.whileLocked('items', () => server.request('PATCH', '/items/1', { json: { price: 2 } }))
  expect([blocked.status, blocked.headers.get('Retry-After'), blocked.body]).toEqual([
    503,
    '1',
    { message: 'The database is busy; try again' },
  ])
  await expect.poll(async () => (await server.request('PATCH', '/items/1', { json: { price: 2 } })).status).toBe(200)
})

test('a table without ids left refuses further rows with a 503 that says so', async () => {
  await using postgres = await startPostgres()
  await using server = await startTestServer({ DATABASE_URL: postgres.url })
  await query(postgres.url, `SELECT setval('items_id_seq', 2147483646)`)
  expect((await createItem(server)).id).toBe(2_147_483_647)
  const json = { name: 'Lamp', price: 1 }
  for (const [path, body] of [
    ['/items/', json],
    ['/items/bulk', [json, json]],
  ] as const) {
    const refused = await server.request('POST', path, { json: body })
    expect([refused.status, refused.headers.get('Retry-After'), refused.body]).toEqual([
      503,
      '60',
      { message: 'The database cannot be used: a table has no ids left' },
    ])
  }
  expect((await server.request('GET', '/items')).body).toMatchObject([{ id: 2_147_483_647 }])
})

test('once a hundred reads have waited for 0.25 s, new requests are refused immediately, and no waiting read is lost', async () => {
  await using postgres = await startPostgres()
  const settings = {
    DATABASE_URL: postgres.url,
    DATABASE_POOL_SIZE: '1',
    DATABASE_CONNECT_TIMEOUT_MS: '60000',
    MAX_DELAY_MS: '600000',
  }
  await using server = await startTestServer(settings, { isAlone: true })
  await createItem(server)
  // A known key: while the database does not answer, only callers of known keys are admitted without a query that waits as well.
  const { key } = await createKey(server, { role: 'reader' })
  server.logIn(key)
  const read = () => server.request('GET', '/items/1')
  await read()
  // The use of the key is stored after the answer, and each second the key is looked up again. These queries would wait, too.
  const unused = async () => (await query(postgres.url, 'SELECT FROM api_keys WHERE last_used_at IS NULL')).rows
  await expect.poll(unused).toEqual([])
  const nowMs = performance.now()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(nowMs)
  onTestFinished(() => clock.mockRestore())
  await read()
  const { reads, refused, health } = await postgres.whileLocked('items', async () => {
    // Not from /metrics, which waits for the database as well.
    let arrived = 0
    const count = () => arrived++
    subscribe('http.server.request.start', count)
    const reads: ReturnType<typeof read>[] = []
    // In groups: of many requests at once some are refused if they take the event loop long, on a busy machine.
    while (reads.length < 100) {
      reads.push(...Array.from({ length: Math.min(25, 100 - reads.length) }, read))
      await expect.poll(() => arrived).toBe(reads.length)
    }
    unsubscribe('http.server.request.start', count)
    clock.mockReturnValue(nowMs + 251)
    // One reads, 99 and perhaps a query for the key wait: the first of these requests may be queued.
    const next = () =>
      fetch(`${server.url}/items/7`, { headers: bearer(key), signal: AbortSignal.timeout(2_000) }).catch(() => null)
    await expect.poll(async () => (await next())?.status).toBe(503)
    const refused = await server.request('GET', '/items/7')
    // Not /readyz, which is a 503 once a lock has held all reads for a second.
    return { reads: Promise.all(reads), refused, health: await fetch(`${server.url}/healthz`) }
  })
  expect([refused.status, refused.headers.get('Retry-After'), refused.body]).toEqual([
    503,
    '1',
    { message: 'The service is overloaded; try again' },
  ])
  expect(health.status).toBe(200)
  expect((await reads).map(({ status }) => status)).toEqual(Array(100).fill(200))
})

test('while batches of one caller fill the queue for connections, no request of another caller is refused', async () => {
  await using postgres = await startPostgres()
  const settings = {
    DATABASE_URL: postgres.url,
    DATABASE_CONNECT_TIMEOUT_MS: '60000',
    TRUST_PROXY: 'loopback',
    ALLOW_ANONYMOUS: 'true',
  }
  await using server = await startTestServer(settings, { isAlone: true })
  await createItem(server)
  // Callers are addresses.
  const ask = (caller: string, path: string, init: RequestInit = {}) =>
    fetch(server.url + path, { ...init, headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': caller } })
  const calls = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [index, {}]))
  const batch = `/trpc/${Array(50).fill('items.list')}?batch=1&input=${encodeURIComponent(JSON.stringify(calls))}`
  const { batches, others } = await postgres.whileLocked('items', async () => {
    const batches: Promise<Response>[] = []
    const statuses: number[] = []
    const sendBatch = () => {
      const sent = ask('192.0.2.1', batch)
      batches.push(sent)
      void sent.then(({ status }) => statuses.push(status))
      return statuses
    }
    await expect.poll(sendBatch, { interval: 100 }).toContain(503)
    let arrived = 0
    const count = (message: unknown) => {
      const { request } = message as { request: IncomingMessage }
      if (request.headers['x-forwarded-for'] !== '192.0.2.1') arrived++
    }
    subscribe('http.server.request.start', count)
    const body = JSON.stringify({ name: 'Lamp', price: 2 })
    const others = [
      ask('192.0.2.2', '/items/1'),
      ask('192.0.2.2', '/items'),
      ask('192.0.2.3', '/items', { method: 'POST', body }),
    ]
    await expect.poll(() => arrived).toBe(3)
    unsubscribe('http.server.request.start', count)
    return { batches: Promise.all(batches), others: Promise.all(others) }
  })
  expect((await others).map(({ status }) => status)).toEqual([200, 200, 201])
  const refused = (await batches).filter(({ status }) => status === 503)
  expect(refused.map(({ headers }) => headers.get('Retry-After'))).toEqual(refused.map(() => '1'))
})

test('while more writes than connections wait for a lock, reads and readiness are served, and every write succeeds', async () => {
  await using postgres = await startPostgres()
  await using server = await startTestServer({ DATABASE_URL: postgres.url }, { isAlone: true })
  await createItem(server)
  const { writes, served } = await postgres.whileOpen('SELECT FROM items WHERE id = 1 FOR UPDATE', async () => {
    const writes = Promise.all(
      Array.from({ length: 40 }, (_, price) => server.request('PATCH', '/items/1', { json: { price } })),
    )
    // Of ten connections one is for reads, and one is for writes of other callers.
    await expect.poll(() => waitingForLocks(postgres.url)).toBe(8)
    const paths = ['/items/1', '/items', '/readyz', '/healthz']
    return { writes, served: await Promise.all(paths.map(async (path) => (await fetch(server.url + path)).status)) }
  })
  expect(served).toEqual([200, 200, 200, 200])
  expect((await writes).map(({ status }) => status)).toEqual(Array(40).fill(200))
})

test('while locks of another session stop all writes or all reads, readiness says so', async () => {
  await using postgres = await startPostgres()
  await using server = await startTestServer({ DATABASE_URL: postgres.url })
  const state = () => Promise.all(['/readyz', '/readyz/reads'].map((path) => readiness(server, path)))
  const send = (count: number, path: string, init: RequestInit) =>
    Promise.all(Array.from({ length: count }, () => fetch(server.url + path, init)))
  const item = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Lamp', price: 1 }),
  }
  const { writes } = await postgres.whileOpen('LOCK TABLE items IN EXCLUSIVE MODE', async () => {
    const writes = send(20, '/items/', item)
    await expect.poll(state).toEqual([
      [503, expect.stringContaining('wait for locks')],
      [200, undefined],
    ])
    return { writes }
  })
  expect((await writes).map(({ status }) => status)).toEqual(Array(20).fill(201))
  await expect.poll(state).toEqual(Array(2).fill([200, undefined]))

  const { reads } = await postgres.whileLocked('users', async () => {
    const reads = send(20, '/users', {})
    await expect.poll(state).toEqual(Array(2).fill([503, 'The database is busy; try again']))
    return { reads }
  })
  await reads
  await expect.poll(state).toEqual(Array(2).fill([200, undefined]))
})

test.each(['1', '2'])('no burst of 50 writes or reads is refused, with %s processes', async (WORKERS) => {
  await using postgres = await startPostgres()
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { DATABASE_URL: postgres.url, WORKERS })
  const url = await service.url()
  const send = async (method: string, path: string, headers = {}, body: object | null = null) => {
    const init = { method, headers: { 'Content-Type': 'application/json', ...headers } }
    return fetch(url + path, { ...init, body: body && JSON.stringify(body) })
  }
  await send('POST', '/items/', {}, { name: 'Lamp', price: 1 })
  const together = async (request: (n: number) => Promise<Response>) => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => request(n)))
    // A failure says why one was refused.
    return (await Promise.all(answers.map(async (one) => (one.status === 503 ? one.text() : one.status)))).sort()
  }
  for (let round = 0; round < 10; round++) {
    // PostgreSQL closed the connections, as after a restart or when they were idle.
    if (round === 5) await endConnections(postgres.url)
    const tag = (await send('GET', '/items/1')).headers.get('ETag') ?? ''
    const changes = await together((n) =>
      send('PATCH', '/items/1', { 'If-Match': tag }, { price: 100 * round + n + 2 }),
    )
    expect(changes).toEqual([200, ...Array(49).fill(412)])
    expect(await together(() => send('GET', '/items?limit=1000'))).toEqual(Array(50).fill(200))
  }
})

test('on a database that became read-only, reads are served; writes and readiness are a 503 with the reason', async () => {
  await using postgres = await startPostgres()
  await using server = await startTestServer({ DATABASE_URL: postgres.url })
  await createItem(server)
  await query(postgres.url, 'ALTER SYSTEM SET default_transaction_read_only = on')
  await query(postgres.url, 'SELECT pg_reload_conf()')
  const message = 'The database accepts no writes: it is read-only'
  await expect.poll(() => readiness(server, '/readyz')).toEqual([503, `${message}; reads are served`])
  expect(await readiness(server, '/readyz/reads')).toEqual([200, undefined])
  expect((await server.request('GET', '/items/1')).status).toBe(200)
  const refused = await server.request('PATCH', '/items/1', { json: { price: 2 } })
  expect([refused.status, refused.headers.get('Retry-After'), refused.body]).toEqual([
    503,
    '5',
    { message: 'The database accepts no writes: it is a standby or read-only' },
  ])
})

test('on a standby, reads are served; writes and readiness are a 503 with the reason until it is promoted', async () => {
  await using postgres = await startPostgres()
  await using server = await startTestServer({ DATABASE_URL: postgres.url })
  await createItem(server)
  const proposal = { operation: 'items.update', input: { id: 1, price: 2 }, reason: 'Cheaper' }
  expect((await server.request('POST', '/api/proposals', { json: proposal })).status).toBe(201)
  const { rows } = await query(postgres.url, 'SHOW data_directory')
  await postgres.stop('fast')
  await writeFile(join(rows[0].data_directory, 'standby.signal'), '')
  await postgres.start()
  await expect
    .poll(() => readiness(server, '/readyz'))
    .toEqual([503, 'The database accepts no writes: it is a standby; reads are served'])
  expect(await readiness(server, '/readyz/reads')).toEqual([200, undefined])
  expect((await server.request('GET', '/items/1')).status).toBe(200)
  const message = 'The database accepts no writes: it is a standby or read-only'
  for (const [method, path, json, expected] of [
    ['POST', '/items/', { name: 'Desk', price: 1 }, { message }],
    ['PATCH', '/items/1', { price: 2 }, { message }],
    ['DELETE', '/items/1', undefined, { message }],
    ['PATCH', '/api/users/bulk', [{ id: 1, age: 2 }], { error: message }],
    ['DELETE', '/api/users?status=active', undefined, { error: message }],
  ] as const) {
    const { status, headers, body } = await server.request(method, path, { json })
    expect([path, status, headers.get('Retry-After'), body]).toEqual([path, 503, '5', expected])
  }
  const { status, body } = await server.request('GET', '/api/proposals/1')
  expect([status, body.status, body.is_current, body.obstacle]).toEqual([200, 'open', false, message])
  await query(postgres.url, 'SELECT pg_promote()')
  await expect.poll(() => readiness(server, '/readyz')).toEqual([200, undefined])
  expect((await server.request('PATCH', '/items/1', { json: { price: 2 } })).status).toBe(200)
})

test('an instance that starts on a streaming standby serves reads, the writes of the primary as they arrive, and once promoted its own', async () => {
  await using primary = await startPostgres()
  await using server = await startTestServer({ DATABASE_URL: primary.url })
  await createItem(server)
  await using standby = await primary.startStandby()
  await expect(startTestServer({ DATABASE_URL: `${standby.url}?schema=other` })).rejects.toThrow(
    'which is a standby. Start the service on its primary first.',
  )
  await using reader = await startTestServer({ DATABASE_URL: standby.url })
  expect(await readiness(reader, '/readyz/reads')).toEqual([200, undefined])
  expect(await readiness(reader, '/readyz')).toEqual([
    503,
    'The database accepts no writes: it is a standby; reads are served',
  ])
  const refused = await reader.request('POST', '/items/', { json: { name: 'Desk', price: 1 } })
  expect([refused.status, refused.headers.get('Retry-After'), refused.body]).toEqual([
    503,
    '5',
    { message: 'The database accepts no writes: it is a standby or read-only' },
  ])
  expect((await server.request('POST', '/items/', { json: { name: 'Desk', price: 1 } })).status).toBe(201)
  await expect.poll(async () => (await reader.request('GET', '/items/2')).body).toMatchObject({ name: 'Desk' })
  // A standby cannot tell which transactions of its primary are open, and would skip their changes.
  const follow = async () => {
    const { status, body, headers } = await reader.request('GET', '/api/changes?after=0-0')
    return [status, headers.get('Retry-After'), body.error?.message ?? body.changes.length]
  }
  const unknown = 'The database accepts no writes: it is a standby, and only its primary knows the order of changes'
  expect(await follow()).toEqual([503, '5', unknown])
  const stream = await fetch(`${reader.url}/api/changes?after=0-0`, { headers: { Accept: 'text/event-stream' } })
  expect([stream.status, await stream.text()]).toEqual([503, expect.stringContaining(unknown)])
  const list = await reader.request('GET', '/items')
  expect([list.status, list.headers.get('X-Changes-Cursor')]).toEqual([200, null])
  await primary.stop('fast')
  await query(standby.url, 'SELECT pg_promote()')
  await expect.poll(() => readiness(reader, '/readyz')).toEqual([200, undefined])
  expect((await reader.request('PATCH', '/items/2', { json: { price: 2 } })).body).toMatchObject({ price: 2 })
  await expect.poll(follow).toEqual([200, null, 3])
})

test('while PostgreSQL is suspended, readiness of reads and writes is a 503 within seconds', async () => {
  await using postgres = await startPostgres()
  await using server = await startTestServer({ DATABASE_URL: postgres.url })
  const processes = `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
    UNION SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int`
  // The first time, readiness has no connection yet.
  for (let time = 0; time < 2; time++) {
    const { rows } = await query(postgres.url, processes)
    const signal = (name: NodeJS.Signals) => {
      for (const { pid } of rows) process.kill(pid, name)
    }
    signal('SIGSTOP')
    try {
      await expect.poll(() => readiness(server, '/readyz')).toEqual([503, 'The database cannot be reached; try again'])
      expect(await readiness(server, '/readyz/reads')).toEqual([503, 'The database cannot be reached; try again'])
    } finally {
      signal('SIGCONT')
    }
    await expect.poll(() => readiness(server, '/readyz')).toEqual([200, undefined])
    expect(await readiness(server, '/readyz/reads')).toEqual([200, undefined])
  }
  expect((await server.request('POST', '/items/', { json: { name: 'Lamp', price: 1 } })).status).toBe(201)
})

test('readiness fails while no commit completes; reads are still served, and then every write succeeds', async () => {
  await using postgres = await startPostgres()
  await using server = await startTestServer({ DATABASE_URL: postgres.url })
  await using other = await startTestServer({ DATABASE_URL: postgres.url })
  await createItem(server)
  await waitFor(postgres.url, 'lost')
  const create = () => server.request('POST', '/items/', { json: { name: 'Desk', price: 2 } })
  const writes = Array.from({ length: 20 }, create)
  const message = 'The database accepts no writes: a commit does not complete; reads are served'
  // An instance without writes of its own knows it as well.
  for (const each of [server, other]) await expect.poll(() => readiness(each, '/readyz')).toEqual([503, message])
  const reads = await Promise.all(Array.from({ length: 20 }, () => server.request('GET', '/items/1')))
  expect(reads.map(({ status }) => status)).toEqual(Array(20).fill(200))
  await waitFor(postgres.url, '')
  expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(Array(20).fill(201))
})

test('writes in doubt keep their share of the connections, and others wait, until their commits have ended', async () => {
  await using postgres = await startPostgres()
  await using server = await startTestServer(
    { DATABASE_URL: postgres.url, DATABASE_STATEMENT_TIMEOUT_MS: '1000' },
    { isAlone: true },
  )
  await createItem(server)
  await waitFor(postgres.url, 'lost')
  const create = () => server.request('POST', '/items/', { json: { name: 'Desk', price: 2 } })
  // The share of one caller.
  const unconfirmed = await Promise.all(Array.from({ length: 8 }, create))
  expect(unconfirmed.map(({ status }) => status)).toEqual(Array(8).fill(503))
  const later = create()
  const waiting = /^resource_database_connections\{state="waiting"\} 1$/m
  await expect.poll(async () => (await fetch(`${server.url}/metrics`)).text()).toMatch(waiting)
  expect(await readiness(server, '/readyz')).toEqual([
    503,
    expect.stringMatching(/a commit does not complete|wait for locks/),
  ])
  expect((await server.request('GET', '/items/1')).status).toBe(200)
  await waitFor(postgres.url, '')
  expect((await later).status).toBe(201)
  await expect.poll(() => readiness(server, '/readyz')).toEqual([200, undefined])
})

test('metrics are served while PostgreSQL is down or locked, with the access that was last known', async () => {
  await using postgres = await startPostgres()
  await using server = await startTestServer({ DATABASE_URL: postgres.url })
  const metrics = async (headers = {}) => (await fetch(`${server.url}/metrics`, { headers })).status
  expect(await postgres.whileLocked('api_keys', () => metrics())).toBe(200)
  const { key } = await server.client.keys.create.mutate({ name: 'monitor', role: 'reader' })
  const known = { Authorization: `Bearer ${key}` }
  expect(await metrics(known)).toBe(200)
  await postgres.stop('crash')
  expect([await metrics(), await metrics(known)]).toEqual([401, 200])
  // A key that was never seen is not admitted.
  const unknown = key.slice(0, -1) + (key.endsWith('x') ? 'y' : 'x')
  expect(await metrics({ Authorization: `Bearer ${unknown}` })).toBe(401)
})

/** Status and message. The limit of time has ample room: the service answers within a second. */
async function readiness({ url }: { url: string }, path: string) {
  const answer = await fetch(url + path, { signal: AbortSignal.timeout(10_000) })
  return [answer.status, ((await answer.json()) as Failure).error?.message]
}

/** Makes commits wait for synchronous standbys of these names. */
async function waitFor(url: string, standbys: string): Promise<void> {
  await query(url, `ALTER SYSTEM SET synchronous_standby_names = '${standbys}'`)
  await query(url, 'SELECT pg_reload_conf()')
  if (standbys === '') return
  // PostgreSQL's checkpointer applies it some moments later. Until then commits do not wait.
  await expect
    .poll(async () => {
      query(url, "SELECT pg_logical_emit_message(true, '', '')").catch(() => undefined)
      return (await query(url, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).rows.length
    })
    .toBeGreaterThan(0)
}

function endConnections(url: string) {
  return query(
    url,
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'resource-service'`,
  )
}

async function waitingForLocks(url: string): Promise<number> {
  return (await query(url, `SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).rows[0].count
}

/** Waits until one connection waits for an event. */
function isWaitingFor(url: string, event: string) {
  const waiting = `SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = '${event}'`
  return expect.poll(async () => (await query(url, waiting)).rows[0].count).toBe(1)
}

test('C36 a row of a bulk update changes the user who has its e-mail address when it is written', async () => {
  await using postgres = await startPostgres()
  await using server = await startTestServer({ DATABASE_URL: postgres.url })
  for (const email of ['a@example.com', 'b@example.com']) await createUser(server, { email })
  const lock = query(
    postgres.url,
    `DO $$ BEGIN PERFORM FROM users WHERE id = 1 FOR UPDATE;
      WHILE NOT EXISTS (SELECT FROM users WHERE id = 3) LOOP PERFORM pg_sleep(0.01); END LOOP;
    END $$`,
  )
  await isWaitingFor(postgres.url, 'PgSleep')
  const json = [
    { email: 'a@example.com', age: 30 },
    { email: 'b@example.com', age: 40 },
  ]
  const updated = server.request('PATCH', '/api/users/bulk?key=email&create=true', { json })
  await isWaitingFor(postgres.url, 'transactionid')
  await server.request('PATCH', '/api/users/2', { json: { email: 'old@example.com' } })
  await createUser(server, { email: 'b@example.com' })
  await lock
  expect((await updated).body).toMatchObject([{ record: { id: 1, age: 30 } }, { record: { id: 3, age: 40 } }])
  expect(await server.client.users.get.query({ id: 2 })).toMatchObject({ email: 'old@example.com', age: null })
})

test('a server that starts before PostgreSQL reports it on stderr without the password and exits with code 1', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, {
    DATABASE_URL: `${secret}127.0.0.1:1/app`,
    DATABASE_CONNECT_TIMEOUT_MS: '1',
  })
  expect(await service.exited).toEqual({
    code: 1,
    stderr:
      'The database postgresql://127.0.0.1:1/app cannot be reached: connect ECONNREFUSED 127.0.0.1:1. Start PostgreSQL, or correct DATABASE_URL.\n',
  })
})

test('no log line contains the password, and the first one names the address of the database', async () => {
  await using postgres = await startPostgres()
  await using folder = await temporaryFolder()
  const DATABASE_URL = postgres.url.replace('postgresql://postgres@', secret)
  await using service = spawnService(folder.path, { DATABASE_URL, LOG_LEVEL: 'trace' })
  expect(await service.logged(({ database }) => database !== undefined)).toMatchObject({
    database: `postgresql://127.0.0.1:${postgres.port}/postgres`,
  })
  await postgres.stop('crash')
  expect((await fetch(`${await service.url()}/items`)).status).toBe(503)
  service.signal('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, stderr: '' })
  expect(service.lines.filter((line) => line.includes('secret'))).toEqual([])
})
