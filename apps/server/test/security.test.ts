// One test for each common attack; docs/reference/testing.md lists the others with their files.
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { describe, expect, test, vi } from 'vitest'
import { shareTestServer, startTestServer, type TestServer } from './harness.ts'
import { exchangeBytes, parseAnswers } from './raw-http.ts'
import { createItem, createKey, createUser, openDatabase } from './records.ts'

const ada = { name: 'Ada', email: 'ada@example.com' }

async function raw(server: TestServer, request: string) {
  const bytes = await exchangeBytes(server.url, Buffer.from(`${request}\r\n\r\n`, 'latin1'))
  return parseAnswers(bytes).map(({ status, headers, body }) => ({ status, headers, body: body.toString() }))
}

async function call(server: TestServer, path: string, input: unknown) {
  const response = await fetch(`${server.url}/trpc/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: typeof input === 'string' ? input : JSON.stringify(input),
  })
  return { status: response.status, body: await response.json() }
}

describe('C6 mass assignment', () => {
  test('of columns of a user that are not fields has no effect, whichever API writes', async () => {
    await using server = await startTestServer()
    const more = {
      ...{ id: 50, version: 9, created_at: '2001-01-01T00:00:00.000Z', updated_at: '2001-01-01T00:00:00.000Z' },
      ...{ email_key: 'eve@example.com', password_hash: '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaA' },
    }
    await createUser(server, more)
    await server.request('POST', '/api/users/bulk', { json: [{ name: 'Bob', email: 'bob@example.com', ...more }] })
    await server.request('PUT', '/api/users/1', { json: { ...ada, name: 'Ada B.', role: 'user', ...more } })
    await server.request('PATCH', '/api/users/1', { json: { name: 'Ada L.', ...more } })
    await server.request('PATCH', '/api/users/1/status', { json: { status: 'inactive', role: 'admin', ...more } })
    await call(server, 'users.create', { name: 'Cid', email: 'cid@example.com', ...more })
    await using database = await openDatabase(server)
    const rows = await database.read.users.page({ where: {}, order: { column: 'id', descending: false }, take: 10 })
    expect(
      rows.map(({ id, version, email_key, role, password_hash }) => [id, version, email_key, role, password_hash]),
    ).toEqual([
      [1, 4, 'ada@example.com', 'user', null],
      [2, 1, 'bob@example.com', 'user', null],
      [3, 1, 'cid@example.com', 'user', null],
    ])
    for (const { created_at } of rows) expect(created_at.getFullYear()).toBeGreaterThan(2001)
  })

  test('of columns of a key that are not fields has no effect', async () => {
    await using server = await startTestServer()
    const times = { revoked_at: '2001-01-01T00:00:00.000Z', last_used_at: '2001-01-01T00:00:00.000Z' }
    const key = await createKey(server, { id: 50, prefix: 'rsk_mine', hash: 'x', key: 'mine', ...times })
    expect(key).toMatchObject({ id: 1, revoked_at: null, last_used_at: null })
    expect([key.key, key.prefix].join()).not.toContain('mine')
  })
})

describe('id tricks', () => {
  test('C6 an id in the body does not redirect a write to another record', async () => {
    await using server = await startTestServer()
    await createItem(server, { name: 'Lamp' })
    await createItem(server, { name: 'Desk' })
    await server.request('PATCH', '/items/1', { json: { id: 2, item_id: 2, name: 'Sofa' } })
    await server.request('PUT', '/items/1', { json: { id: 2, name: 'Sofa', price: 1 } })
    expect((await server.request('GET', '/items')).body).toMatchObject([
      { id: 1, name: 'Sofa' },
      { id: 2, name: 'Desk' },
    ])
  })

  for (const id of ['"1"', '[1]', '{"id":1}', '1.5', 'true', 'null', '"1 OR 1=1"', '1e400']) {
    test(`over tRPC ${id} is an invalid id`, async () => {
      await using server = await startTestServer()
      await createItem(server)
      expect((await call(server, 'items.delete', `{"id":${id}}`)).status).toBe(400)
      expect((await server.request('GET', '/items')).body).toHaveLength(1)
    })
  }
})

test('prototype pollution: no name in a body, a query, a path or a batch reaches Object.prototype', async () => {
  await using server = await startTestServer()
  const pollution = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}'
  const headers = { 'Content-Type': 'application/json' }
  await server.request('POST', '/items/', { raw: `{"name":"Lamp","price":1,${pollution}}`, headers })
  await server.request('POST', '/items/bulk', { raw: `[{"name":"Lamp","price":1,${pollution}}]`, headers })
  await server.request('PATCH', '/items/1', { raw: `{"price":2,${pollution}}`, headers })
  await server.request('GET', '/items?__proto__[polluted]=1&constructor[prototype][polluted]=1')
  await server.request('GET', '/items/__proto__')
  await call(server, 'items.create', `{"name":"Lamp","price":1,${pollution}}`)
  await call(server, 'items.create,items.create?batch=1', `{"0":{"name":"Lamp","price":1},${pollution}}`)
  await call(server, '__proto__.polluted', '{}')
  expect(({} as { polluted?: number }).polluted).toBe(undefined)
  expect(Object.keys(Object.prototype)).toEqual([])
})

describe('header and CRLF injection', () => {
  const server = shareTestServer()

  for (const [what, request, status] of [
    ['a query that Link contains', 'GET /items?category=a%0d%0aSet-Cookie:%20a=b&count=true HTTP/1.1', 200],
    ['a path that an error contains', 'GET /nowhere%0d%0aSet-Cookie:%20a=b?envelope=true HTTP/1.1', 404],
    ['an id', 'GET /items/1%0d%0aSet-Cookie:%20a=b HTTP/1.1', 400],
    ['a request id', 'GET /items HTTP/1.1\r\nX-Request-Id: a%0d%0aSet-Cookie:%20a=b', 200],
    ['an origin', 'GET /items HTTP/1.1\r\nOrigin: http://a%0d%0aSet-Cookie:%20a=b', 200],
    ['a bare line feed in a header', 'GET /items HTTP/1.1\r\nX-Request-Id: a\nSet-Cookie: a=b', 400],
    ['a bare carriage return in a header', 'GET /items HTTP/1.1\r\nX-Request-Id: a\rSet-Cookie: a=b', 400],
  ] as const) {
    test(`by ${what} adds no header to a response`, async () => {
      const answers = await raw(server(), `${request}\r\nHost: localhost`)
      expect(answers.map((answer) => answer.status)).toEqual([status])
      expect(Object.keys(answers[0]?.headers ?? {})).not.toContain('set-cookie')
    })
  }

  test('by the text of a record adds no header, because no header contains it', async () => {
    const text = 'a\r\nSet-Cookie: a=b'
    const { status, headers } = await server().request('POST', '/items/', {
      json: { name: text, price: 1, category: text },
    })
    expect([status, headers.get('Set-Cookie')]).toEqual([201, null])
  })
})

for (const [name, first, second] of [
  ['Host', 'Host: localhost', 'host: evil.example'],
  ['Authorization', 'Host: localhost\r\nAuthorization: Bearer a', 'authorization: Bearer b'],
  ['Content-Type', 'Host: localhost\r\nContent-Type: application/json', 'content-type: text/plain'],
]) {
  test(`a second ${name} header is refused: a proxy may have checked the other one`, async () => {
    await using server = await startTestServer()
    const answers = await raw(server, `GET /items HTTP/1.1\r\n${first}\r\n${second}`)
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [400, `{"message":"The ${name} header must be given once"}`],
    ])
  })
}

test('more header fields than are read are refused, because one of them may be a condition', async () => {
  await using server = await startTestServer()
  await createItem(server)
  const patch = async (fields: number) => {
    const names = Array.from({ length: fields - 4 }, () => 'a:').join('\r\n')
    const head = `PATCH /items/1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 11`
    const bytes = Buffer.from(`${head}\r\n${names}\r\nIf-Match: "9-x"\r\n\r\n{"price":1}`)
    return parseAnswers(await exchangeBytes(server.url, bytes)).map(({ status }) => status)
  }
  expect([await patch(1_000), await patch(1_001), await patch(2_500)]).toEqual([[412], [431], [431]])
  expect((await server.request('GET', '/items/1')).body.price).toBe(24.5)
})

test('the host of an absolute target counts, whatever the Host header says', async () => {
  await using server = await startTestServer()
  const send = async (target: string, host: string) => {
    const [answer] = await raw(server, `GET ${target} HTTP/1.1\r\nHost: ${host}`)
    return answer?.status
  }
  expect(await send('http://localhost/items', 'evil.example')).toBe(200)
  expect(await send('http://evil.example/items', 'localhost')).toBe(403)
  expect(await send('http:///items', 'localhost')).toBe(400)
  expect(await send('http://user@localhost/items', 'localhost')).toBe(400)
})

test.each(['/items', '/healthz', '/trpc/items.list', '/nothing', ''])(
  'an absolute target is an http or https URL: %s',
  async (path) => {
    await using server = await startTestServer()
    const send = async (scheme: string) => {
      const [answer] = await raw(server, `GET ${scheme}://localhost${path} HTTP/1.1\r\nHost: localhost`)
      return answer
    }
    const plain = (await raw(server, `GET ${path || '/'} HTTP/1.1\r\nHost: localhost`))[0]?.status
    for (const scheme of ['http', 'https', 'HTTP']) expect((await send(scheme))?.status).toBe(plain)
    for (const scheme of ['ftp', 'file', 'httpx', 'ws']) {
      const answer = await send(scheme)
      expect([answer?.status, answer?.body.toString()]).toEqual([
        400,
        expect.stringContaining('The request target must be a path, such as /items, or an http or https URL'),
      ])
    }
  },
)

describe('path traversal', () => {
  const server = shareTestServer()
  const secret = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).description

  for (const path of [
    '/assets/../package.json',
    '/assets/../../../../../../etc/passwd',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets/..%5c..%5cpackage.json',
    '/assets/%252e%252e/package.json',
    '/assets//etc/passwd',
    '/assets/..;/package.json',
    '/console/assets/../index.html',
    '/console/assets/..%2f..%2f..%2fserver%2fpackage.json',
    '/console/assets/%2e%2e/%2e%2e/%2e%2e/server/package.json',
    '/console/../../server/package.json',
    '/console/..%2f..%2fserver%2fpackage.json%00.css',
    '/docs/../../package.json',
    'http://localhost/assets/../../package.json',
  ]) {
    test(`by ${path} reaches no file`, async () => {
      const answers = await raw(server(), `GET ${path} HTTP/1.1\r\nHost: localhost`)
      expect(answers).toHaveLength(1)
      const [{ status, headers, body } = { status: 0, headers: {} as Record<string, string>, body: '' }] = answers
      // Every path under /console without a file serves its page.
      const isPage = status === 200 && path.startsWith('/console/') && headers['content-type']?.startsWith('text/html')
      expect([400, 404].includes(status) || isPage, `${status} ${body.slice(0, 100)}`).toBe(true)
      expect(body).not.toContain(secret)
      expect(body).not.toContain('root:')
    })
  }
})

test('timing of an unknown e-mail address: a password is hashed whether the address is taken or not', async () => {
  await using server = await startTestServer()
  await createUser(server)
  const { id } = await createUser(server, { email: 'bob@example.com' })
  using post = vi.spyOn(Worker.prototype, 'postMessage')
  const hashes = () => post.mock.calls.filter(([{ text }]) => text !== undefined).length
  const work = async (method: string, path: string, json: object, headers: Record<string, string> = {}) => {
    const before = hashes()
    const { status } = await server.request(method, path, { json, headers })
    return [status, hashes() - before]
  }
  const password = 'correct horse battery'
  expect(await work('POST', '/api/users', { ...ada, password })).toEqual([409, 1])
  expect(await work('POST', '/api/users', { name: 'Eve', email: 'eve@example.com', password })).toEqual([201, 1])
  expect(await work('PATCH', `/api/users/${id}`, { email: 'ADA@example.com', password })).toEqual([409, 1])
  expect(await work('PATCH', `/api/users/${id}`, { email: 'cid@example.com', password })).toEqual([200, 1])
  expect(await work('PATCH', '/api/users/70', { email: 'dan@example.com', password })).toEqual([404, 1])
})
