import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createCallers } from './callers.ts'
import { shareTestServer, startTestServer, type TestServer } from './harness.ts'
import { logIn } from './log-in.ts'
import { createKey, createUser } from './records.ts'

const APP = 'https://app.example.com'
const EVIL = 'https://evil.example'
const lamp = { name: 'Lamp', price: 1 }

describe('the session of the console', () => {
  test('is a cookie that scripts cannot read and requests of other sites do not carry', async () => {
    await using server = await startTestServer()
    const { key } = await createKey(server, { role: 'writer' })
    const { status, body, cookie, attributes } = await logIn(server, key, { Origin: server.url })
    expect([status, body]).toEqual([200, { name: 'key 1', label: 'test', role: 'writer' }])
    expect(cookie).not.toContain(key)
    expect(attributes).toEqual(['Path=/', 'HttpOnly', 'SameSite=Strict'])
  })

  test('authenticates over REST and tRPC, with the role of its key', async () => {
    await using server = await startTestServer()
    const { key } = await createKey(server, { role: 'reader' })
    const { cookie } = await logIn(server, key)
    const headers = { Cookie: `theme=dark; ${cookie}` }
    expect(await (await fetch(`${server.url}/console/session`, { headers })).json()).toEqual({
      name: 'key 1',
      label: 'test',
      role: 'reader',
    })
    expect((await server.request('GET', '/items', { headers })).status).toBe(200)
    expect((await fetch(`${server.url}/trpc/items.list`, { headers })).status).toBe(200)
    expect((await server.request('POST', '/items/', { headers, json: lamp })).status).toBe(403)
  })

  test('is not created with an invalid, a revoked, an expired or a missing key', async () => {
    await using server = await startTestServer()
    const callers = await createCallers(server)
    await server.request('GET', '/items', { headers: { Authorization: callers.admin as string } })
    for (const kind of ['none', 'wrong', 'revoked', 'expired'] as const) {
      const authorization = callers[kind]
      const answer = await fetch(`${server.url}/console/session`, {
        method: 'POST',
        headers: authorization === undefined ? {} : { Authorization: authorization },
      })
      expect([kind, answer.status, answer.headers.get('set-cookie')]).toEqual([kind, 401, null])
    }
  })

  test('returns the current caller, a 401 if there is none, and an anonymous admin while no key exists', async () => {
    await using server = await startTestServer()
    const session = () => server.request('GET', '/console/session')
    expect((await session()).body).toEqual({ name: 'anonymous', label: 'anonymous', role: 'admin' })
    server.logIn((await createKey(server)).key)
    await server.request('GET', '/items')
    server.logIn(undefined)
    const { status, headers } = await session()
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="resource"'])
  })

  test('needs a key, also while no key exists, and an empty cookie is none', async () => {
    await using server = await startTestServer()
    const answer = await fetch(`${server.url}/console/session`, { method: 'POST' })
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null])
    const headers = { Cookie: 'session=' }
    expect((await server.request('GET', '/items', { headers })).status).toBe(200)
  })

  test('ends with DELETE, also if there is none', async () => {
    await using server = await startTestServer()
    const answer = await fetch(`${server.url}/console/session`, { method: 'DELETE' })
    expect([answer.status, answer.headers.getSetCookie().length]).toEqual([204, 2])
  })
})

describe('C56 a write that a browser sends for a page of another origin (CSRF)', () => {
  const server = shareTestServer(async (server) => {
    await createUser(server)
    cookie = (await logIn(server, (await createKey(server)).key)).cookie
  })
  let cookie = ''

  for (const [what, method, path, type, body] of [
    ['a form', 'POST', '/users', 'application/x-www-form-urlencoded', 'name=x'],
    ['JSON as text', 'POST', '/items/', 'text/plain', '{"name":"x","price":1}'],
    ['JSON', 'POST', '/items/', 'application/json', '{"name":"x","price":1}'],
    ['a deletion', 'DELETE', '/api/users?status=active', undefined, undefined],
    ['a tRPC call', 'POST', '/trpc/items.create', 'application/json', '{"name":"x","price":1}'],
    ['a tRPC call as text', 'POST', '/trpc/items.create', 'text/plain', '{"name":"x","price":1}'],
    ['a new session', 'POST', '/console/session', undefined, undefined],
    ['the end of the session', 'DELETE', '/console/session', undefined, undefined],
  ] as const) {
    for (const origin of [EVIL, 'null', 'http://127.0.0.1:1', 'http://localhost']) {
      test(`${what} from ${origin} is refused with and without the cookie`, async () => {
        for (const credentials of [{}, { Cookie: cookie }]) {
          const answer = await fetch(server().url + path, {
            method,
            headers: { Origin: origin, ...(type !== undefined && { 'Content-Type': type }), ...credentials },
            ...(body !== undefined && { body }),
          })
          expect(answer.status).toBe(403)
          expect(answer.headers.get('access-control-allow-origin')).toBeNull()
          expect(await answer.text()).toContain(`Pages of ${origin} may not call this service`)
        }
        const headers = { Cookie: cookie }
        expect((await server().request('GET', '/items', { headers })).body).toEqual([])
        expect((await server().request('GET', '/users', { headers })).body).toHaveLength(1)
      })
    }
  }

  test('is recognized by Sec-Fetch-Site, whatever Host a proxy sends', async () => {
    const send = (headers: Record<string, string>) =>
      server().request('POST', '/items/', { json: {}, headers: { Cookie: cookie, Origin: APP, ...headers } })
    expect((await send({ 'Sec-Fetch-Site': 'same-origin' })).status).toBe(400)
    for (const site of ['cross-site', 'same-site', 'none']) {
      expect([site, (await send({ 'Sec-Fetch-Site': site })).status]).toEqual([site, 403])
    }
  })

  test('without an Origin is judged only by Sec-Fetch-Site', async () => {
    const send = async (site: string) => {
      const headers = { Cookie: cookie, 'Sec-Fetch-Site': site }
      return (await server().request('POST', '/items/', { json: {}, headers })).status
    }
    expect([await send('cross-site'), await send('same-site')]).toEqual([403, 403])
    expect([await send('same-origin'), await send('none')]).toEqual([400, 400])
  })

  test('of the same origin, or of a client that sends none, is accepted', async () => {
    for (const headers of [{ Cookie: cookie }, { Cookie: cookie, Origin: server().url }]) {
      expect((await server().request('POST', '/items/', { json: {}, headers })).status).toBe(400)
    }
  })
})

describe('pages of other origins (CORS)', () => {
  const preflight = (server: TestServer, origin: string, path: string) =>
    fetch(server.url + path, {
      method: 'OPTIONS',
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'PATCH',
        'Access-Control-Request-Headers': 'authorization,content-type,if-match',
      },
    })

  test('have no access by default', async () => {
    await using server = await startTestServer()
    for (const path of ['/items', '/trpc/items.list', '/openapi.json', '/nothing']) {
      const answers = [await preflight(server, APP, path), await fetch(server.url + path, { headers: { Origin: APP } })]
      for (const { headers } of answers) {
        expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
      }
    }
  })

  test('listed in CORS_ORIGINS may call everything, with a key and without the cookie', async () => {
    await using server = await startTestServer({ CORS_ORIGINS: `${APP},http://localhost:5173` })
    for (const path of ['/items/1', '/trpc/items.update']) {
      const { status, headers } = await preflight(server, APP, path)
      expect(status).toBe(204)
      expect(headers.get('allow')).not.toBeNull()
      expect(Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')))).toEqual({
        'access-control-allow-origin': APP,
        'access-control-allow-methods': 'GET,HEAD,POST,PUT,PATCH,DELETE',
        'access-control-allow-headers': 'authorization,content-type,if-match',
        'access-control-max-age': '600',
        'access-control-expose-headers':
          'Age,Allow,ETag,Idempotent-Replayed,Link,Location,RateLimit,RateLimit-Policy,Retry-After,WWW-Authenticate,X-Changes-Cursor,X-Request-Id,X-Searched-Count,X-Total-Count',
      })
    }
    const headers = { Origin: APP, 'Sec-Fetch-Site': 'cross-site' }
    const created = await server.request('POST', '/items/', { json: lamp, headers })
    expect([created.status, created.headers.get('access-control-allow-origin')]).toEqual([201, APP])
    const read = await fetch(`${server.url}/trpc/items.list`, { headers })
    expect([read.status, read.headers.get('access-control-allow-origin'), read.headers.get('vary')]).toEqual([
      200,
      APP,
      'Origin, trpc-accept, accept',
    ])
    expect(read.headers.get('access-control-allow-credentials')).toBeNull()
    const missing = await server.request('GET', '/items/7', { headers })
    expect([missing.status, missing.headers.get('access-control-allow-origin')]).toEqual([404, APP])
  })

  test('listed in CORS_ORIGINS can read every refusal, and when to try again', async () => {
    // A minute that ends during the test would begin with a new quota.
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: new Date('2026-11-21T12:00:18Z') })
    onTestFinished(() => void vi.useRealTimers())
    await using server = await startTestServer(
      { CORS_ORIGINS: APP, RATE_LIMIT: '1', MAX_REQUESTS: '1' },
      { latency: 500 },
    )
    const read = (path: string) => server.request('GET', path, { headers: { Origin: APP } })
    const admitted = read('/items')
    const busy = await read('/items')
    const limited = await admitted.then(() => read('/items'))
    expect((await preflight(server, APP, '/items')).status).toBe(204)
    for (const [{ status, headers }, expected] of [
      [busy, 503],
      [limited, 429],
    ] as const) {
      expect([status, headers.get('access-control-allow-origin')]).toEqual([expected, APP])
      expect(headers.get('access-control-expose-headers')).toContain('Retry-After')
      expect(headers.get('retry-after')).not.toBeNull()
    }
  })

  test('not listed in CORS_ORIGINS have no access', async () => {
    await using server = await startTestServer({ CORS_ORIGINS: APP })
    for (const origin of [EVIL, `${APP}.evil.example`, 'http://app.example.com', 'null']) {
      const refused = await preflight(server, origin, '/items/1')
      expect([origin, refused.headers.get('access-control-allow-origin')]).toEqual([origin, null])
      expect([refused.status, await refused.json()]).toEqual([
        403,
        { message: `Pages of ${origin} may not call this service; CORS_ORIGINS lists the origins that may` },
      ])
      const answer = await server.request('POST', '/items/', { json: lamp, headers: { Origin: origin } })
      expect([origin, answer.status]).toEqual([origin, 403])
    }
  })

  test('not listed in CORS_ORIGINS are logged once per origin and minute, reads too, at most 20 origins per minute', async () => {
    await using server = await startTestServer()
    const origins = () =>
      server.log
        .map((line) => JSON.parse(line))
        .filter(({ msg }) => msg === 'origin refused: to admit its pages, add it to CORS_ORIGINS')
        .map(({ level, origin }) => [level, origin])
    await fetch(`${server.url}/items`, { headers: { Origin: server.url } })
    expect(origins()).toEqual([])
    const minute = vi.spyOn(performance, 'now')
    try {
      minute.mockReturnValue(1_000_000)
      for (let n = 0; n < 3; n++) await fetch(`${server.url}/items`, { headers: { Origin: APP } })
      await preflight(server, EVIL, '/items')
      await server.request('POST', '/items/', { json: lamp, headers: { Origin: EVIL } })
      expect(origins()).toEqual([
        [40, APP],
        [40, EVIL],
      ])
      for (let n = 0; n < 30; n++) await fetch(`${server.url}/items`, { headers: { Origin: `https://${n}.example` } })
      expect(origins()).toHaveLength(20)
      minute.mockReturnValue(1_060_000)
      await fetch(`${server.url}/items`, { headers: { Origin: APP } })
      expect(origins().slice(20)).toEqual([[40, APP]])
    } finally {
      minute.mockRestore()
    }
  })
})
