import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { createClient, ForbiddenError, UnauthorizedError } from '@resource/client'
import { createTRPCClient, httpBatchStreamLink } from '@trpc/client'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { isSame, newKey } from '../src/access/api-key.ts'
import { createCallers } from './callers.ts'
import { bearer, shareTestServer, startTestServer, type TestServer } from './harness.ts'
import { exchangeBytes, parseAnswers } from './raw-http.ts'
import { aTimestamp, createKey, createUser, dropTable, openDatabase } from './records.ts'

const INVALID = 'Bearer realm="resource", error="invalid_token"'

afterEach(() => {
  vi.useRealTimers()
  syncBuiltinESMExports()
})

describe('C50 without any key', () => {
  test('an anonymous caller may read, write, delete by filter and create keys', async () => {
    await using server = await startTestServer()
    await createUser(server)
    expect((await server.request('GET', '/api/users/1')).status).toBe(200)
    expect((await server.request('DELETE', '/api/users?status=active')).status).toBe(200)
    expect((await server.request('GET', '/api/keys')).body).toEqual([])
    expect((await createKey(server)).role).toBe('admin')
  })

  test('invalid credentials are still refused', async () => {
    await using server = await startTestServer()
    const headers = bearer(`rsk_${'a'.repeat(44)}`)
    expect((await server.request('GET', '/books', { headers })).status).toBe(401)
  })

  for (const [host, status] of [
    ['localhost', 200],
    ['LOCALHOST:3000', 200],
    ['127.0.0.1:80', 200],
    ['127.9.9.9', 200],
    ['[::1]:3000', 200],
    ['resource.localhost', 200],
    ['rebound.example.com', 403],
    ['localhost.example.com', 403],
    ['127.0.0.1.example.com', 403],
    ['notlocalhost', 403],
    ['192.168.0.7', 403],
    ['[::ffff:7f00:1]', 403],
  ] as const) {
    test(`a request for the host ${host} gets a ${status} on every path (DNS rebinding)`, async () => {
      await using server = await startTestServer()
      for (const target of ['/api/users', '/trpc/users.list', '/console', '/docs', '/healthz', '/openapi.json']) {
        const bytes = Buffer.from(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
        const [answer] = parseAnswers(await exchangeBytes(server.url, bytes))
        if (status === 403) expect([target, answer?.status]).toEqual([target, 403])
        else expect(answer?.status).not.toBe(403)
      }
    })
  }
})

describe('C51 once a key exists', () => {
  test('an anonymous request is refused under every host name', async () => {
    await using server = await startTestServer()
    const { key } = await createKey(server)
    const anonymous = async () => (await server.request('GET', '/books')).status
    await expect.poll(anonymous).toBe(401)
    const send = async (credentials: string) => {
      const head = `GET /books HTTP/1.1\r\nHost: api.example.com\r\n${credentials}Connection: close\r\n\r\n`
      return parseAnswers(await exchangeBytes(server.url, Buffer.from(head)))[0]?.status
    }
    expect([await send(''), await send(`Authorization: Bearer ${key}\r\n`)]).toEqual([401, 200])
  })

  test('revocation or expiry of the last key does not open the service again', async () => {
    await using server = await startTestServer()
    server.logIn((await createKey(server)).key)
    await server.request('DELETE', '/api/keys/1')
    await expect.poll(async () => (await server.request('GET', '/books')).status).toBe(401)
    server.logIn(undefined)
    expect((await server.request('GET', '/books')).status).toBe(401)
  })

  test('health, documentation and OPTIONS need no credentials', async () => {
    await using server = await startTestServer()
    await createCallers(server)
    for (const path of ['/healthz', '/readyz', '/openapi.json']) {
      expect((await server.request('GET', path)).status).toBe(200)
    }
    for (const path of ['/docs', '/redoc']) expect((await fetch(server.url + path)).status).toBe(200)
    expect((await server.request('OPTIONS', '/api/users')).status).toBe(204)
    expect((await server.request('GET', '/nothing')).status).toBe(404)
  })
})

describe('a refusal', () => {
  const server = shareTestServer(async (server) => void Object.assign(callers, await createCallers(server)))
  const callers = {} as Awaited<ReturnType<typeof createCallers>>

  test('a 401 explains how to authenticate', async () => {
    const { status, headers, body } = await server().request('GET', '/api/users')
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="resource"'])
    expect(body).toEqual({ error: 'Send Authorization: Bearer with an API key' })
  })

  for (const [kind, message] of [
    ['wrong', 'This API key is unknown'],
    ['revoked', 'This API key was revoked'],
    ['expired', 'This API key has expired'],
  ] as const) {
    test(`a 401 for the ${kind} key gives the reason: ${message}`, async () => {
      const headers = { Authorization: callers[kind] as string }
      const answer = await server().request('GET', '/items', { headers })
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, INVALID])
      expect(answer.body).toEqual({ message })
    })
  }

  for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer ', 'Bearer a b', 'rsk_x', 'Bearer "x"', 'Bearer a,b']) {
    test(`a 401 is the response to Authorization: ${authorization}`, async () => {
      const answer = await server().request('GET', '/items', { headers: { Authorization: authorization } })
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, INVALID])
    })
  }

  test('the scheme is case-insensitive (RFC 9110, 11.1)', async () => {
    const key = callers.reader?.slice('Bearer '.length)
    expect((await server().request('GET', '/items', { headers: { Authorization: `bEARER  ${key}` } })).status).toBe(200)
  })

  test('a 403 names the required role and the role of the caller', async () => {
    const headers = { Authorization: callers.reader as string }
    const answer = await server().request('POST', '/items/', { headers, json: { name: 'Lamp', price: 1 } })
    expect(answer.status).toBe(403)
    expect(answer.body).toEqual({ message: 'This needs the role writer; yours is reader' })
  })

  test('C9 comes before checks of the body, the input and the existence of the record', async () => {
    const anonymous = { 'Content-Type': 'application/json' }
    const reader = { ...anonymous, Authorization: callers.reader as string }
    const tooLong = 'x'.repeat(5 * 1024 * 1024)
    for (const [headers, status] of [
      [anonymous, 401],
      [reader, 403],
    ] as const) {
      expect((await server().request('POST', '/users', { raw: tooLong, headers })).status).toBe(status)
      expect((await server().request('POST', '/users', { raw: '{', headers })).status).toBe(status)
      expect((await server().request('PATCH', '/items/999?x=1', { json: {}, headers })).status).toBe(status)
      const trpc = await fetch(`${server().url}/trpc/items.delete`, { method: 'POST', headers, body: '{"id":999}' })
      expect(trpc.status).toBe(status)
    }
  })

  test('has its own error class over tRPC, with the same message', async () => {
    let calls = 0
    const anonymous = createClient({ baseUrl: server().url, onUnauthorized: () => calls++ })
    const reader = createClient({ baseUrl: server().url, apiKey: callers.reader?.slice('Bearer '.length) as string })
    const refused = await anonymous.items.list.query({}).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(UnauthorizedError)
    expect(refused).toMatchObject({ status: 401, message: 'Send Authorization: Bearer with an API key' })
    expect(calls).toBe(1)
    const forbidden = await reader.keys.list.query({}).catch((error: unknown) => error)
    expect(forbidden).toBeInstanceOf(ForbiddenError)
    expect(forbidden).toMatchObject({ status: 403, message: 'This needs the role admin; yours is reader' })
  })

  test('applies to each call of a batch, and to streams', async () => {
    const headers = { Authorization: callers.reader as string, 'Content-Type': 'application/json' }
    const batch = await fetch(`${server().url}/trpc/items.list,keys.list?batch=1&input={}`, { headers })
    expect(batch.status).toBe(207)
    expect(await batch.json()).toMatchObject([{ result: {} }, { error: { data: { httpStatus: 403 } } }])
    const all = await fetch(`${server().url}/trpc/items.list,keys.list?batch=1&input={}`)
    expect(all.status).toBe(401)
    expect(await all.json()).toMatchObject([{ error: { data: { path: 'items.list' } } }, { error: {} }])
    // biome-ignore lint/suspicious/noExplicitAny: the type of the router does not matter here
    const stream = createTRPCClient<any>({ links: [httpBatchStreamLink({ url: `${server().url}/trpc` })] }) as any
    await expect(stream.items.list.query({})).rejects.toMatchObject({ data: { httpStatus: 401 } })
  })
})

describe('a key', () => {
  test('C52, C53 is shown once, when it is created', async () => {
    await using server = await startTestServer()
    const json = { name: 'nightly import', role: 'writer', owner: 'Mira' }
    const created = await server.request('POST', '/api/keys', { json })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe('/api/keys/1')
    const { key, ...record } = created.body
    expect(key).toMatch(/^rsk_[0-9A-Za-z]{44}$/)
    expect(record).toEqual({
      id: 1,
      name: 'nightly import',
      role: 'writer',
      owner: 'Mira',
      prefix: key.slice(0, 16),
      created_at: aTimestamp,
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      rotated_at: null,
      former_until: null,
    })
    server.logIn((await createCallers(server)).admin?.replace('Bearer ', ''))
    expect((await server.request('GET', '/api/keys/1')).body).toEqual(record)
    expect((await server.request('GET', '/api/keys')).body[0]).toEqual(record)
  })

  test('C53 is stored only as a hash, also in the response stored for idempotency', async () => {
    await using server = await startTestServer()
    const headers = { 'Idempotency-Key': 'once' }
    const json = { name: 'import', role: 'admin' }
    server.logIn((await createKey(server)).key)
    const { key } = (await server.request('POST', '/api/keys', { json, headers })).body
    const repeated = await server.request('POST', '/api/keys', { json, headers })
    expect(repeated.status).toBe(409)
    expect(repeated.body.error.message).toContain('This request already created key 2')
    await using database = await openDatabase(server)
    const stored = JSON.stringify([
      await database.read.apiKeys.find({ id: 2 }),
      await database.read.idempotencyKeys.find({ procedure: 'keys.create key 1', key: 'once' }),
    ])
    expect(stored).toContain(key.slice(0, 16))
    expect(stored).not.toContain(key.slice(16))
    expect((await server.request('GET', '/api/keys')).body).toHaveLength(2)
  })

  test('is compared in constant time', () => {
    const { key, hash } = newKey()
    const swap = (index: number) => `${key.slice(0, index)}${key[index] === 'a' ? 'b' : 'a'}${key.slice(index + 1)}`
    using compare = vi.spyOn(crypto, 'timingSafeEqual')
    syncBuiltinESMExports()
    const candidates = [swap(4), swap(24), swap(47), key, newKey().key]
    expect(candidates.map((candidate) => isSame(candidate, hash))).toEqual([false, false, false, true, false])
    expect(isSame(key, undefined)).toBe(false)
    // Each candidate is compared as a whole hash. A caller cannot choose how many bytes of two hashes agree.
    const lengths = compare.mock.calls.map(([one, other]) => [one.byteLength, other.byteLength])
    expect(lengths).toEqual(Array(6).fill([64, 64]))
  })

  test('is unique', async () => {
    await using server = await startTestServer()
    server.logIn((await createKey(server)).key)
    // Of up to 32 concurrent requests none is refused for overload.
    const keys = await Promise.all(Array.from({ length: 30 }, () => createKey(server)))
    expect(new Set(keys.map(({ key }) => key.slice(16))).size).toBe(30)
  })

  test('with one character changed anywhere is invalid', async () => {
    await using server = await startTestServer()
    const { key } = await createKey(server)
    for (let index = 0; index < key.length; index++) {
      const other = `${key.slice(0, index)}${key[index] === 'a' ? 'b' : 'a'}${key.slice(index + 1)}`
      const answer = await server.request('GET', '/items', { headers: bearer(other) })
      expect([index, answer.status]).toEqual([index, 401])
    }
    expect((await server.request('GET', '/items', { headers: bearer(key) })).status).toBe(200)
  })

  test('records its last use to the minute', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2031-01-01T00:00:00.000Z') })
    await using server = await startTestServer()
    server.logIn((await createKey(server)).key)
    const { key } = await createKey(server, { role: 'reader' })
    const use = () => server.request('GET', '/items', { headers: bearer(key) })
    const lastUse = async () => (await server.request('GET', '/api/keys/2')).body.last_used_at
    expect(await lastUse()).toBeNull()
    await use()
    await expect.poll(lastUse).toBe('2031-01-01T00:00:00.000Z')
    vi.setSystemTime(new Date('2031-01-01T00:00:59.999Z'))
    await use()
    vi.setSystemTime(new Date('2031-01-01T00:01:00.000Z'))
    expect(await lastUse()).toBe('2031-01-01T00:00:00.000Z')
    await use()
    await expect.poll(lastUse).toBe('2031-01-01T00:01:00.000Z')
  })

  test('is valid until it expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2031-01-01T00:00:00.000Z') })
    await using server = await startTestServer()
    const { key } = await createKey(server, { expires_at: '2031-01-01T00:00:00.500Z' })
    const status = async () => (await server.request('GET', '/items', { headers: bearer(key) })).status
    expect(await status()).toBe(200)
    vi.setSystemTime(new Date('2031-01-01T00:00:00.499Z'))
    expect(await status()).toBe(200)
    vi.setSystemTime(new Date('2031-01-01T00:00:00.500Z'))
    expect(await status()).toBe(401)
  })

  test('C54 is refused from the first request after its revocation', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2031-01-01T00:00:00.000Z') })
    await using server = await startTestServer()
    server.logIn((await createKey(server)).key)
    const { key } = await createKey(server)
    const status = async () => (await server.request('GET', '/items', { headers: bearer(key) })).status
    expect(await status()).toBe(200)
    await server.request('DELETE', '/api/keys/2')
    expect(await status()).toBe(401)
  })

  test('revoked by another process is refused within a second', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: new Date('2031-01-01T00:00:00.000Z') })
    await using here = await startTestServer()
    await using there = await startTestServer({ DATABASE_URL: here.databaseUrl })
    here.logIn((await createKey(here)).key)
    const { key } = await createKey(here, { role: 'reader' })
    const status = async () => (await there.request('GET', '/items', { headers: bearer(key) })).status
    expect(await status()).toBe(200)
    await here.request('DELETE', '/api/keys/2')
    vi.advanceTimersByTime(1000)
    expect(await status()).toBe(401)
    // The same applies to anonymous requests after another process creates the first key.
    expect((await there.request('GET', '/items')).status).toBe(401)
  })

  test('C54 revoked twice keeps the time of the first revocation', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2031-01-01T00:00:00.000Z') })
    await using server = await startTestServer()
    server.logIn((await createKey(server)).key)
    await createKey(server)
    expect((await server.request('DELETE', '/api/keys/2')).body).toEqual({ message: 'Key revoked' })
    vi.setSystemTime(new Date('2031-01-01T00:00:30.000Z'))
    expect((await server.request('DELETE', '/api/keys/2')).status).toBe(200)
    expect((await server.request('GET', '/api/keys/2')).body.revoked_at).toBe('2031-01-01T00:00:00.000Z')
  })

  for (const grace of [0, 60]) {
    test(`C54 rotated gets a new secret, and its former one ends after ${grace} s, in every process`, async () => {
      vi.useFakeTimers({ toFake: ['Date', 'performance'], now: new Date('2031-01-01T00:00:00.000Z') })
      await using here = await startTestServer()
      await using there = await startTestServer({ DATABASE_URL: here.databaseUrl })
      here.logIn((await createKey(here)).key)
      const { key, prefix } = await createKey(here, { role: 'reader' })
      const answerTo = async (server: TestServer, key: string) => {
        const { status, body } = await server.request('GET', '/items', { headers: bearer(key) })
        return status === 200 ? 200 : body.message
      }
      expect(await answerTo(there, key)).toBe(200)
      const rotated = await here.request('POST', '/api/keys/2/rotate', { json: { grace } })
      expect([rotated.status, rotated.headers.get('etag')]).toEqual([200, expect.stringMatching(/^"3-/)])
      expect(rotated.body).toMatchObject({
        ...{ id: 2, role: 'reader', prefix, rotated_at: '2031-01-01T00:00:00.000Z' },
        former_until: `2031-01-01T00:0${grace / 60}:00.000Z`,
      })
      const { key: next } = rotated.body
      expect([next.slice(0, 16), next === key]).toEqual([prefix, false])
      expect((await here.request('GET', '/api/keys/2')).body.key).toBeUndefined()
      expect(await answerTo(here, next)).toBe(200)
      vi.advanceTimersByTime(100)
      expect(await answerTo(there, next)).toBe(200)
      vi.advanceTimersByTime(900)
      const servers = [here, there]
      const answers = () => Promise.all(servers.map((server) => answerTo(server, key)))
      const ended = 'This API key was rotated: use its new secret'
      expect(await answers()).toEqual(grace === 0 ? [ended, ended] : [200, 200])
      vi.advanceTimersByTime(59_000)
      expect(await answers()).toEqual([ended, ended])
      expect(await answerTo(here, `${prefix}${'0'.repeat(32)}`)).toBe('This API key is unknown')
    })
  }

  test('C54 is rotated once per idempotency key, from the version that was read, and not after its end', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2031-01-01T00:00:00.000Z') })
    await using server = await startTestServer()
    server.logIn((await createKey(server)).key)
    await createKey(server, { expires_at: '2031-01-01T00:01:00Z' })
    const rotate = async (id: number, headers: Record<string, string> = {}, json: object = {}) => {
      const { status, body } = await server.request('POST', `/api/keys/${id}/rotate`, { json, headers })
      return [status, body.error?.message]
    }
    expect(await rotate(2, { 'Idempotency-Key': 'once' })).toEqual([200, undefined])
    const again = 'This request already rotated key 2, and a key is shown only once: rotate it again'
    expect(await rotate(2, { 'Idempotency-Key': 'once' })).toEqual([409, again])
    const stale = 'Key has changed: its version is now 2; read it again before writing'
    expect(await rotate(2, { 'If-Match': '"1-Key"' })).toEqual([412, stale])
    expect(await rotate(3)).toEqual([404, 'Key not found'])
    const tooLong = 'grace: must be a whole number from 0 to 86400'
    expect(await rotate(2, {}, { grace: 86_401 })).toEqual([400, tooLong])
    vi.setSystemTime(new Date('2031-01-01T00:01:00.000Z'))
    expect(await rotate(2)).toEqual([409, 'Key 2 has expired: create another'])
    await createKey(server)
    await server.request('DELETE', '/api/keys/3')
    expect(await rotate(3)).toEqual([409, 'Key 3 was revoked: create another'])
  })

  for (const [json, message] of [
    [{ role: 'admin' }, 'Missing required fields: name'],
    [{ name: 'x', role: 'owner' }, 'role: must be reader, proposer, writer or admin'],
    [{ name: 'x', role: 'admin', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at: must be in the future'],
    [
      { name: 'x', role: 'admin', expires_at: 'tomorrow' },
      'expires_at: must be an RFC 3339 time such as 2027-01-31T00:00:00Z',
    ],
  ] as const) {
    test(`with ${JSON.stringify(json)} is refused: ${message}`, async () => {
      await using server = await startTestServer()
      const { status, body } = await server.request('POST', '/api/keys', { json })
      expect([status, body.error.message]).toEqual([400, message])
    })
  }
})

test('no log line and no error contains a key or a part of one, however it was sent', async () => {
  await using server = await startTestServer()
  const { key } = await createKey(server)
  const wrong = `${key.slice(0, 16)}${'Z'.repeat(32)}`
  await server.request('GET', '/items', { headers: bearer(key) })
  const errors: string[] = []
  const send = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const answer = await fetch(server.url + path, { method, headers })
    const response = `${[...answer.headers].filter(([name]) => name !== 'set-cookie')} ${await answer.text()}`
    if (answer.status >= 400) errors.push(response)
  }
  for (const secret of [key, wrong]) {
    await send('/items', bearer(secret))
    await send('/items', { Authorization: `Basic ${secret}` })
    await send('/items', { Authorization: secret })
    await send(`/items?key=${secret}`, bearer(secret))
    await send('/items/x', bearer(secret))
    await send('/trpc/items.list', bearer(secret))
    await send('/trpc/items.list', { Cookie: `session=${secret}` })
    await send('/trpc/items.get', { 'Trpc-Accept': 'application/jsonl', Authorization: `Bearer ${secret}` })
    await send('/console/session', bearer(secret), 'POST')
    await send('/console/session', { Cookie: `a=b; resource_session=${secret}` })
  }
  expect(errors.length).toBeGreaterThan(10)
  const output = [...server.log, ...errors].join('\n')
  expect(output).not.toContain(key.slice(16))
  expect(output).not.toContain('Z'.repeat(32))
})

test('if the keys are unreadable, every request is refused', async () => {
  await using server = await startTestServer()
  await dropTable(server, 'api_keys')
  for (const headers of [{}, bearer(newKey().key)]) {
    await expect.poll(async () => (await server.request('GET', '/items', { headers })).status).toBe(500)
  }
})
