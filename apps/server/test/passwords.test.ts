import { verify } from '@node-rs/argon2'
import { describe, expect, test } from 'vitest'
import { shareTestServer, startTestServer, type TestServer } from './harness.ts'
import { createKey, createUser, openDatabase } from './records.ts'

const ada = { name: 'Ada', email: 'ada@example.com' }

async function storedHash(server: TestServer, id = 1): Promise<string | null> {
  await using database = await openDatabase(server)
  const user = await database.read.users.find({ id })
  if (user === undefined) throw new Error(`There is no user ${id}`)
  return user.password_hash
}

describe('U16 a password', () => {
  test('is optional', async () => {
    await using server = await startTestServer()
    await createUser(server)
    expect(await storedHash(server)).toBeNull()
  })

  for (const [what, password] of [
    ['1 character', 'x'],
    ['1 emoji', '😀'],
    ['one of the most common', '12345678'],
    ['8 emoji', '😀'.repeat(8)],
    ['1,024 bytes', 'a'.repeat(1024)],
    ['1,024 bytes in 512 characters', 'é'.repeat(512)],
    ['spaces, kept as they are', '  pass  word  '],
  ] as const) {
    test(`may be ${what}`, async () => {
      await using server = await startTestServer()
      expect((await server.request('POST', '/api/users', { json: { ...ada, password } })).status).toBe(201)
      expect(await verify((await storedHash(server)) ?? '', password)).toBe(true)
    })
  }

  test('is the same password in every Unicode form, in which its length does not count', async () => {
    await using server = await startTestServer()
    const password = 'é'.repeat(512).normalize('NFD')
    expect((await server.request('POST', '/api/users', { json: { ...ada, password } })).status).toBe(201)
    expect(await verify((await storedHash(server)) ?? '', 'é'.repeat(512))).toBe(true)
    expect((await server.request('PATCH', '/api/users/1', { json: { password: '\u212b' } })).status).toBe(200)
    expect(await verify((await storedHash(server)) ?? '', '\u00c5')).toBe(true)
  })

  describe('must not be', () => {
    const server = shareTestServer(createUser)

    const size = 'must be non-empty text of at most 1024 bytes'
    const characters = 'must be text without NUL characters and lone surrogates'
    for (const [what, password, message] of [
      ['empty', '', size],
      ['1,025 bytes', 'a'.repeat(1025), size],
      ['1,026 bytes in 513 characters', 'é'.repeat(513), size],
      ['with NUL', 'correct\0horse', characters],
      ['with a lone surrogate', 'correct horse\ud800', characters],
      ['a number', 123456789, `${size}, not a number`],
      ['null', null, `${size}, not null`],
    ] as const) {
      for (const [method, path, field] of [
        ['POST', '/api/users', 'password'],
        ['POST', '/users', 'password'],
        ['POST', '/api/users/', 'password'],
        ['POST', '/api/users/bulk', '[0].password'],
        ['PATCH', '/api/users/1', 'password'],
        ['PUT', '/users/1', 'password'],
      ] as const) {
        test(`${what}: ${method} ${path} is a 400 that names the field`, async () => {
          const user = { ...ada, email: 'eve@example.com', password }
          const { status, body } = await server().request(method, path, { json: path.endsWith('bulk') ? [user] : user })
          expect(status).toBe(400)
          expect(body).toEqual({ error: `${field}: ${message}` })
        })
      }
    }
  })

  for (const [method, path, field] of [
    ['POST', '/api/users', 'password'],
    ['POST', '/api/users/bulk', '[0].password'],
    ['PATCH', '/api/users/1', 'password'],
  ] as const) {
    test(`U17 has at least PASSWORD_MIN_LENGTH characters once a key exists: ${method} ${path}`, async () => {
      await using server = await startTestServer({ PASSWORD_MIN_LENGTH: '12' })
      await createUser(server)
      server.logIn((await createKey(server)).key)
      const send = (password: string) => {
        const user = { ...ada, email: 'eve@example.com', password }
        return server.request(method, path, { json: path.endsWith('bulk') ? [user] : user })
      }
      const refused = await send('12345678901')
      expect(refused.status).toBe(400)
      expect(refused.body.error.startsWith(`${field}: must be text of at least 12 characters`)).toBe(true)
      expect((await send('é'.repeat(11).normalize('NFD'))).status).toBe(400)
      expect((await send('horse stapl1')).status).toBe(method === 'POST' ? 201 : 200)
    })
  }

  test('is stored only as argon2id with 19 MiB, 2 passes and 1 lane', async () => {
    await using server = await startTestServer()
    const password = 'correct horse battery'
    await server.request('POST', '/api/users', { json: { ...ada, password } })
    await server.request('POST', '/api/users/bulk', { json: [{ ...ada, email: 'bob@example.com', password }] })
    await createUser(server, { email: 'eve@example.com' })
    await server.request('PATCH', '/api/users/3', { json: { password } })
    const hashes = [await storedHash(server, 1), await storedHash(server, 2), await storedHash(server, 3)]
    for (const hash of hashes) {
      expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22,}\$[\w+/]{43,}$/)
      expect(await verify(hash ?? '', password)).toBe(true)
    }
    expect(new Set(hashes).size).toBe(3)
  })

  test('U10, T4 stays unchanged on PUT in the main and trailing-slash APIs, whatever is sent', async () => {
    await using server = await startTestServer()
    await createUser(server, { password: 'correct horse' })
    const before = await storedHash(server)
    for (const path of ['/api/users/1', '/api/users/1/']) {
      const json = { ...ada, password: 'another password' }
      expect((await server.request('PUT', path, { json: { ...json, role: 'user' } })).status).toBe(200)
      expect(await storedHash(server)).toBe(before)
    }
  })

  test('stays unchanged on a PATCH of other fields and on a change of status', async () => {
    await using server = await startTestServer()
    await createUser(server, { password: 'correct horse' })
    const before = await storedHash(server)
    await server.request('PATCH', '/api/users/1', { json: { name: 'Eve' } })
    await server.request('PATCH', '/api/users/1/status', { json: { status: 'inactive' } })
    expect(await storedHash(server)).toBe(before)
  })

  test('is never returned by any API', async () => {
    await using server = await startTestServer()
    const password = 'correct horse'
    const answers = [
      await server.request('POST', '/api/users', { json: { ...ada, password } }),
      await server.request('POST', '/users', { json: { ...ada, email: 'b@example.com', password } }),
      await server.request('POST', '/api/users/', { json: { ...ada, email: 'c@example.com', password } }),
      await server.request('POST', '/api/users/bulk', { json: [{ ...ada, email: 'd@example.com', password }] }),
      await server.request('PATCH', '/api/users/1', { json: { password } }),
      await server.request('PATCH', '/api/users/1/', { json: { password } }),
      await server.request('PUT', '/users/1', { json: { password } }),
      await server.request('PUT', '/api/users/1', { json: { ...ada, role: 'user', password } }),
      await server.request('PATCH', '/api/users/1/status', { json: { status: 'active' } }),
      ...(await Promise.all(
        ['/api/users', '/users', '/api/users/', '/api/users/1', '/users/1', '/api/users/1/'].flatMap((path) => [
          server.request('GET', path),
          server.request('GET', `${path}?envelope=true`),
        ]),
      )),
    ]
    const { users } = await server.client.users.list.query({})
    const record = await server.client.users.get.query({ id: 1 })
    for (const { status } of answers) expect(status).toBeLessThan(300)
    expect(JSON.stringify([answers.map(({ body }) => body), users, record])).not.toMatch(/password|correct horse|argon/)
  })

  test('is never echoed in an error and never logged', async () => {
    await using server = await startTestServer()
    await createUser(server)
    server.logIn((await createKey(server)).key)
    const headers = { 'Content-Type': 'application/json' }
    const answers = [
      await server.request('POST', '/users', { json: { ...ada, password: 'xyzzy' } }),
      await server.request('POST', '/users', { json: { ...ada, password: 'xyzzy xyzzy' } }),
      await server.request('POST', '/users', { json: { password: 'xyzzy xyzzy', email: 5 } }),
      await server.request('POST', '/users', { raw: '{"password":"xyzzy xyzzy",}', headers }),
      await server.request('POST', '/users', { raw: '"xyzzy xyzzy"', headers }),
      await server.request('POST', '/users', { raw: '{"password":xyzzy}', headers }),
      await server.request('POST', '/users?password=xyzzy', { json: ada }),
      await server.request('PATCH', '/api/users/1', { json: { password: ['xyzzy'] } }),
      await server.request('POST', '/users?envelope=true', { json: { ...ada, password: 'xyzzy' } }),
      await server.request('POST', '/trpc/users.create', { json: { ...ada, password: 'xyzzy' } }),
      await server.request('POST', '/trpc/users.create', { raw: '{"password":xyzzy}', headers }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([400, 409, 400, 400, 400, 400, 400, 400, 400, 400, 400])
    for (const { body } of answers) expect(JSON.stringify(body)).not.toContain('xyzzy')
    await expect.poll(() => server.log.filter((line) => line.includes('"msg":"request"')).length).toBe(13)
    expect(server.log.join('')).not.toContain('xyzzy')
  })

  test('U21 is not sortable', async () => {
    await using server = await startTestServer()
    for (const sort of ['password_asc', 'password_hash_desc']) {
      expect((await server.request('GET', `/users?sort=${sort}`)).status).toBe(400)
    }
  })
})
