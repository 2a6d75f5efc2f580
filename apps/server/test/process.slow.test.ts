import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createClient } from '@resource/client'
import { expect, test } from 'vitest'
import { exchangeBytes, parseAnswers } from './raw-http.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

const ADA = '{"name":"Ada Lovelace","email":"ada@example.com"}'

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} lets an open request finish, accepts no other, and exits with code 0`, async () => {
    await using folder = await temporaryFolder()
    await using service = spawnService(folder.path)
    const url = await service.url()
    const idle = await openConnection(url)
    idle.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(idle, 'data')
    const idleClosed = once(idle.resume(), 'close')
    const open = await openCreate(url)

    service.signal(signal)
    await service.logged(({ msg }) => msg === 'stopping')
    await idleClosed
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed')
    // The server does not process a second request on the same connection.
    open.socket.write(`${ADA.slice(10)}GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    await open.closed

    const answers = parseAnswers(Buffer.concat(open.received))
    expect(answers.map(({ status }) => status)).toEqual([201])
    expect(JSON.parse(String(answers[0]?.body))).toMatchObject({ id: 1, email: 'ada@example.com' })
    expect(await service.exited).toEqual({ code: 0, stderr: '' })
  })
}

test('C61 SIGTERM with DRAIN_MS makes /readyz a 503 while requests are still served, each the last on its connection', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { DRAIN_MS: '5000' })
  const url = await service.url()
  service.signal('SIGTERM')
  await service.logged(({ msg }) => msg === 'stopping')
  const ready = await fetch(`${url}/readyz`)
  const books = await fetch(`${url}/books`)
  expect([ready.status, ready.headers.get('Retry-After')]).toEqual([503, '1'])
  expect([books.status, books.headers.get('Connection')]).toEqual([200, 'close'])
  expect(await service.exited).toEqual({ code: 0, stderr: '' })
  await expect(fetch(`${url}/books`)).rejects.toThrow('fetch failed')
})

test('a repeated signal has no further effect', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path)
  const open = await openCreate(await service.url())
  service.signal('SIGTERM')
  await service.logged(({ msg }) => msg === 'stopping')
  service.signal('SIGTERM')
  service.signal('SIGINT')
  await service.logged(({ signal }) => signal === 'SIGINT')
  open.socket.write(ADA.slice(10))
  await open.closed
  expect(parseAnswers(Buffer.concat(open.received)).map(({ status }) => status)).toEqual([201])
  expect(await service.exited).toEqual({ code: 0, stderr: '' })
})

test('records survive a restart', async () => {
  await using folder = await temporaryFolder()
  let stored: unknown
  {
    await using service = spawnService(folder.path)
    const url = await service.url()
    await fetch(`${url}/users`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: ADA })
    stored = await (await fetch(`${url}/users/1`)).json()
    expect(stored).toMatchObject({ id: 1, name: 'Ada Lovelace' })
    service.signal('SIGTERM')
    expect(await service.exited).toEqual({ code: 0, stderr: '' })
  }
  await using service = spawnService(folder.path)
  expect(await (await fetch(`${await service.url()}/users/1`)).json()).toEqual(stored)
})

test('acknowledged writes survive a kill of the process', async () => {
  await using folder = await temporaryFolder()
  {
    await using service = spawnService(folder.path)
    const url = await service.url()
    await fetch(`${url}/users`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: ADA })
    service.signal('SIGKILL')
    await service.exited
  }
  await using service = spawnService(folder.path)
  expect(await (await fetch(`${await service.url()}/users/1`)).json()).toMatchObject({ name: 'Ada Lovelace' })
})

async function openConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket
}

/** Starts a POST of ADA: the service has the head and the first ten bytes, and the test sends the rest. */
async function openCreate(url: string) {
  const socket = await openConnection(url)
  const received: Buffer[] = []
  socket.on('data', (chunk) => received.push(chunk as Buffer))
  const head = ['POST /api/users HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', 'Expect: 100-continue']
  socket.write(`${head.join('\r\n')}\r\nContent-Length: ${ADA.length}\r\n\r\n`)
  // "100 Continue" shows that the service is processing the request.
  await once(socket, 'data')
  socket.write(ADA.slice(0, 10))
  return { socket, received, closed: once(socket, 'close') }
}

test('an invalid configuration exits with code 1 and names every invalid variable', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, {
    PORT: 'abc',
    LOG_LEVEL: 'loud',
    DATABASE_URL: 'mysql://u:secretpw@h/db',
    PASSWORD_MIN_LENGTH: '4',
  })
  const { code, stderr } = await service.exited
  expect(code).toBe(1)
  expect(stderr).toMatch(/^ {2}PORT must be a whole number from 0 to 65535$/m)
  expect(stderr).toMatch(/^ {2}LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent$/m)
  expect(stderr).toMatch(/^ {2}DATABASE_URL must be file: followed by a path, or a postgresql:\/\/ URL$/m)
  expect(stderr).toMatch(/^ {2}PASSWORD_MIN_LENGTH must be a whole number from 8 to 1024$/m)
  expect(stderr).not.toContain('secretpw')
  expect(stderr).not.toMatch(/^\s+at /m)
})

test.each(['file:data.db?password=secretpw', 'file://host/secretpw.db'])(
  'the database URL %s exits with code 1 and a message without the secret',
  async (databaseUrl) => {
    await using folder = await temporaryFolder()
    await using service = spawnService(folder.path, { DATABASE_URL: databaseUrl })
    const { code, stderr } = await service.exited
    expect(code).toBe(1)
    expect(stderr).toContain('file:')
    if (!databaseUrl.startsWith('file://')) expect(stderr).not.toContain('secretpw')
    expect(stderr).not.toMatch(/^\s+at /m)
  },
)

test.each(['1', '2'])(
  'a port in use exits with code 1 and a message that names PORT, with WORKERS=%s',
  async (WORKERS) => {
    await using folder = await temporaryFolder()
    await using taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    await using service = spawnService(folder.path, { PORT: String(port), WORKERS })
    const { code, stderr } = await service.exited
    expect(code).toBe(1)
    expect(stderr).toContain(
      `The port is in use: set PORT to another, or stop the program that uses it (127.0.0.1:${port}, EADDRINUSE)\n`,
    )
    expect(stderr).not.toMatch(/^\s+at /m)
  },
)

test('TRUST_PROXY with a /0 network exits with code 1 before the database is created, and the list in the message works', async () => {
  await using folder = await temporaryFolder()
  await using refused = spawnService(folder.path, { TRUST_PROXY: '0.0.0.0/0' })
  expect(await refused.exited).toEqual({
    code: 1,
    stderr: `Invalid configuration:
  TRUST_PROXY must not contain a /0 network. To trust every address, so that clients can forge theirs, set 0.0.0.0/1,128.0.0.0/1,::/1,8000::/1
`,
  })
  expect(await readdir(folder.path)).toEqual([])
  await using service = spawnService(folder.path, {
    ALLOW_ANONYMOUS: 'true',
    TRUST_PROXY: '0.0.0.0/1,128.0.0.0/1,::/1,8000::/1',
  })
  const headers = { 'X-Forwarded-For': '192.0.2.1, 203.0.113.1, 2001:db8::1, fe80::1' }
  await fetch(`${await service.url()}/items`, { headers })
  expect(await service.logged(({ path }) => path === '/items')).toMatchObject({ address: '192.0.2.1' })
})

test('a remote PostgreSQL without TLS exits with code 1, unless the URL contains sslmode=disable', async () => {
  await using folder = await temporaryFolder()
  const start = async (DATABASE_URL: string) => {
    await using service = spawnService(folder.path, { DATABASE_URL, DATABASE_CONNECT_TIMEOUT_MS: '100' })
    return await service.exited
  }
  // These addresses are reserved and never respond (RFC 5737).
  const refused = await start('postgresql://app:secretpw@192.0.2.1/app')
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Add sslmode=verify-full')])
  const tried = await start('postgresql://app:secretpw@192.0.2.1/app?sslmode=disable')
  expect([tried.code, tried.stderr]).toEqual([1, expect.not.stringContaining('sslmode')])
  expect(refused.stderr + tried.stderr).not.toContain('secretpw')
})

test('every request is a line of JSON with its X-Request-Id, caller and address, and the id that the client sent', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path)
  const url = await service.url()
  const bad = await fetch(`${url}/users/7?page=1`)
  const named = await fetch(`${url}/books`, { headers: { 'X-Request-Id': 'caller-7.a_b' } })
  const malformed = await fetch(`${url}/items`, { headers: { 'X-Request-Id': 'not "well" formed' } })
  const { key, id } = await createClient({ baseUrl: url }).keys.create.mutate({ name: 'operator', role: 'reader' })
  const send = (path: string, credentials: string) =>
    fetch(url + path, { method: 'DELETE', headers: { Authorization: `Bearer ${credentials}` } })
  const wrong = await send('/items/1', `rsk_${'0'.repeat(44)}`)
  const forbidden = await send('/items/1', key)

  const lineOf = async (answer: Response) => {
    const own = answer.headers.get('x-request-id')
    expect(own).toMatch(/^[\da-f-]{36}$/)
    const { level, time, pid, hostname, id, ms, ...line } = await service.logged((line) => line.id === own)
    return line
  }
  const seen = { msg: 'request', method: 'GET', address: '127.0.0.1' }
  expect(await lineOf(bad)).toEqual({ ...seen, path: '/users/7', status: 400, caller: 'anonymous' })
  expect(await lineOf(named)).toEqual({
    ...{ ...seen, path: '/books', status: 200, caller: 'anonymous' },
    client_request_id: 'caller-7.a_b',
  })
  expect(await lineOf(malformed)).toEqual({ ...seen, path: '/items', status: 200, caller: 'anonymous' })
  const deletion = { ...seen, method: 'DELETE', path: '/items/1' }
  expect(await lineOf(wrong)).toEqual({ ...deletion, status: 401, reason: 'unknown_key' })
  expect(await lineOf(forbidden)).toEqual({ ...deletion, status: 403, reason: 'role', caller: `key ${id}` })
})

test('the log line and the count of a request with a malformed body have the status that the client received', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path)
  const url = await service.url()
  const head = 'POST /items/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
  const malformed = Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`)
  expect(parseAnswers(await exchangeBytes(url, malformed))).toMatchObject([{ status: 400 }])
  expect(await service.logged(({ path }) => path === '/items/')).toMatchObject({ status: 400, msg: 'request' })
  const counts = await (await fetch(`${url}/metrics`)).text()
  expect(counts).toContain('resource_http_answers_total{method="POST",status="400"} 1')
})

test('the log line of an aborted request contains the address of the client, and no status', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { RATE_LIMIT: '0' })
  const open = await openCreate(await service.url())
  open.socket.resetAndDestroy()
  const line = await service.logged(({ msg }) => msg === 'request aborted')
  expect(line).toMatchObject({ path: '/api/users', address: '127.0.0.1', caller: 'anonymous' })
  expect(line).not.toHaveProperty('status')
})

test('no log line and no response contains a password, however it was sent', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { LOG_LEVEL: 'trace' })
  const url = await service.url()
  const secret = 'hunter2-marker'
  const user = { name: 'Ada', email: 'ada@example.com', password: secret }
  const answers: string[] = []
  const send = async (method: string, path: string, body?: string) => {
    const headers = { 'Content-Type': 'application/json', 'X-Request-Id': 'probe' }
    const response = await fetch(url + path, { method, headers, ...(body !== undefined && { body }) })
    answers.push(`${response.status} ${await response.text()}`)
    return response.status
  }
  expect(await send('POST', '/api/users', JSON.stringify(user))).toBe(201)
  expect(await send('POST', '/api/users', JSON.stringify(user))).toBe(409)
  expect(await send('POST', '/api/users/bulk', JSON.stringify([{ ...user, email: 'bob@example.com' }]))).toBe(201)
  expect(await send('POST', '/api/users/bulk', JSON.stringify([{ ...user, name: 7 }]))).toBe(400)
  expect(await send('PATCH', '/api/users/1', JSON.stringify({ password: `${secret}-2` }))).toBe(200)
  expect(await send('PUT', '/users/1', JSON.stringify({ password: `${secret}-3` }))).toBe(200)
  expect(await send('POST', '/users', `{"password":"${secret}"`)).toBe(400)
  expect(await send('POST', '/users', `{"password":${secret}}`)).toBe(400)
  expect(await send('POST', '/users', JSON.stringify({ ...user, password: [secret] }))).toBe(400)
  expect(await send('POST', '/users', JSON.stringify({ ...user, password: secret.repeat(100) }))).toBe(400)
  expect(await send('GET', `/users?password=${secret}`)).toBe(400)
  expect(await send('GET', `/users?role=${secret}`)).toBe(200)
  expect(await send('POST', '/trpc/users.create', JSON.stringify({ ...user, email: 'cid@example.com' }))).toBe(200)
  expect(await send('POST', '/trpc/users.create', JSON.stringify({ ...user, email: 7 }))).toBe(400)
  expect(await send('POST', '/trpc/users.create', `{"password":"${secret}"`)).toBe(400)
  expect(await send('POST', '/trpc/users.create', `{"password":${secret}}`)).toBe(400)
  expect(await send('GET', `/trpc/users.list?input=${encodeURIComponent(`{"role":"${secret}"`)}`)).toBe(400)
  await createClient({ baseUrl: url }).users.update.mutate({ id: 1, password: `${secret}-4` })
  service.signal('SIGTERM')
  await service.exited

  expect(service.lines.filter((line) => JSON.parse(line).client_request_id === 'probe')).toHaveLength(17)
  expect([...service.lines, ...answers].filter((line) => line.includes(secret))).toEqual([])
})

test('fifty requests are answered while a hundred passwords are hashed', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path)
  const url = await service.url()
  const users = Array.from({ length: 100 }, (_, index) => ({
    name: `User ${index}`,
    email: `user${index}@example.com`,
    password: 'correct horse battery',
  }))
  let isCreated = false
  const bulk = fetch(`${url}/api/users/bulk`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(users),
  }).finally(() => {
    isCreated = true
  })
  let duringBulk = 0
  for (let count = 0; count < 50; count++) {
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    if (!isCreated) duringBulk++
  }
  expect((await bulk).status).toBe(201)
  expect(duringBulk).toBe(50)
})
