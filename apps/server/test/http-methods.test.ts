import { describe, expect, test } from 'vitest'
import { createDocument } from '../src/document.ts'
import { errorOf, exampleOf, operationIds, seed } from './examples.ts'
import { shareTestServer } from './harness.ts'
import { nextId } from './samples.ts'

const document = createDocument() as unknown as { paths: Record<string, Record<string, unknown>> }
const concrete = (path: string) => path.replace(/\{\w+\}/, '1')

/** The targets of the examples. */
const GETS = operationIds.map(exampleOf).flatMap(({ method, path }) => (method === 'GET' ? [path] : []))

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

const specified: Record<string, string> = {
  '/api/users': 'GET, HEAD, POST, PATCH, DELETE, OPTIONS',
  '/users': 'GET, HEAD, POST, OPTIONS',
  '/api/users/': 'GET, HEAD, POST, OPTIONS',
  '/api/users/{id}': 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
  '/users/{user_id}': 'GET, HEAD, PUT, DELETE, OPTIONS',
  '/api/users/{id}/': 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
  '/api/users/bulk': 'POST, PATCH, OPTIONS',
  '/api/users/{id}/status': 'PATCH, OPTIONS',
  '/books': 'GET, HEAD, POST, PATCH, DELETE, OPTIONS',
  '/books/bulk': 'POST, PATCH, OPTIONS',
  '/books/{id}': 'GET, HEAD, PUT, DELETE, OPTIONS',
  '/items/': 'GET, HEAD, POST, PATCH, DELETE, OPTIONS',
  '/items/bulk': 'POST, PATCH, OPTIONS',
  '/items/{item_id}': 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
  ...Object.fromEntries(
    ['/api/users', '/books', '/items'].flatMap((base) => [[`${base}/summaries`, 'GET, HEAD, OPTIONS']]),
  ),
  '/api/keys': 'GET, HEAD, POST, OPTIONS',
  '/api/keys/{id}': 'GET, HEAD, DELETE, OPTIONS',
  '/api/audit': 'GET, HEAD, OPTIONS',
  '/api/audit/{id}': 'GET, HEAD, OPTIONS',
}

/** The `Allow` header of a path outside the API rules, from the document. */
function documented(path: string): string {
  const methods = METHODS.filter((method) => method.toLowerCase() in (document.paths[path] ?? {}))
  return [...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method)), 'OPTIONS'].join(', ')
}

describe('S6, C10, C32 methods', () => {
  const server = shareTestServer(seed)

  for (const path of Object.keys(document.paths)) {
    const allowed = specified[path] ?? documented(path)

    test(`OPTIONS ${path} lists its methods in Allow`, async () => {
      const { status, headers, body } = await server().request('OPTIONS', concrete(path))
      expect(status).toBe(204)
      expect(body).toBeUndefined()
      expect(headers.get('allow')).toBe(allowed)
    })

    const missing = METHODS.filter((method) => !allowed.includes(method))
    for (const method of missing) {
      test(`${method} ${path} is a 405 with the same Allow`, async () => {
        const { status, headers, body } = await server().request(method, concrete(path))
        expect(status).toBe(405)
        expect(headers.get('allow')).toBe(allowed)
        expect(body).toEqual(errorOf({ method, path }, expect.stringMatching(/./)))
      })
    }

    if (document.paths[path]?.get === undefined) continue
    test(`HEAD ${path} is GET without the body`, async () => {
      const readable = GETS.find((target) => target.split('?')[0] === path) ?? concrete(path)
      const get = await server().request('GET', readable)
      const head = await server().request('HEAD', readable)
      expect(head.status).toBe(200)
      expect(head.body).toBeUndefined()
      for (const name of ['content-type', 'content-length', 'etag', 'link']) {
        expect(head.headers.get(name)).toBe(get.headers.get(name))
      }
    })
  }

  for (const path of ['/docs', '/redoc', '/openapi.json', '/']) {
    test(`${path} supports HEAD and OPTIONS`, async () => {
      const get = await fetch(server().url + path)
      expect((await get.text()).length).toBeGreaterThan(0)
      const head = await server().request('HEAD', path)
      expect([head.status, head.body]).toEqual([200, undefined])
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
      const options = await server().request('OPTIONS', path)
      expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
    })
  }

  for (const [path, status] of [
    ['/users/7', 404],
    ['/books/abc', 400],
    ['/items?page=0', 400],
    ['/nothing', 404],
    ['/api/users/bulk', 405],
  ] as const) {
    test(`HEAD ${path} is a ${status} without a body, like GET with one`, async () => {
      expect((await server().request('GET', path)).status).toBe(status)
      const head = await server().request('HEAD', path)
      expect([head.status, head.body]).toEqual([status, undefined])
    })
  }
})

describe('C32 406', () => {
  const server = shareTestServer(seed)

  for (const operationId of operationIds) {
    const { method, path, json } = exampleOf(operationId)
    test(`${operationId} (${method} ${path}) refuses clients that do not accept JSON and does nothing`, async () => {
      const { status, body } = await server().request(method, path, { json, headers: { Accept: 'text/html' } })
      expect(status).toBe(406)
      expect(body).toEqual(errorOf({ method, path }, expect.stringContaining('application/json')))
      const { users } = await server().client.users.list.query({})
      const { books } = await server().client.books.list.query({})
      const { items } = await server().client.items.list.query({})
      expect([users[0], books[0], items[0]]).toMatchObject([
        { id: 1, name: 'Ada', version: 1 },
        { id: 1, title: 'Dune', version: 1 },
        { id: 1, price: 24.5, version: 1 },
      ])
      expect([users, books, items].map(({ length }) => length + 1)).toEqual(['users', 'books', 'items'].map(nextId))
    })
  }

  for (const [accept, status] of [
    ['application/json', 200],
    ['application/json; charset=utf-8', 200],
    ['application/*', 200],
    ['*/*', 200],
    ['text/html, */*;q=0.1', 200],
    ['text/html', 406],
    ['application/xml, text/plain', 406],
    ['application/json;q=0', 406],
    ['application/json;q=0, */*', 406],
  ] as const) {
    test(`Accept: ${accept} is a ${status}`, async () => {
      expect((await server().request('GET', '/books', { headers: { Accept: accept } })).status).toBe(status)
    })
  }
})

describe('C2 413', () => {
  const server = shareTestServer(seed, { RATE_LIMIT: '0' })
  const headers = { 'Content-Type': 'application/json' }
  const MiB = 1024 * 1024

  for (const [method, path, json, limit] of [
    ['POST', '/api/users', { name: 'Bob', email: 'bob1@example.com' }, MiB],
    ['POST', '/users', { name: 'Bob', email: 'bob2@example.com' }, MiB],
    ['POST', '/api/users/', { name: 'Bob', email: 'bob3@example.com' }, MiB],
    ['POST', '/api/users/bulk', [{ name: 'Bob', email: 'bob4@example.com' }], 4 * MiB],
    ['PUT', '/users/1', { name: 'Bob' }, MiB],
    ['PATCH', '/api/users/1/status', { status: 'active' }, MiB],
    ['POST', '/books', { title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' }, MiB],
    ['PATCH', '/items/1', { price: 1 }, MiB],
  ] as const) {
    test(`${method} ${path} accepts a body of ${limit} bytes and refuses a larger one`, async () => {
      const text = JSON.stringify(json)
      const over = await server().request(method, path, { raw: text.padEnd(limit + 1), headers })
      expect(over.status).toBe(413)
      expect(over.body).toEqual(errorOf({ method, path }, expect.stringContaining(String(limit))))
      expect((await server().request(method, path, { raw: text.padEnd(limit), headers })).status).toBeLessThan(300)
    })
  }
})
