import { describe, expect, test } from 'vitest'
import { createCallers } from './callers.ts'
import { exampleOf, operationIds } from './examples.ts'
import { startTestServer } from './harness.ts'
import { createUser } from './records.ts'

const REFUSAL = 'changing or deleting a user whose role is admin needs the role admin; yours is writer'
const email = 'ada@example.com'

/** The requests that change or delete user 1, an admin, without changing a role or a password. */
const WRITES = [
  ['PUT', '/api/users/1', { name: 'Eve', email, role: 'admin' }],
  ['PUT', '/api/users/1/', { name: 'Eve', email }],
  ['PUT', '/users/1', { status: 'inactive' }],
  ['PATCH', '/api/users/1', { email: 'eve@example.com' }],
  ['PATCH', '/api/users/1/', { age: 30 }],
  ['PATCH', '/api/users/1/status', { status: 'inactive' }],
  ['DELETE', '/api/users/1', undefined],
  ['DELETE', '/api/users/1/', undefined],
  ['DELETE', '/users/1', undefined],
  ['PATCH', '/api/users/bulk', [{ id: 1, status: 'inactive' }]],
  ['PATCH', '/api/users/bulk?key=email', [{ email, status: 'inactive' }]],
  ['PATCH', '/api/users/bulk?key=email&create=true', [{ email, name: 'Eve' }]],
  ['PATCH', '/api/users?id_gte=1', { set: { age: 4 } }],
  ['PATCH', '/api/users?role=admin', { add: { age: 4 }, set: { status: 'inactive' } }],
  ['DELETE', '/api/users?status=active&id_in=1', undefined],
] as const

async function startWithAdmin() {
  const server = await startTestServer()
  const before = await createUser(server, { role: 'admin' })
  const callers = await createCallers(server)
  const as = (role: 'writer' | 'admin') => ({ Authorization: callers[role] as string })
  const stored = async () => (await server.request('GET', '/users', { headers: as('admin') })).body
  return { server, before, as, stored, [Symbol.asyncDispose]: server.stop }
}

describe('U17 once a key exists, only admins may change or delete a user whose role is admin', () => {
  for (const [method, path, json] of WRITES) {
    test(`${method} ${path} ${JSON.stringify(json)} is refused for a writer`, async () => {
      await using started = await startWithAdmin()
      const { server, before, as, stored } = started
      for (const headers of [as('writer'), { ...as('writer'), 'Idempotency-Key': 'once' }]) {
        const { status, body } = await server.request(method, path, { json, headers })
        expect([status, body.error.replace(/^(\[0\]|User 1): /, '')]).toEqual([403, REFUSAL])
        expect(await stored()).toEqual([before])
      }
      expect((await server.request(method, path, { json, headers: as('admin') })).status).toBeLessThan(300)
    })
  }

  test('with partial=true the refusal of a row names no field', async () => {
    await using started = await startWithAdmin()
    const { server, as } = started
    const headers = as('writer')
    const json = [{ id: 1, status: 'inactive' }]
    const rows = await server.request('PATCH', '/api/users/bulk?partial=true', { json, headers })
    expect(rows.body).toEqual([{ status: 403, error: REFUSAL }])
    const problem = { ...headers, Accept: 'application/json, application/problem+json' }
    const { body } = await server.request('DELETE', '/api/users/1', { headers: problem })
    expect([body.status, body.detail, body.fields]).toEqual([403, REFUSAL, []])
  })

  test('the requests include every operation that changes or deletes a named user', () => {
    const tested = new Set(WRITES.map(([method, path]) => `${method} ${path.replace(/\?.*/, '')}`))
    const named = operationIds.map(exampleOf).filter(({ method, path }) => {
      return method !== 'GET' && /^(\/api)?\/users\/(1|bulk)/.test(path)
    })
    const missing = named.map(({ method, path }) => `${method} ${path}`).filter((one) => !tested.has(one))
    // A creation names no user.
    expect(missing.toSorted()).toEqual(['POST /api/users/bulk'])
  })

  test('the same holds over tRPC', async () => {
    await using started = await startWithAdmin()
    const { server, before, as, stored } = started
    server.logIn(as('writer').Authorization.slice('Bearer '.length))
    const { users } = server.client
    for (const call of [
      () => users.update.mutate({ id: 1, email: 'eve@example.com' }),
      () => users.replace.mutate({ id: 1, name: 'Eve', email, role: 'admin' }),
      () => users.setStatus.mutate({ id: 1, status: 'inactive' }),
      () => users.delete.mutate({ id: 1 }),
      () => users.updateMany.mutate({ users: [{ id: 1, age: 4 }] }),
      () => users.updateWhere.mutate({ id_in: [1], changes: { set: { age: 4 } } }),
      () => users.deleteWhere.mutate({ id_in: [1] }),
    ]) {
      await expect(call()).rejects.toMatchObject({ data: { code: 'FORBIDDEN', httpStatus: 403 } })
    }
    expect(await stored()).toEqual([before])
  })

  test('with partial=true a writer changes and deletes the other rows', async () => {
    await using started = await startWithAdmin()
    const { server, before, as, stored } = started
    const headers = as('writer')
    for (const name of ['bob', 'cy']) {
      await server.request('POST', '/users', { json: { name, email: `${name}@example.com` }, headers })
    }
    const json = [
      { id: 1, age: 4 },
      { id: 2, age: 5 },
      { email, name: 'Eve' },
    ]
    const changed = await server.request('PATCH', '/api/users/bulk?partial=true&create=true', { json, headers })
    expect(changed.body).toMatchObject([{ status: 403, error: REFUSAL }, { status: 200 }, { status: 409 }])
    const refused = await server.request('DELETE', '/api/users?status=active&id_in=1,3', { headers })
    expect([refused.status, refused.body.error]).toEqual([403, `User 1: ${REFUSAL}`])
    const deleted = await server.request('DELETE', '/api/users?status=active&id_in=3', { headers })
    expect(deleted.body).toEqual({ message: '1 active user removed' })
    expect(await stored()).toMatchObject([before, { id: 2, age: 5 }])
  })

  test('a writer may send an admin back unchanged', async () => {
    await using started = await startWithAdmin()
    const { server, before, as, stored } = started
    const { status } = await server.request('PUT', '/users/1', { json: before, headers: as('writer') })
    expect([status, await stored()]).toEqual([200, [before]])
  })

  test('no write of a writer follows the one that makes the user an admin', async () => {
    await using started = await startWithAdmin()
    const { server, as } = started
    const ids: number[] = []
    for (let n = 0; n < 30; n++) {
      const json = { name: 'Bob', email: `bob${n}@example.com` }
      ids.push((await server.request('POST', '/users', { json, headers: as('admin') })).body.id)
    }
    const send = (role: 'writer' | 'admin', method: string, path: string, json?: object) =>
      server.request(method, path, { ...(json && { json }), headers: as(role) })
    await Promise.all(
      ids.flatMap((id) => [
        send('writer', 'PATCH', `/api/users/${id}`, { name: 'Eve' }),
        send('admin', 'PATCH', `/api/users/${id}`, { role: 'admin' }),
        send('writer', 'PATCH', '/api/users/bulk', [{ id, age: 4 }]),
        ...(id % 2 === 0 ? [send('writer', 'DELETE', `/users/${id}`)] : []),
      ]),
    )
    const { body: entries } = await server.request('GET', '/api/audit?resource=users&limit=1000', {
      headers: as('admin'),
    })
    const late = entries.filter(({ before }: { before: { role?: string } | null }) => before?.role === 'admin')
    expect(late).toEqual([])
  })
})
