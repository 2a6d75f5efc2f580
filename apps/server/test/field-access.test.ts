import type { Role } from '@resource/contract'
import { describe, expect, test } from 'vitest'
import { createDocument } from '../src/document.ts'
import { createCallers } from './callers.ts'
import { type Answer, startTestServer } from './harness.ts'
import { createUser } from './records.ts'

const ada = { name: 'Ada', email: 'ada@example.com' }
const bob = { name: 'Bob', email: 'bob@example.com' }
const password = 'correct horse'

// The statuses for each role that changes user 1, an admin, or creates a user (API rule U17).
const WRITES = [
  ['PATCH', '/api/users/1', { role: 'user' }, { reader: 403, writer: 403, admin: 200 }],
  ['PATCH', '/api/users/1/', { role: 'user' }, { reader: 403, writer: 403, admin: 200 }],
  ['PUT', '/users/1', { role: 'user' }, { reader: 403, writer: 403, admin: 200 }],
  ['PUT', '/api/users/1', { ...ada, role: 'user' }, { reader: 403, writer: 403, admin: 200 }],
  ['PUT', '/api/users/1/', { ...ada, role: 'user' }, { reader: 403, writer: 403, admin: 200 }],
  ['PATCH', '/api/users/1', { password }, { reader: 403, writer: 403, admin: 200 }],
  ['PATCH', '/api/users/1/', { password }, { reader: 403, writer: 403, admin: 200 }],
  ['PUT', '/users/1', { password }, { reader: 403, writer: 403, admin: 200 }],
  ['PATCH', '/api/users/1', { role: 'admin' }, { reader: 403, writer: 200, admin: 200 }],
  ['PUT', '/api/users/1', { ...ada, role: 'admin' }, { reader: 403, writer: 200, admin: 200 }],
  ['PUT', '/api/users/1/', ada, { reader: 403, writer: 200, admin: 200 }],
  ['POST', '/api/users', { ...bob, role: 'admin' }, { reader: 403, writer: 403, admin: 201 }],
  ['POST', '/users', { ...bob, role: 'admin' }, { reader: 403, writer: 403, admin: 201 }],
  ['POST', '/api/users/', { ...bob, role: 'admin' }, { reader: 403, writer: 403, admin: 201 }],
  ['POST', '/api/users/bulk', [{ ...bob, role: 'admin' }], { reader: 403, writer: 403, admin: 201 }],
  ['POST', '/api/users', { ...bob, role: 'user', password }, { reader: 403, writer: 201, admin: 201 }],
  ['POST', '/users', { ...bob, password }, { reader: 403, writer: 201, admin: 201 }],
  ['POST', '/api/users/bulk', [{ ...bob, role: 'user' }], { reader: 403, writer: 201, admin: 201 }],
] as const

describe('U17 once a key exists, only admins may change a role or a password or create an admin', () => {
  for (const [method, path, json, statuses] of WRITES) {
    test(`${method} ${path} ${JSON.stringify(json)} is a ${Object.values(statuses).join(', ')} for reader, writer, admin`, async () => {
      await using server = await startTestServer()
      const before = await createUser(server, { role: 'admin' })
      const callers = await createCallers(server)
      for (const role of ['reader', 'writer', 'admin'] satisfies Role[]) {
        const headers = { Authorization: callers[role] as string }
        const { status } = await server.request(method, path, { json, headers })
        expect([role, status]).toEqual([role, statuses[role]])
        if (status === 403) {
          // A refused request changes nothing.
          expect((await server.request('GET', '/users', { headers })).body).toEqual([before])
          expect((await server.request('GET', '/users/1', { headers })).headers.get('etag')).toMatch(
            /^"1-User\.[0-9a-f]{6}"$/,
          )
        } else if (method === 'POST') await server.request('DELETE', '/users/2', { headers })
      }
    })
  }

  test('a refusal names the field', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const headers = { Authorization: (await createCallers(server)).writer as string }
    const errorOf = async (answer: Promise<Answer>) => (await answer).body.error
    expect(await errorOf(server.request('PATCH', '/api/users/1', { json: { role: 'admin' }, headers }))).toBe(
      'role: changing it needs the role admin; yours is writer',
    )
    expect(await errorOf(server.request('PATCH', '/api/users/1', { json: { password }, headers }))).toBe(
      'password: changing it needs the role admin; yours is writer',
    )
    const json = [bob, { ...ada, email: 'eve@example.com', role: 'admin' }]
    expect(await errorOf(server.request('POST', '/api/users/bulk', { json, headers }))).toBe(
      '[1].role: admin needs the role admin; yours is writer',
    )
  })

  test('the idempotency key of an admin does not help a writer', async () => {
    await using server = await startTestServer()
    const callers = await createCallers(server)
    const send = (authorization: string | undefined) =>
      server.request('POST', '/users', {
        json: { ...bob, role: 'admin' },
        headers: { Authorization: authorization as string, 'Idempotency-Key': 'once' },
      })
    expect((await send(callers.admin)).status).toBe(201)
    expect((await send(callers.writer)).status).toBe(403)
  })

  test('the same holds over tRPC', async () => {
    await using server = await startTestServer()
    await createUser(server)
    const callers = await createCallers(server)
    server.logIn(callers.writer?.replace('Bearer ', ''))
    const { users } = server.client
    for (const call of [
      () => users.update.mutate({ id: 1, role: 'admin' }),
      () => users.update.mutate({ id: 1, password }),
      () => users.replace.mutate({ id: 1, ...ada, role: 'admin' }),
      () => users.create.mutate({ ...bob, role: 'admin' }),
      () => users.createMany.mutate({ users: [{ ...bob, role: 'admin' }] }),
    ]) {
      await expect(call()).rejects.toMatchObject({ data: { code: 'FORBIDDEN', httpStatus: 403 } })
    }
    expect(await users.replace.mutate({ id: 1, ...ada, name: 'Eve', role: 'user' })).toMatchObject({ version: 2 })
  })
})

test('U17 without keys everyone may change everything', async () => {
  await using server = await startTestServer()
  await createUser(server)
  expect((await server.request('PATCH', '/api/users/1', { json: { role: 'admin', password } })).status).toBe(200)
})

test('C51 from the response to the creation of the first key, anonymous requests are refused', async () => {
  await using server = await startTestServer()
  await server.request('GET', '/users')
  expect((await server.request('POST', '/api/keys', { json: { name: 'first', role: 'admin' } })).status).toBe(201)
  expect((await server.request('POST', '/api/keys', { json: { name: 'second', role: 'admin' } })).status).toBe(401)
})

test('the document lists the role that a change of each field requires', () => {
  const roles: string[] = []
  const walk = (node: unknown, path: string) => {
    if (typeof node !== 'object' || node === null) return
    for (const [key, value] of Object.entries(node)) {
      if (key === 'x-role' && /\.properties\.\w+$/.test(path)) roles.push(`${path}: ${value}`)
      if (key === 'x-value-roles') roles.push(`${path}: ${JSON.stringify(value)}`)
      walk(value, `${path}.${key}`)
    }
  }
  walk(createDocument().components?.schemas, '')
  const specified = roles.filter((role) => /^\.(?:Slash)?(?:Create|Replace|Update)?(?:User|Book|Item)[A-Zs]/.test(role))
  expect(specified.toSorted()).toEqual([
    '.CreateUserBody.properties.role: {"admin":"admin"}',
    '.ReplaceUserBody.properties.role: admin',
    '.SlashCreateUserBody.properties.role: {"admin":"admin"}',
    '.SlashReplaceUserBody.properties.role: admin',
    '.SlashUpdateUserBody.properties.password: admin',
    '.SlashUpdateUserBody.properties.role: admin',
    '.UpdateUserBody.properties.password: admin',
    '.UpdateUserBody.properties.role: admin',
    '.UserChange.properties.password: admin',
    '.UserChange.properties.role: admin',
    '.UserChanges.properties.role: admin',
    '.UserCreate.properties.role: {"admin":"admin"}',
  ])
})
