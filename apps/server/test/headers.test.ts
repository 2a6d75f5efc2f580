import { describe, expect, test } from 'vitest'
import { bearer, shareTestServer, startTestServer } from './harness.ts'
import { createBook, createItem, createUser } from './records.ts'

const API = { csp: "default-src 'none'; frame-ancestors 'none'", resources: 'same-origin', type: 'nosniff' }

const policies = ({ headers }: { headers: Headers }) => ({
  csp: headers.get('Content-Security-Policy'),
  resources: headers.get('Cross-Origin-Resource-Policy'),
  type: headers.get('X-Content-Type-Options'),
})

describe('a response', () => {
  const server = shareTestServer(async (server) => {
    await createUser(server)
    await createBook(server)
    await createItem(server)
  })

  for (const [path, cache] of [
    ['/users', 'no-store'],
    ['/users/1', 'no-store'],
    ['/api/users', 'no-store'],
    ['/api/users/', 'no-store'],
    ['/api/users/1?envelope=true', 'no-store'],
    ['/api/users/7', 'no-store'],
    ['/api/keys', 'no-store'],
    ['/api/audit', 'no-store'],
    ['/trpc/users.list', 'no-store'],
    ['/trpc/items.list,users.list?batch=1', 'no-store'],
    ['/trpc/nothing', 'no-store'],
    ['/console/session', 'no-store'],
    ['/metrics', 'no-store'],
    ['/bookshelf', 'no-store'],
    ['/books', 'private, no-cache'],
    ['/books/1', 'private, no-cache'],
    ['/books/x', 'private, no-cache'],
    ['/items/?count=true', 'private, no-cache'],
    ['/items/1', 'private, no-cache'],
  ] as const) {
    test(`to GET ${path} has Cache-Control: ${cache} and the policies of an API`, async () => {
      const response = await fetch(server().url + path)
      expect([response.headers.get('Cache-Control'), policies(response)]).toEqual([cache, API])
    })
  }

  for (const path of ['/users/1', '/api/users/1', '/books/1', '/items/1']) {
    test(`to GET ${path} has an ETag, and its 304 has the same headers`, async () => {
      const first = await fetch(server().url + path)
      const headers = { 'If-None-Match': first.headers.get('ETag') as string }
      const again = await fetch(server().url + path, { headers })
      expect([again.status, again.headers.get('ETag'), again.headers.get('Cache-Control'), policies(again)]).toEqual([
        304,
        first.headers.get('ETag'),
        first.headers.get('Cache-Control'),
        API,
      ])
    })
  }

  test('with a page has the policies of a page', async () => {
    const { headers } = await fetch(`${server().url}/docs`)
    expect(headers.get('Content-Security-Policy')).toContain("script-src 'self'")
    expect([headers.get('Cross-Origin-Opener-Policy'), headers.get('Cross-Origin-Resource-Policy')]).toEqual([
      'same-origin',
      'same-origin',
    ])
  })
})

test('the response with a new key, a 401 and a 403 have Cache-Control: no-store', async () => {
  await using server = await startTestServer()
  const json = { name: 'reader', role: 'reader' }
  const created = await server.request('POST', '/api/keys', { json })
  const refused = await server.request('GET', '/users', { headers: bearer(`rsk_${'0'.repeat(44)}`) })
  const forbidden = await server.request('GET', '/api/keys', { headers: bearer(created.body.key) })
  const answers = [created, refused, forbidden]
  expect(answers.map(({ status, headers }) => [status, headers.get('Cache-Control')])).toEqual([
    [201, 'no-store'],
    [401, 'no-store'],
    [403, 'no-store'],
  ])
})
