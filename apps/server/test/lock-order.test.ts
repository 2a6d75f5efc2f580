import { type PostgresServer, query, startPostgres } from '@resource/postgres-test'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startTestServer, type TestServer } from './harness.ts'

let postgres: PostgresServer
let server: TestServer

beforeAll(async () => {
  // A deadlock lasts until the statement timeout, which makes it a 503. No other wait lasts so long.
  postgres = await startPostgres({ deadlock_timeout: '10min' })
  server = await startTestServer({ DATABASE_URL: postgres.url, DATABASE_STATEMENT_TIMEOUT_MS: '60000' })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await query(postgres.url, 'TRUNCATE users RESTART IDENTITY')
  await createMany([1, 2, 3])
})

type Ids = number[]
const email = (id: number) => `user${id}@example.com`
const createMany = (ids: Ids) =>
  server.request('POST', '/api/users/bulk', { json: ids.map((id) => ({ name: `User ${id}`, email: email(id) })) })
const patch = (query: string, json: object[]) => server.request('PATCH', `/api/users/bulk${query}`, { json })
const updateById = (ids: Ids, age = 30) =>
  patch(
    '',
    ids.map((id) => ({ id, age })),
  )

const ways: [name: string, write: (ids: Ids) => Promise<{ status: number }>, status: number][] = [
  ['an update by id', (ids) => updateById(ids, 40), 200],
  [
    'a partial update',
    (ids) =>
      patch(
        '?partial=true',
        ids.map((id) => ({ id, age: 40 })),
      ),
    200,
  ],
  [
    'an update of e-mail addresses',
    (ids) =>
      patch(
        '',
        ids.map((id) => ({ id, email: `x${email(id)}` })),
      ),
    200,
  ],
  [
    'an update by e-mail address',
    (ids) =>
      patch(
        '?key=email',
        ids.map((id) => ({ email: email(id), age: 40 })),
      ),
    200,
  ],
  [
    'an upsert',
    (ids) =>
      patch(
        '?key=email&create=true',
        ids.map((id) => ({ email: email(id), name: 'Ada', age: 40 })),
      ),
    200,
  ],
  ['a deletion by ids', (ids) => server.request('DELETE', `/api/users?status=active&id_in=${ids}`), 200],
  [
    'a change by filter',
    () => server.request('PATCH', '/api/users?status=active', { json: { set: { role: 'user' }, add: { age: 1 } } }),
    200,
  ],
  ['a deletion by status', () => server.request('DELETE', '/api/users?status=active'), 200],
]

/** Runs writes while another transaction has run a statement; it is rolled back once two of them wait. */
async function whileHeld<T>(statement: string, writes: () => Promise<T>[]): Promise<T[]> {
  const { results } = await postgres.whileOpen(statement, async () => {
    const results = Promise.all(writes())
    const waiting = `SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
    await expect.poll(async () => (await query(postgres.url, waiting)).rows[0].count).toBe(2)
    return { results }
  })
  return results
}

describe.each(ways)('%s', (_, write, status) => {
  test('does not deadlock with an update of the same records in the opposite order', async () => {
    const held = 'SELECT FROM users WHERE id = 2 FOR UPDATE'
    const [one, other] = await whileHeld(held, () => [write([3, 2, 1]), updateById([1, 2, 3])])
    expect(one?.status).toBeOneOf([status, 412])
    expect(other?.status).toBeOneOf([200, 404])
  })
})

test.each([
  ['creates', createMany, [201, 409]],
  [
    'upserts',
    (ids: Ids) =>
      patch(
        '?key=email&create=true',
        ids.map((id) => ({ email: email(id), name: 'Ada' })),
      ),
    [200, 200],
  ],
])('two bulk %s of the same new users in opposite orders do not deadlock', async (_, write, statuses) => {
  const held = `INSERT INTO users (name, email, email_key, role, status, created_at, updated_at)
    VALUES ('', '', '${email(5)}', 'user', 'active', now(), now())`
  const both = await whileHeld(held, () => [write([4, 5, 6]), write([6, 5, 4])])
  expect(both.map((answer) => answer.status).sort()).toEqual(statuses)
})

test('two small writes by filter of one caller do not wait for each other to end', async () => {
  const write = (age: number) => server.request('PATCH', '/api/users?status=active', { json: { set: { age } } })
  const both = await whileHeld('SELECT FROM users WHERE id = 1 FOR UPDATE', () => [write(30), write(40)])
  expect(both.map(({ status }) => status)).toEqual([200, 200])
})

describe('of two reversals of a request in two processes, the second says that it is undone already', () => {
  const both = async (requestId: string | null, held: string) => {
    await using other = await startTestServer({ DATABASE_URL: postgres.url, DATABASE_STATEMENT_TIMEOUT_MS: '60000' })
    const undo = (process: TestServer) =>
      process.request('POST', '/api/reversals', { json: { request_id: requestId as string } })
    const answers = await whileHeld(held, () => [undo(server), undo(other)])
    const [undone, refused] = answers.sort((one, other) => one.status - other.status)
    expect([refused?.status, refused?.body.error.message]).toEqual([409, 'This request is undone already'])
    return undone
  }

  test('after it waited for the records of an update', async () => {
    const { headers } = await updateById([1, 2, 3])
    const undone = await both(headers.get('X-Request-Id'), 'SELECT FROM users WHERE id = 2 FOR UPDATE')
    expect(undone?.body).toMatchObject({ updated: 3 })
  })

  test('after it waited to restore deleted records', async () => {
    const { body } = await server.request('POST', '/items/bulk', { json: [{ name: 'Lamp', price: 1 }] })
    const { headers } = await server.request('DELETE', `/items/${body[0].id}`)
    const held = `INSERT INTO items (id, name, price, name_key) VALUES (${body[0].id}, '', 1, '')`
    expect((await both(headers.get('X-Request-Id'), held))?.body).toMatchObject({ restored: 1 })
  })
})

test('U3 a bulk create returns ids that ascend in the order of its rows, whatever the order of the addresses', async () => {
  const { body } = await createMany([9, 7, 8])
  expect(body).toMatchObject([
    { id: 4, name: 'User 9' },
    { id: 5, name: 'User 7' },
    { id: 6, name: 'User 8' },
  ])
})
