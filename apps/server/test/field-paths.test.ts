import { createClient } from '@resource/client'
import { describe, expect, test } from 'vitest'
import { createCallers } from './callers.ts'
import { shareTestServer } from './harness.ts'
import { createUser } from './records.ts'

const ada = { name: 'Ada', email: 'ada@example.com' }
const bob = { name: 'Bob', email: 'bob@example.com' }
const cid = { name: 'Cid', email: 'cid@example.com' }

// Each layer refuses the third user: its path in the body of POST /api/users/bulk, and the message.
const REFUSALS = [
  ['validation', { ...cid, age: 'old' }, 400, '[2].age', 'must be a whole number from 0 to 150, not text'],
  ['a rule', { ...cid, password: 'short' }, 400, '[2].password', 'must be text of at least 8 characters'],
  ['the store', { ...cid, email: 'Taken@example.com' }, 409, '[2].email', 'already in use by another user'],
  ['access', { ...cid, role: 'admin' }, 403, '[2].role', 'admin needs the role admin; yours is writer'],
] as const

describe('a field error has the path that the caller sent, whichever layer refuses it', () => {
  let headers: Record<string, string>
  const server = shareTestServer(async (server) => {
    await createUser(server, { email: 'taken@example.com' })
    headers = { Authorization: (await createCallers(server)).writer as string }
  })

  const callTrpc = async (path: string, body: unknown, accept = 'application/json') => {
    const response = await fetch(`${server().url}/trpc/${path}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json', 'trpc-accept': accept },
      body: JSON.stringify(body),
    })
    return response.text()
  }

  for (const [layer, third, status, field, message] of REFUSALS) {
    test(`C26, C30, C34 ${layer} over REST`, async () => {
      const send = (path: string) => server().request('POST', path, { json: [ada, bob, third], headers })
      const refused = await send('/api/users/bulk')
      expect([refused.status, refused.body]).toEqual([status, { error: `${field}: ${message}` }])
      expect((await send('/api/users/bulk?envelope=true')).body.error).toEqual({
        code: status,
        message: `${field}: ${message}`,
        details: `${field} ${message}`,
        ...(status === 409 && { reason: 'taken' }),
        fields: [{ field, message }],
      })
      const problem = await server().request('POST', '/api/users/bulk', {
        json: [ada, bob, third],
        headers: { ...headers, Accept: 'application/json, application/problem+json' },
      })
      expect(problem.headers.get('content-type')).toBe('application/problem+json')
      expect(problem.body).toEqual({
        type: 'about:blank',
        status,
        code: expect.stringMatching(/^[a-z_]+$/),
        detail: `${field}: ${message}`,
        fields: [{ field, message }],
      })
    })

    test(`${layer} over tRPC: in a call, a batch and a streamed batch`, async () => {
      const input = { users: [ada, bob, third] }
      const error = {
        message: `users${field}: ${message}`,
        data: { httpStatus: status, fields: [{ field: `users${field}`, message }] },
      }
      expect(JSON.parse(await callTrpc('users.createMany', input))).toMatchObject({ error })
      const paths = 'users.createMany,users.createMany?batch=1'
      const batch = JSON.parse(await callTrpc(paths, { 0: input, 1: input }))
      expect(batch).toMatchObject([{ error }, { error }])
      const streamed = await callTrpc(paths, { 0: input, 1: input }, 'application/jsonl')
      expect(streamed.split(JSON.stringify(error.message))).toHaveLength(3)
      expect(streamed.split(`"fields":${JSON.stringify(error.data.fields)}`)).toHaveLength(3)
    })
  }

  test('C31 several invalid fields are in one message, over REST and tRPC', async () => {
    const users = [{ name: 'Ada' }, bob, { ...cid, age: 'old' }]
    const refused = await server().request('POST', '/api/users/bulk', { json: users, headers })
    expect([refused.status, refused.body]).toEqual([
      400,
      { error: 'Missing required fields: [0].email; [2].age: must be a whole number from 0 to 150, not text' },
    ])
    expect(JSON.parse(await callTrpc('users.createMany', { users })).error).toMatchObject({
      message: 'Missing required fields: users[0].email; users[2].age: must be a whole number from 0 to 150, not text',
      data: {
        fields: [
          { field: 'users[0].email', message: 'is required' },
          { field: 'users[2].age', message: 'must be a whole number from 0 to 150, not text' },
        ],
      },
    })
  })

  test('the typed client groups them by record of a list', async () => {
    const client = createClient({ baseUrl: server().url, headers })
    const users = [{ name: 'Ada' }, bob, { ...cid, age: 'old', status: 'gone' }]
    const error = await client.users.createMany.mutate({ users } as never).catch((error) => error)
    expect([...error.faultsIn('users')]).toEqual([
      [0, 'email: is required'],
      [2, 'status: must be active or inactive; age: must be a whole number from 0 to 150, not text'],
    ])
    expect(error.faultsIn('user').size).toBe(0)
    const none = await client.users.createMany.mutate({ users: [] }).catch((error) => error)
    expect([none.fields[0].field, none.faultsIn('users').size]).toEqual(['users', 0])
  })

  test('for a single record the path is the name of the field', async () => {
    const message = 'email: already in use by another user'
    const json = { ...cid, email: 'Taken@example.com' }
    expect((await server().request('POST', '/api/users', { json, headers })).body).toEqual({ error: message })
    expect(JSON.parse(await callTrpc('users.create', json)).error.message).toBe(message)
  })
})
