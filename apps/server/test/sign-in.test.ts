import { createHash } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { describe, expect, test } from 'vitest'
import { startTestServer, type TestServer } from './harness.ts'
import { exchangeBytes, parseAnswers } from './raw-http.ts'
import { startStubIssuer } from './stub-issuer.ts'

const SETTINGS = { OIDC_AUDIENCE: 'resource', OIDC_CLIENT_ID: 'console', OIDC_CLIENT_SECRET: 'secret' }

/** A service at which the users of a stub issuer sign in. */
async function startWithIssuer(environment: Record<string, string> = {}) {
  const issuer = await startStubIssuer(SETTINGS.OIDC_CLIENT_ID)
  const server = await startTestServer({ ...SETTINGS, OIDC_ISSUER: issuer.issuer, ...environment })
  return {
    issuer,
    server,
    [Symbol.asyncDispose]: async () => {
      await server.stop()
      await issuer.stop()
    },
  }
}

async function visit(url: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { headers, redirect: 'manual' })
  const cookies = answer.headers.getSetCookie()
  return { status: answer.status, location: answer.headers.get('location') ?? '', cookies }
}

/** Begins to sign in. */
async function begin({ url }: TestServer, query = '', headers: Record<string, string> = {}) {
  const { status, location, cookies } = await visit(`${url}/console/sign-in${query}`, headers)
  expect([status, cookies.length]).toEqual([303, 1])
  const [cookie = '', ...attributes] = cookies[0]?.split('; ') ?? []
  return { url: new URL(location), cookie, attributes }
}

/** Returns from the issuer. */
function finish({ url }: TestServer, params: URLSearchParams, cookie: string, headers: Record<string, string> = {}) {
  return visit(`${url}/console/sign-in/callback?${params}`, { Cookie: cookie, ...headers })
}

const sessionsIn = (cookies: string[]) => cookies.filter((cookie) => /^(?:__Host-)?session=[^;]/.test(cookie))

test('signing in at the issuer starts a session with the role of the claim, and leads to the page asked for', async () => {
  await using both = await startWithIssuer()
  const { issuer, server } = both
  const { url, cookie, attributes } = await begin(server, '?to=/console/items%3Fsort=price_desc')
  expect(Object.fromEntries(url.searchParams)).toEqual({
    client_id: 'console',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    redirect_uri: `${server.url}/console/sign-in/callback`,
    response_type: 'code',
    scope: 'openid',
    state: expect.stringMatching(/^[\w-]{43}$/),
  })
  expect([cookie.split('=')[0], ...attributes.filter((text) => !text.startsWith('Expires='))]).toEqual([
    ...['sign-in', 'Max-Age=600', 'Path=/', 'HttpOnly', 'SameSite=Lax'],
  ])
  const { status, location, cookies } = await finish(server, issuer.admit(url), cookie)
  expect([status, location]).toEqual([303, '/console/items?sort=price_desc'])
  expect(cookies).toEqual([
    'sign-in=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax',
    expect.stringMatching(/^session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
  ])
  const verifier = issuer.requests[0]?.get('code_verifier') ?? ''
  expect(createHash('sha256').update(verifier).digest('base64url')).toBe(url.searchParams.get('code_challenge'))
  const headers = { Cookie: cookies[1]?.split(';')[0] ?? '' }
  expect(await (await fetch(`${server.url}/console/session`, { headers })).json()).toEqual({
    name: 'subject mira',
    label: 'mira',
    role: 'writer',
  })
  const { body } = await server.request('GET', '/api/sessions', { headers })
  expect(body).toEqual([expect.objectContaining({ actor_detail: issuer.issuer, current: true })])
})

test('over https the cookies have the prefix __Host-, and PUBLIC_ORIGIN is where the issuer leads back', async () => {
  await using both = await startWithIssuer({ PUBLIC_ORIGIN: 'https://shop.example.com' })
  const { issuer, server } = both
  const { url, cookie, attributes } = await begin(server)
  expect(url.searchParams.get('redirect_uri')).toBe('https://shop.example.com/console/sign-in/callback')
  expect([cookie.split('=')[0], attributes.includes('Secure')]).toEqual(['__Host-sign-in', true])
  const { location, cookies } = await finish(server, issuer.admit(url), cookie)
  expect([location, cookies[1]?.replace(/=[\w-]{43};/, '=…;')]).toEqual([
    '/console',
    '__Host-session=…; Path=/; HttpOnly; Secure; SameSite=Strict',
  ])
})

test.each(['https://evil.example', '//evil.example/console', '/console/../docs', '/consolex', '/\\evil.example'])(
  'a page elsewhere, %s, is not where a sign-in leads',
  async (to) => {
    await using both = await startWithIssuer()
    const { url, cookie } = await begin(both.server, `?to=${encodeURIComponent(to)}`)
    expect((await finish(both.server, both.issuer.admit(url), cookie)).location).toMatch(/^\/console$/)
  },
)

test('a sign-in at a host that is not known to be the service’s is refused', async () => {
  await using both = await startWithIssuer({ ALLOWED_HOSTS: 'shop.lan' })
  const locationAt = async (host: string) => {
    const head = `GET /console/sign-in HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    const [answer] = parseAnswers(await exchangeBytes(both.server.url, Buffer.from(head)))
    return answer?.headers.location ?? ''
  }
  expect(await locationAt('evil.example')).toBe('/console?sign_in=host')
  expect(new URL(await locationAt('shop.lan:8080')).searchParams.get('redirect_uri')).toBe(
    'http://shop.lan:8080/console/sign-in/callback',
  )
})

describe('a sign-in fails, without a session and with the reason,', () => {
  const inAnHour = () => Math.floor(Date.now() / 1000) + 3_600
  const past = () => Math.floor(Date.now() / 1000) - 3_600

  test.each<[what: string, reason: string, change: (params: URLSearchParams) => void]>([
    ['with the state of another attempt', 'attempt', (params) => params.set('state', 'A'.repeat(43))],
    ['without a state', 'attempt', (params) => params.delete('state')],
    ['from another issuer', 'invalid', (params) => params.set('iss', 'https://evil.example')],
    ['without the issuer', 'invalid', (params) => params.delete('iss')],
    ['with an unknown code', 'attempt', (params) => params.set('code', 'unknown')],
    [
      'if the user declines',
      'denied',
      (params) => {
        params.delete('code')
        params.set('error', 'access_denied')
      },
    ],
    [
      'if the issuer has an error',
      'invalid',
      (params) => {
        params.delete('code')
        params.set('error', 'server_error')
      },
    ],
  ])('%s', async (_, reason, change) => {
    await using both = await startWithIssuer()
    const { issuer, server } = both
    const { url, cookie } = await begin(server)
    const params = issuer.admit(url)
    change(params)
    const { status, location, cookies } = await finish(server, params, cookie)
    expect([status, location, sessionsIn(cookies)]).toEqual([303, `/console?sign_in=${reason}`, []])
  })

  test.each<[what: string, reason: string, claims: () => JWTPayload]>([
    ['with the nonce of another attempt', 'invalid', () => ({ nonce: 'A'.repeat(43) })],
    ['with a token of another issuer', 'invalid', () => ({ iss: 'https://evil.example' })],
    ['with a token for another service', 'invalid', () => ({ aud: 'another-service' })],
    ['with an expired token', 'invalid', () => ({ iat: past(), exp: past() + 60 })],
    ['with a token that is not valid yet', 'invalid', () => ({ nbf: inAnHour() })],
    ['without a role', 'role', () => ({ role: 'owner' })],
  ])('%s', async (_, reason, claims) => {
    await using both = await startWithIssuer()
    const { issuer, server } = both
    issuer.answer({ claims: claims() })
    const { url, cookie } = await begin(server)
    const { status, location, cookies } = await finish(server, issuer.admit(url), cookie)
    expect([status, location, sessionsIn(cookies)]).toEqual([303, `/console?sign_in=${reason}`, []])
  })

  test('with a signature by another key', async () => {
    await using both = await startWithIssuer()
    const { issuer, server } = both
    issuer.answer({ isForged: true })
    const { url, cookie } = await begin(server)
    const { location, cookies } = await finish(server, issuer.admit(url), cookie)
    expect([location, sessionsIn(cookies)]).toEqual(['/console?sign_in=invalid', []])
  })

  test('without the cookie of the attempt, with a damaged one, and with a code for the second time', async () => {
    await using both = await startWithIssuer()
    const { issuer, server } = both
    const { url, cookie } = await begin(server)
    const params = issuer.admit(url)
    for (const sent of ['', 'sign-in=x', `sign-in=${Buffer.from('{"state":1}').toString('base64url')}`]) {
      const { location, cookies } = await finish(server, params, sent)
      expect([sent, location, sessionsIn(cookies)]).toEqual([sent, '/console?sign_in=attempt', []])
    }
    expect(sessionsIn((await finish(server, params, cookie)).cookies)).toHaveLength(1)
    const again = await finish(server, params, cookie)
    expect([again.location, sessionsIn(again.cookies)]).toEqual(['/console?sign_in=attempt', []])
  })

  test('while the issuer does not answer, and succeeds afterwards', async () => {
    await using both = await startWithIssuer()
    const { issuer, server } = both
    const { url, cookie } = await begin(server)
    const params = issuer.admit(url)
    await issuer.stop()
    expect((await finish(server, params, cookie)).location).toBe('/console?sign_in=unavailable')
    await using other = await startTestServer({ ...SETTINGS, OIDC_ISSUER: issuer.issuer })
    expect((await visit(`${other.url}/console/sign-in`)).location).toBe('/console?sign_in=unavailable')
    const lines = server.log.filter((line) => line.includes('sign-in failed'))
    expect(lines.map((line) => JSON.parse(line).reason)).toEqual(['unavailable'])
    for (const secret of [params.get('code'), params.get('state'), 'secret']) expect(lines.join()).not.toContain(secret)
  })
})

test.each([
  ['an authorization endpoint that is no URL', { authorization_endpoint: null }],
  ['a discovery document of 2 MB', { claims_supported: ['x'.repeat(2_000_000)] }],
])('while the issuer has %s, sign-in is unavailable, and afterwards it is not', async (_, discovered) => {
  await using both = await startWithIssuer()
  const { issuer, server } = both
  issuer.discover(discovered)
  expect((await visit(`${server.url}/console/sign-in`)).location).toBe('/console?sign_in=unavailable')
  issuer.discover({})
  const leads = async () => new URL((await visit(`${server.url}/console/sign-in`)).location, server.url).pathname
  await expect.poll(leads).toBe('/authorize')
})

test('the login form learns the provider and the limit; without OIDC_CLIENT_ID there is no sign-in', async () => {
  await using both = await startWithIssuer({ SESSION_IDLE_MINUTES: '60' })
  const options = async ({ url }: TestServer) => await (await fetch(`${url}/console/sign-in/options`)).json()
  expect(await options(both.server)).toEqual({ provider: new URL(both.issuer.issuer).host, idle_minutes: 60 })
  await using plain = await startTestServer()
  expect(await options(plain)).toEqual({ provider: null, idle_minutes: 720 })
  expect((await visit(`${plain.url}/console/sign-in/callback?code=x`)).status).not.toBe(303)
})
