import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'

test('smoke', async () => {
  await using server = await startTestServer()
  expect((await server.request('POST', '/api/users', { json: { name: 'A', email: 'a@b.co' } })).status).toBe(201)
  expect((await server.request('GET', '/api/users/1')).body).toMatchObject({ id: 1 })
  expect((await server.request('GET', '/users/?count=true')).body).toMatchObject([{ id: 1 }])
  expect((await server.request('PATCH', '/users/')).status).toBe(405)
  expect((await server.request('DELETE', '/books/1')).status).toBe(404)
  expect((await server.client.users.list.query({})).users[0]?.version).toBe(1)
})
