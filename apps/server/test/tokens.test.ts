import { createPublicKey } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { bearer, startTestServer, type TestServer } from './harness.ts'
import { startIdentityProvider } from './identity-provider.ts'
import { createKey } from './records.ts'

afterEach(() => void vi.useRealTimers())

/** The service with an identity provider that it trusts. */
async function startWithProvider(environment: Record<string, string> = {}) {
  const provider = await startIdentityProvider()
  const server = await startTestServer({ OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: 'resource', ...environment })
  return {
    provider,
    server,
    [Symbol.asyncDispose]: async () => {
      await server.stop()
      await provider.stop()
    },
  }
}

async function send(server: TestServer, token: string, method = 'GET', path = '/items/', json?: unknown) {
  const { status, headers, body } = await server.request(method, path, { json, headers: bearer(token) })
  return { status, challenge: headers.get('www-authenticate'), message: body.message ?? body.error }
}

test('C51 the role is the claim of the token', async () => {
  await using both = await startWithProvider()
  const { provider, server } = both
  const lamp = { name: 'Lamp', price: 1 }
  const statuses = async (role: string) => {
    const token = await provider.token({ role })
    const answers = [
      await send(server, token),
      await send(server, token, 'POST', '/items/', lamp),
      await send(server, token, 'DELETE', '/api/users?status=active'),
    ]
    return answers.map(({ status }) => status)
  }
  expect(await statuses('reader')).toEqual([200, 403, 403])
  expect(await statuses('writer')).toEqual([200, 201, 403])
  expect(await statuses('admin')).toEqual([200, 201, 200])
})

test('U17 the roles of fields hold for tokens without any key, as the document says', async () => {
  await using both = await startWithProvider()
  const { provider, server } = both
  const ada = { name: 'Ada', email: 'ada@example.com' }
  const admin = await provider.token({ role: 'admin' })
  const writer = await provider.token({ role: 'writer' })
  expect((await send(server, writer, 'POST', '/api/users', ada)).status).toBe(201)
  for (const json of [{ role: 'admin' }, { password: 'a long enough one' }]) {
    expect((await send(server, writer, 'PATCH', '/api/users/1', json)).status).toBe(403)
    expect((await send(server, admin, 'PATCH', '/api/users/1', json)).status).toBe(200)
  }
  expect((await send(server, writer, 'PATCH', '/api/users/1', { age: 36 })).status).toBe(403)
  const { body } = await server.request('GET', '/openapi.json', { headers: bearer(writer) })
  const { schema } = body.paths['/api/users/{id}'].patch.requestBody.content['application/json']
  const { role } = body.components.schemas[schema.$ref.split('/').at(-1)].properties
  expect(role.description).toBe('Changing it requires the role `admin`.')
})

test('the highest role of a list counts, and unknown roles are ignored', async () => {
  await using both = await startWithProvider()
  const token = await both.provider.token({ role: ['owner', 'reader', 'writer'] })
  expect((await send(both.server, token, 'POST', '/items/', { name: 'Lamp', price: 1 })).status).toBe(201)
  expect((await send(both.server, token, 'GET', '/api/keys')).status).toBe(403)
})

test('the claim may have another name', async () => {
  await using both = await startWithProvider({ OIDC_ROLE_CLAIM: 'client_id' })
  // The value of this claim is `console`, which is not a role.
  const { status, message } = await send(both.server, await both.provider.token({ role: 'admin' }))
  expect([status, message]).toEqual([403, 'The token’s client_id must be reader, proposer, writer or admin'])
})

test.each([
  ['no role claim', undefined],
  ['an unknown role', 'owner'],
  ['a role of another type', { admin: true }],
])('a token with %s is a 403', async (_, role) => {
  await using both = await startWithProvider()
  const answer = await send(both.server, await both.provider.token({ role }))
  expect(answer).toMatchObject({
    status: 403,
    message: 'The token’s role must be reader, proposer, writer or admin',
  })
})

test('a token for another audience is a 401', async () => {
  await using both = await startWithProvider()
  const answer = await send(both.server, await both.provider.token({ role: 'admin', audience: 'another-service' }))
  expect(answer).toEqual({
    status: 401,
    challenge: 'Bearer realm="resource", error="invalid_token"',
    message: 'The token is invalid: unexpected "aud" claim value',
  })
})

test('a token is valid until it expires, plus five seconds of clock skew', async () => {
  await using both = await startWithProvider()
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2031-01-01T00:00:00.000Z') })
  const token = await both.provider.token({ role: 'reader', lifetime: 60 })
  expect((await send(both.server, token)).status).toBe(200)
  vi.setSystemTime(new Date('2031-01-01T00:01:04.000Z'))
  expect((await send(both.server, token)).status).toBe(200)
  vi.setSystemTime(new Date('2031-01-01T00:01:06.000Z'))
  expect(await send(both.server, token)).toMatchObject({
    status: 401,
    message: 'The token is invalid: "exp" claim timestamp check failed',
  })
})

const unsigned = (header: object, payload: JWTPayload) =>
  `${[header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`

test('a token that the provider did not sign is a 401: unsigned, another key, the public key as a secret', async () => {
  await using both = await startWithProvider()
  const { provider, server } = both
  const now = Math.floor(Date.now() / 1000)
  const payload = { iss: provider.issuer, aud: 'resource', role: 'admin', iat: now, exp: now + 60 }
  const { keys } = (await (await fetch(`${provider.issuer}/jwks`)).json()) as { keys: [{ kid: string }] }
  const { privateKey } = await generateKeyPair('RS256')
  const publicKey = createPublicKey({ key: keys[0] as never, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
  const sign = (header: { alg: string }, key: Parameters<SignJWT['sign']>[0]) =>
    new SignJWT(payload).setProtectedHeader({ ...header, kid: keys[0].kid }).sign(key)
  const genuine = await provider.token({ role: 'admin' })
  const [head, body, signature] = genuine.split('.') as [string, string, string]
  const promoted = Buffer.from(JSON.stringify(payload)).toString('base64url')
  for (const token of [
    unsigned({ alg: 'none' }, payload),
    unsigned({ alg: 'None', kid: keys[0].kid }, payload),
    await sign({ alg: 'RS256' }, privateKey),
    await sign({ alg: 'HS256' }, Buffer.from(publicKey)),
    `${head}.${promoted}.${signature}`,
    `${head}.${body}.`,
    `${head}.${body}`,
    '..',
    'a.b.c',
  ]) {
    expect([token, (await send(server, token)).status]).toEqual([token, 401])
  }
  expect((await send(server, genuine)).status).toBe(200)
})

/** A provider whose tokens and discovery document the test controls. */
async function startPlainProvider(document: Record<string, unknown> = {}) {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256' }
  const server = createServer((req, res) => {
    res.setHeader('Content-Type', 'application/json')
    const discovered = { issuer, jwks_uri: `${issuer}/jwks`, ...document }
    res.end(JSON.stringify(req.url === '/jwks' ? { keys: [jwk] } : discovered))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    issuer,
    token: (claims: JWTPayload, typ?: string) =>
      new SignJWT({ iss: issuer, aud: 'resource', role: 'reader', ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'one', ...(typ !== undefined && { typ }) })
        .sign(privateKey),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const inAMinute = () => Math.floor(Date.now() / 1000) + 60

test.each([
  ['without exp', { exp: undefined }, 'missing required "exp" claim'],
  ['without sub', { sub: undefined }, 'missing required "sub" claim'],
  ['with an empty sub', { sub: '' }, 'its "sub" must be 1 to 255 characters'],
  ['with a sub of 256 characters', { sub: 'a'.repeat(256) }, 'its "sub" must be 1 to 255 characters'],
  ['whose sub is an object', { sub: {} }, 'its "sub" must be 1 to 255 characters'],
  ['whose sub is an array', { sub: ['alice'] }, 'its "sub" must be 1 to 255 characters'],
  ['whose sub is a number', { sub: 7 }, 'its "sub" must be 1 to 255 characters'],
  ['whose exp is text', { exp: '9999999999' }, '"exp" claim must be a number'],
  ['whose nbf is text', { nbf: '0' }, '"nbf" claim must be a number'],
  ['whose iat is an object', { iat: {} }, '"iat" claim must be a number'],
  ['whose aud has a number', { aud: ['resource', 1] }, 'its "aud" must be a string or an array of strings'],
  ['with a sub that contains NUL', { sub: 'a\0b' }, 'its "sub" must be 1 to 255 characters'],
])('a token %s is a 401', async (_, claims, fault) => {
  await using provider = await startPlainProvider()
  await using server = await startTestServer({ OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: 'resource' })
  const good = { exp: inAMinute(), sub: 'alice' }
  expect((await send(server, await provider.token(good))).status).toBe(200)
  const { status, message } = await send(server, await provider.token({ ...good, ...claims } as JWTPayload))
  expect([status, message]).toEqual([401, `The token is invalid: ${fault}`])
})

test('with OIDC_TOKEN_TYPE=at+jwt an ID token and any token of another type are a 401', async () => {
  await using provider = await startPlainProvider()
  const environment = { OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: 'resource', OIDC_TOKEN_TYPE: 'at+jwt' }
  await using server = await startTestServer(environment)
  const statuses = []
  for (const typ of ['at+jwt', 'application/at+jwt', 'JWT', undefined]) {
    statuses.push((await send(server, await provider.token({ exp: inAMinute(), sub: 'alice' }, typ))).status)
  }
  expect(statuses).toEqual([200, 200, 401, 401])
})

test.each([
  ['names another issuer', { issuer: 'https://id.example.com' }],
  ['names no issuer', { issuer: undefined }],
  ['names keys over plain http on another machine', { jwks_uri: 'http://id.example.com/jwks' }],
])('with a discovery document that %s every token is refused, and the log gives the reason', async (_, document) => {
  await using provider = await startPlainProvider(document)
  await using server = await startTestServer({ OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: 'resource' })
  expect((await send(server, await provider.token({ exp: inAMinute(), sub: 'alice' }))).status).toBe(503)
  expect(server.log.join()).toContain(`${provider.issuer}/.well-known/openid-configuration names`)
})

test('a key inside the token is not used', async () => {
  await using both = await startWithProvider()
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = await exportJWK(publicKey)
  const token = await new SignJWT({ role: 'admin' })
    .setProtectedHeader({ alg: 'RS256', jwk, jku: 'http://127.0.0.1:1/jwks' })
    .setIssuer(both.provider.issuer)
    .setAudience('resource')
    .setExpirationTime('1m')
    .sign(privateKey)
  expect((await send(both.server, token)).status).toBe(401)
})

test('a token of another provider is a 401', async () => {
  await using both = await startWithProvider()
  await using other = await startIdentityProvider()
  expect((await send(both.server, await other.token({ role: 'admin' }))).status).toBe(401)
})

test('the keys of the provider are fetched once, and again after a rotation', async () => {
  await using both = await startWithProvider()
  const { provider, server } = both
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  const before = await provider.token({ role: 'reader' })
  for (let call = 0; call < 20; call++) expect((await send(server, before)).status).toBe(200)
  expect(provider.keysFetched()).toBe(1)

  await provider.rotate()
  vi.advanceTimersByTime(31_000)
  const after = await provider.token({ role: 'reader' })
  expect((await send(server, after)).status).toBe(200)
  expect((await send(server, before)).status).toBe(401)
  expect((await send(server, after)).status).toBe(200)
  expect(provider.keysFetched()).toBe(2)
})

test('unknown key ids do not cause repeated fetches', async () => {
  await using both = await startWithProvider()
  const { privateKey } = await generateKeyPair('RS256')
  for (let call = 0; call < 20; call++) {
    const token = await new SignJWT({}).setProtectedHeader({ alg: 'RS256', kid: `k${call}` }).sign(privateKey)
    expect((await send(both.server, token)).status).toBe(401)
  }
  expect(both.provider.keysFetched()).toBe(1)
})

test('while the provider does not respond, tokens get a 503 and API keys work; afterwards tokens are valid again', async () => {
  await using provider = await startIdentityProvider()
  await using server = await startTestServer()
  const { key } = await createKey(server)
  const settings = { DATABASE_URL: server.databaseUrl, OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: 'resource' }
  await using trusting = await startTestServer(settings)
  const token = await provider.token({ role: 'reader' })
  await provider.stop()
  const refused = await trusting.request('GET', '/items', { headers: bearer(token) })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(refused.body).toEqual({ message: 'The identity provider does not answer; try again' })
  expect((await send(trusting, key)).status).toBe(200)
  await provider.start()
  expect((await send(trusting, token)).status).toBe(200)
})

test('after two failed fetches of the keys no further token causes one for a second', async () => {
  let fetches = 0
  const provider = createServer((_, res) => void res.writeHead(500).end(String(fetches++))).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  onTestFinished(() => void provider.close())
  const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  await using server = await startTestServer({ OIDC_ISSUER: issuer, OIDC_AUDIENCE: 'resource' })
  vi.useFakeTimers({ toFake: ['performance'] })
  const token = await unsigned({ alg: 'RS256' }, {})
  for (let call = 0; call < 10; call++) expect((await send(server, token)).status).toBe(503)
  expect(fetches).toBe(2)
  vi.advanceTimersByTime(1_001)
  for (let call = 0; call < 10; call++) expect((await send(server, token)).status).toBe(503)
  expect(fetches).toBe(3)
})

test('with an identity provider anonymous requests are refused, with or without keys', async () => {
  await using both = await startWithProvider()
  expect((await both.server.request('GET', '/items')).status).toBe(401)
  const trpc = await fetch(`${both.server.url}/trpc/items.list`)
  expect([trpc.status, trpc.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="resource"'])
})

test('no log line and no error contains a token', async () => {
  await using both = await startWithProvider()
  const { provider, server } = both
  const token = await provider.token({ role: 'reader', audience: 'another-service' })
  const responses: unknown[] = [await send(server, token), await send(server, `${token}x`)]
  await provider.stop()
  responses.push(await send(server, await unsigned({ alg: 'none' }, {})))
  const [, , signature = ''] = token.split('.')
  expect([...server.log, JSON.stringify(responses)].join('\n')).not.toContain(signature.slice(0, 40))
})
