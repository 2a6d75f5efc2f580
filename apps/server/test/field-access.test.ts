import type { Role } from '@resource/contract'
import { describe, expect, test } from 'vitest'
import { createDocument } from '../src/document.ts'
import { createCallers } from './callers.ts'
import { type Answer, startTestServer } from './harness.ts'
import { createUser } from './records.ts'

const ada = { name: 'Ada', email: 'ada@example.com' }
const bob = { name: 'Bob', email: 'bob@example.com' }
const password = 'correct horse'

// What each role may make of user 1, an admin, or of a new user; decisions, "Access".
const WRITES = [
  ['PATCH', '/api/users/1', { role: 'user' }, { reader: 403, writer: 403, admin: 200 }],
  ['PATCH', '/api/users/1/', { role: 'user' }, { reader: 403, writer: 403, admin: 200 }],
  ['PUT', '/users/1', { role: 'user' }, { reader: 403, writer: 403, admin: 200 }],
  ['PUT', '/api/users/1', { ...ada, role: 'user' }, { reader: 403, writer: 403, admin: 200 }],
  ['PUT', '/api/users/1/', { ...ada, role: 'user' }, { reader: 403, writer: 403, admin: 200 }],
  ['PATCH', '/api/users/1', { password }, { reader: 403, writer: 403, admin: 200 }],
  ['PATCH', '/api/users/1/', { password }, { reader: 403, writer: 403, admin: 200 }],
  ['PUT', '/users/1', { password }, { reader: 403, writer: 403, admin: 200 }],
  ['PATCH', '/api/users/1', { role: 'admin', name: 'Eve' }, { reader: 403, writer: 200, admin: 200 }],
  ['PUT', '/api/users/1', { ...ada, name: 'Eve', role: 'admin' }, { reader: 403, writer: 200, admin: 200 }],
  ['PUT', '/api/users/1/', { ...ada, name: 'Eve' }, { reader: 403, writer: 200, admin: 200 }],
  ['PUT', '/users/1', { age: 3, status: 'inactive' }, { reader: 403, writer: 200, admin: 200 }],
  ['POST', '/api/users', { ...bob, role: 'admin' }, { reader: 403, writer: 403, admin: 201 }],
  ['POST', '/users', { ...bob, role: 'admin' }, { reader: 403, writer: 403, admin: 201 }],
  ['POST', '/api/users/', { ...bob, role: 'admin' }, { reader: 403, writer: 403, admin: 201 }],
  ['POST', '/api/users/bulk', [{ ...bob, role: 'admin' }], { reader: 403, writer: 403, admin: 201 }],
  ['POST', '/api/users', { ...bob, role: 'user', password }, { reader: 403, writer: 201, admin: 201 }],
  ['POST', '/users', { ...bob, password }, { reader: 403, writer: 201, admin: 201 }],
  ['POST', '/api/users/bulk', [{ ...bob, role: 'user' }], { reader: 403, writer: 201, admin: 201 }],
] as const

describe('once there are keys, the role admin is needed to change a role or a password, and to create an admin', () => {
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
          // Who was refused has changed nothing.
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

  test('an admin’s idempotency key gives a writer nothing', async () => {
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

  test('over tRPC too', async () => {
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

test('without keys everyone may change everything', async () => {
  await using server = await startTestServer()
  await createUser(server)
  expect((await server.request('PATCH', '/api/users/1', { json: { role: 'admin', password } })).status).toBe(200)
})

test('from the answer to the first key on, nobody comes in without one', async () => {
  await using server = await startTestServer()
  await server.request('GET', '/users')
  expect((await server.request('POST', '/api/keys', { json: { name: 'first', role: 'admin' } })).status).toBe(201)
  expect((await server.request('POST', '/api/keys', { json: { name: 'second', role: 'admin' } })).status).toBe(401)
})

test('the document says of each field which role it takes to change it', () => {
  const said: string[] = []
  const walk = (node: unknown, path: string) => {
    if (typeof node !== 'object' || node === null) return
    for (const [key, value] of Object.entries(node)) {
      if (key === 'x-role' && /\.properties\.\w+$/.test(path)) said.push(`${path}: ${value}`)
      if (key === 'x-value-roles') said.push(`${path}: ${JSON.stringify(value)}`)
      walk(value, `${path}.${key}`)
    }
  }
  walk(createDocument().components?.schemas, '')
  expect(said.toSorted()).toEqual([
    '.CreateUserAtSlashBody.properties.role: {"admin":"admin"}',
    '.CreateUserBody.properties.role: {"admin":"admin"}',
    '.NewUser.properties.role: {"admin":"admin"}',
    '.ReplaceUserAtSlashBody.properties.role: admin',
    '.ReplaceUserBody.properties.role: admin',
    '.UpdateUserAtSlashBody.properties.password: admin',
    '.UpdateUserAtSlashBody.properties.role: admin',
    '.UpdateUserBody.properties.password: admin',
    '.UpdateUserBody.properties.role: admin',
  ])
})
