import { describe, expect, test } from 'vitest'
import { exampleOf, operationIds, seed } from './examples.ts'
import { preparedServers, shareTestServer } from './harness.ts'
import { collections } from './samples.ts'

const startSeeded = preparedServers(seed)

describe('general conventions', () => {
  for (const operationId of operationIds) {
    const { method, path, json } = exampleOf(operationId)

    test(`C29 ${operationId} (${method} ${path}) returns JSON or no body`, async () => {
      await using server = await startSeeded()
      const { status, headers, body } = await server.request(method, path, { json })
      expect(status).toBeLessThan(300)
      expect(headers.get('content-type')).toBe(status === 204 ? null : 'application/json; charset=utf-8')
      expect(body === undefined).toBe(status === 204)
    })

    if (method !== 'PUT' && method !== 'PATCH' && method !== 'DELETE') continue
    test(`C13 ${operationId} (${method} ${path}) is idempotent: twice has the effect of once`, async () => {
      await using server = await startSeeded()
      const state = async () => {
        const lists = server.client as unknown as Record<string, { list: { query: () => Promise<object> } }>
        const records = await Promise.all(collections.map((noun) => lists[noun]?.list.query()))
        // Version and time change with each write; the other fields must not.
        return JSON.stringify(records).replace(/"(version|updated_at)":("[^"]*"|\d+)/g, '')
      }
      await server.request(method, path, { json })
      const once = await state()
      await server.request(method, path, { json })
      expect(await state()).toBe(once)
    })
  }

  const server = shareTestServer(seed)
  for (const path of [
    '/api/users',
    '/users',
    '/api/users/',
    '/api/users/1',
    '/users/1',
    '/books',
    '/books/1',
    '/items/',
    '/items/1',
  ]) {
    test(`C13 GET ${path} is safe and idempotent`, async () => {
      const first = await server().request('GET', path)
      const again = await server().request('GET', path)
      expect(again.body).toEqual(first.body)
      expect(again.headers.get('etag')).toBe(first.headers.get('etag'))
      expect((await server().client.users.get.query({ id: 1 })).version).toBe(1)
    })
  }
})
