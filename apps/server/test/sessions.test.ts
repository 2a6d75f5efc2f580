import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openEvents } from './event-source.ts'
import { bearer, startTestServer, type TestServer } from './harness.ts'
import { leastMs } from './least.ts'
import { logIn, readWith } from './log-in.ts'
import { aTimestamp, createKey, openDatabase } from './records.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const MINUTE_MS = 60_000
const ENDED = [401, 'The session has ended; log in again']

const secretIn = (cookie: string) => cookie.slice(cookie.indexOf('=') + 1)

/** A service with a key of the role `admin`. */
async function startWithKey(environment: Record<string, string> = {}, fields: object = {}) {
  const server = await startTestServer(environment)
  const { key } = await createKey(server, { name: 'operator', ...fields })
  return { server, key, [Symbol.asyncDispose]: server.stop }
}

function fakeDate(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  onTestFinished(() => void vi.useRealTimers())
}

/** The stored sessions. */
async function storedSessions(server: TestServer) {
  await using database = await openDatabase(server)
  const order = { column: 'id', descending: false } as const
  return await database.read.sessions.page({ where: {}, order, take: 100 })
}

describe('the cookie of a session', () => {
  test('has a random secret, of which the hash is stored; each login has another and ends the session before', async () => {
    await using both = await startWithKey()
    const { server, key } = both
    const first = await logIn(server, key)
    expect(first.cookie).toMatch(/^session=[\w-]{43}$/)
    expect(first.attributes).toEqual(['Path=/', 'HttpOnly', 'SameSite=Strict'])
    const second = await logIn(server, key, { Cookie: first.cookie })
    expect(second.cookie).not.toBe(first.cookie)
    expect(await readWith(server, first.cookie)).toEqual(ENDED)
    expect(await readWith(server, second.cookie)).toEqual([200, undefined])
    const hash = createHash('sha256').update(secretIn(second.cookie)).digest('hex')
    expect(await storedSessions(server)).toEqual([expect.objectContaining({ id: 2, hash, key_id: 1 })])
  })

  test('over https has the prefix __Host-, also behind a trusted proxy; only such a cookie counts there', async () => {
    await using both = await startWithKey()
    const { server, key } = both
    const secure = ['Path=/', 'HttpOnly', 'Secure', 'SameSite=Strict']
    const behindTls = await logIn(server, key, { Origin: server.url.replace('http:', 'https:') })
    expect([behindTls.cookie, behindTls.attributes]).toEqual([expect.stringMatching(/^__Host-session=/), secure])
    // Without TRUST_PROXY the header proves nothing.
    expect((await logIn(server, key, { 'X-Forwarded-Proto': 'https' })).cookie).toMatch(/^session=/)

    await using trusting = await startTestServer({ DATABASE_URL: server.databaseUrl, TRUST_PROXY: 'loopback' })
    const https = { 'X-Forwarded-Proto': 'https' }
    const proxied = await logIn(trusting, key, https)
    expect([proxied.cookie, proxied.attributes]).toEqual([expect.stringMatching(/^__Host-session=/), secure])
    const read = async (cookie: string) =>
      (await fetch(`${trusting.url}/items`, { headers: { Cookie: cookie, ...https } })).status
    expect(await read(proxied.cookie)).toBe(200)
    expect(await read(`session=${secretIn(proxied.cookie)}`)).toBe(401)
  })

  test('is refused if it is made up, changed, or sent as a bearer token', async () => {
    await using both = await startWithKey()
    const { server, key } = both
    const { cookie } = await logIn(server, key)
    const changed = `${cookie.slice(0, -2)}${cookie.endsWith('AA') ? 'BB' : 'AA'}`
    const unknown = `session=${'A'.repeat(43)}`
    for (const sent of [changed, unknown, `${cookie}A`, 'session=x', `session=${'%'.repeat(43)}`])
      expect([sent, ...(await readWith(server, sent))]).toEqual([sent, ...ENDED])
    const sent = await server.request('GET', '/items', { headers: bearer(secretIn(cookie)) })
    expect([sent.status, sent.body]).toEqual([401, { message: 'This API key is unknown' }])
    expect(await readWith(server, cookie)).toEqual([200, undefined])
  })

  test('that has ended does not keep anyone out of a service without keys', async () => {
    await using server = await startTestServer()
    expect(await readWith(server, `session=${'A'.repeat(43)}`)).toEqual([200, undefined])
  })
})

describe('a session ends', () => {
  test('by log-out within a second in every process, with its streams', async () => {
    await using folder = await temporaryFolder()
    await using both = await startWithKey()
    const { server, key } = both
    await using service = spawnService(folder.path, { DATABASE_URL: server.databaseUrl })
    const other = { url: await service.url() }
    const rest = await logIn(server, key)
    const logOutMs = async () => {
      const { cookie } = await logIn(server, key)
      const headers = { Cookie: cookie }
      await using here = await openEvents(`${server.url}/api/changes`, headers)
      await using there = await openEvents(`${other.url}/api/changes`, headers)
      expect([(await here.next())?.event, (await there.next())?.event]).toEqual(['position', 'position'])
      expect(await readWith(other, cookie)).toEqual([200, undefined])
      const startMs = performance.now()
      const answer = await fetch(`${server.url}/console/session`, { method: 'DELETE', headers })
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([
        204,
        [
          '__Host-session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Secure; SameSite=Strict',
          'session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Strict',
        ],
      ])
      expect(await readWith(server, cookie)).toEqual(ENDED)
      const ended = Promise.all([here.ended(), there.ended()])
      while ((await readWith(other, cookie))[0] === 200) await sleep(20)
      await ended
      return performance.now() - startMs
    }
    expect(await leastMs(1_000, logOutMs)).toBeLessThan(1_000)
    expect(await readWith(other, rest.cookie)).toEqual([200, undefined])
  })

  test('if it is not used for SESSION_IDLE_MINUTES; its last use is stored once a minute', async () => {
    await using both = await startWithKey({ SESSION_IDLE_MINUTES: '5' })
    const { server, key } = both
    fakeDate()
    const { cookie } = await logIn(server, key)
    const startMs = Date.now()
    const lastUsed = async () => (await storedSessions(server)).map((row) => row.last_used_at.getTime() - startMs)
    const [createdMs = 0] = await lastUsed()
    vi.setSystemTime(startMs + 50_000)
    expect(await readWith(server, cookie)).toEqual([200, undefined])
    await sleep(100)
    expect(await lastUsed()).toEqual([createdMs])
    vi.setSystemTime(startMs + 4 * MINUTE_MS)
    expect(await readWith(server, cookie)).toEqual([200, undefined])
    await expect.poll(lastUsed).toEqual([4 * MINUTE_MS])
    vi.setSystemTime(startMs + 8 * MINUTE_MS)
    expect(await readWith(server, cookie)).toEqual([200, undefined])
    await expect.poll(lastUsed).toEqual([8 * MINUTE_MS])
    vi.setSystemTime(startMs + 13 * MINUTE_MS + 1)
    expect(await readWith(server, cookie)).toEqual(ENDED)
  })

  test('after SESSION_HOURS, however much it is used, and is deleted at the next start', async () => {
    await using both = await startWithKey({ SESSION_HOURS: '1' })
    const { server, key } = both
    fakeDate()
    const startMs = Date.now()
    const { cookie } = await logIn(server, key)
    vi.setSystemTime(startMs + 59 * MINUTE_MS)
    expect(await readWith(server, cookie)).toEqual([200, undefined])
    vi.setSystemTime(startMs + 61 * MINUTE_MS)
    expect(await readWith(server, cookie)).toEqual(ENDED)
    await using _ = await startTestServer({ DATABASE_URL: server.databaseUrl })
    await expect.poll(async () => await storedSessions(server)).toEqual([])
  })

  test('with its key, whether that is revoked, rotated or expires', async () => {
    await using both = await startWithKey()
    const { server, key } = both
    server.logIn(key)
    const revoked = await createKey(server, { role: 'writer' })
    const expires_at = new Date(Date.now() + 30 * MINUTE_MS).toISOString()
    const expiring = await createKey(server, { role: 'reader', expires_at })
    const cookies = [await logIn(server, revoked.key), await logIn(server, expiring.key)].map(({ cookie }) => cookie)
    for (const cookie of cookies) expect(await readWith(server, cookie)).toEqual([200, undefined])
    await server.request('DELETE', `/api/keys/${revoked.id}`)
    expect(await readWith(server, cookies[0] as string)).toEqual(ENDED)
    const { body } = await server.request('GET', '/api/sessions')
    expect(body).toEqual([expect.objectContaining({ actor: 'key 3', expires_at })])
    const rotated = await createKey(server)
    const before = await logIn(server, rotated.key)
    const { key: next } = (await server.request('POST', `/api/keys/${rotated.id}/rotate`, { json: { grace: 600 } }))
      .body
    expect(await readWith(server, before.cookie)).toEqual([200, undefined])
    const after = await logIn(server, next)
    fakeDate()
    vi.setSystemTime(Date.now() + 10 * MINUTE_MS)
    expect(await readWith(server, before.cookie)).toEqual(ENDED)
    expect(await readWith(server, after.cookie)).toEqual([200, undefined])
    vi.setSystemTime(Date.parse(expires_at))
    expect(await readWith(server, cookies[1] as string)).toEqual(ENDED)
  })

  test('with the secret that logged in, however often its key is rotated', async () => {
    await using both = await startWithKey()
    const { server, key } = both
    server.logIn(key)
    const rotated = await createKey(server)
    const rotate = async (grace: number) =>
      (await server.request('POST', `/api/keys/${rotated.id}/rotate`, { json: { grace } })).body.key
    const first = await logIn(server, rotated.key)
    await rotate(60)
    const during = await logIn(server, rotated.key)
    const next = await rotate(600)
    const last = await logIn(server, next)
    fakeDate()
    vi.setSystemTime(Date.now() + 2 * MINUTE_MS)
    for (const { cookie } of [first, during]) expect(await readWith(server, cookie)).toEqual(ENDED)
    expect(await readWith(server, last.cookie)).toEqual([200, undefined])
    await rotate(0)
    const { body } = await server.request('GET', '/api/sessions')
    expect(body).toEqual([])
  })
})

describe('C59 the sessions', () => {
  test('are listed for their own user and for administrators, who can end them', async () => {
    await using both = await startWithKey()
    const { server, key } = both
    server.logIn(key)
    const reader = await createKey(server, { role: 'reader', name: 'shop' })
    const own = await logIn(server, reader.key, { 'User-Agent': FIREFOX })
    const admins = await logIn(server, key, { 'User-Agent': 'curl/8.5.0' })
    server.logIn(undefined)
    const as = (cookie: string, method: string, path: string) =>
      server.request(method, path, { headers: { Cookie: cookie } })
    const session = {
      id: 1,
      actor: 'key 2',
      actor_detail: 'shop',
      role: 'reader',
      address: '127.0.0.1',
      browser: 'Firefox on Linux',
      created_at: aTimestamp,
      last_used_at: aTimestamp,
      expires_at: aTimestamp,
    }
    expect((await as(own.cookie, 'GET', '/api/sessions')).body).toEqual([{ ...session, current: true }])
    expect((await as(own.cookie, 'GET', '/api/sessions/1')).body).toEqual(session)
    for (const method of ['GET', 'DELETE']) expect((await as(own.cookie, method, '/api/sessions/2')).status).toBe(404)
    const all = await as(admins.cookie, 'GET', '/api/sessions')
    expect(all.body).toEqual([
      expect.objectContaining({ id: 2, actor: 'key 1', browser: 'curl/8.5.0', current: true }),
      { ...session, current: false },
    ])
    expect(await as(admins.cookie, 'DELETE', '/api/sessions/1')).toMatchObject({
      status: 200,
      body: { message: 'Session ended' },
    })
    expect(await readWith(server, own.cookie)).toEqual(ENDED)
    expect((await as(admins.cookie, 'DELETE', '/api/sessions/1')).status).toBe(404)
  })

  test('have entries in the audit log, without their secrets', async () => {
    await using both = await startWithKey()
    const { server, key } = both
    const { cookie } = await logIn(server, key)
    await fetch(`${server.url}/console/session`, { method: 'DELETE', headers: { Cookie: cookie } })
    server.logIn(key)
    const { body } = await server.request('GET', '/api/audit?resource=sessions&sort=id_asc')
    const session = { id: 1, actor: 'key 1', actor_detail: 'operator', role: 'admin' }
    expect(body).toMatchObject([
      { actor: 'key 1', procedure: 'sessions.create', before: null, after: session, address: '127.0.0.1' },
      { actor: 'key 1', actor_detail: 'operator (console)', procedure: 'sessions.end', before: session, after: null },
    ])
    const hash = createHash('sha256').update(secretIn(cookie)).digest('hex')
    for (const secret of [secretIn(cookie), hash])
      expect(JSON.stringify(body) + server.log.join()).not.toContain(secret)
  })
})
