import assert from 'node:assert/strict'
import type { Copy } from './engines/engine.ts'
import { type RequestSpec, type Target, USERS_PER_BULK, type Workload, workloads } from './workloads.ts'

const TIMES = 5

interface InvalidRequest extends RequestSpec {
  status: number
}

// Every program must reject these, so that none is faster because it validates less.
function invalidRequests({ program, rows }: Target): InvalidRequest[] {
  const post = (path: string, body: unknown, status = 400): InvalidRequest => ({
    method: 'POST',
    path,
    body: text(body),
    status,
  })
  const get = (path: string, status = 400): InvalidRequest => ({ method: 'GET', path, status })
  const patch = (id: number | string, body: unknown, status = 400): InvalidRequest => ({
    method: 'PATCH',
    path: `/items/${id}`,
    body: text(body),
    status,
  })
  const bulk = (users: unknown[], status = 400) =>
    post('/api/users/bulk', program.bulkInObject ? { users } : users, status)
  const text = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body))
  const book = { title: 'T', author: 'A', published_date: '2020-02-29' }
  const user = { name: 'N', email: 'n@example.com' }
  return [
    get('/api/users/x'),
    get(`/api/users/${rows + 1_000_000_000}`, 404),
    get('/api/users?age=151'),
    get('/api/users?limit=0'),
    get('/api/users?sort=password_asc'),
    get('/api/users?unknown=1'),
    get('/api/users?page=1&page=2'),
    post('/books', '{'),
    post('/books', { ...book, title: undefined }),
    post('/books', { ...book, title: '  ' }),
    post('/books', { ...book, author: 'a'.repeat(201) }),
    post('/books', { ...book, author: 'a\0' }),
    post('/books', { ...book, published_date: '2021-02-29' }),
    patch(1, { price: -1 }),
    patch(1, { name: '' }),
    patch(1, { category: 'c'.repeat(101) }),
    patch(rows + 1_000_000_000, { price: 1 }, 404),
    ...(program.convertsBodies ? [] : [patch(1, { price: '30' })]),
    bulk([]),
    bulk(Array.from({ length: 1001 }, (_, i) => ({ ...user, email: `n${i}@example.com` }))),
    bulk([user, { ...user, email: 'n at example.com' }]),
    bulk([{ ...user, password: '' }]),
    bulk([{ ...user, role: 'boss' }]),
    bulk([user, { ...user, email: 'USER1@example.com' }], 409),
  ]
}

/**
 * Checks that a program returns the expected response to each workload and rejects invalid requests.
 *
 * @returns the number of workload requests sent; the next request must use a higher number
 * @throws Error that names the request with an unexpected response
 */
export async function checkAnswers(url: string, target: Target, chosen: Workload[]): Promise<number> {
  let n = 0
  for (const workload of chosen) {
    for (const end = n + TIMES; n < end; n++) {
      const request = workload.request(n, target)
      await compare(url, request, workload.status, (body) =>
        assert.deepEqual(body, workload.expect(n, target.rows, body)),
      )
    }
  }
  for (const { status, ...request } of invalidRequests(target)) await compare(url, request, status, () => {})
  return n
}

/**
 * Checks after {@link checkAnswers} that the program has stored the same rows as every other program: those of the requests with
 * an expected response, complete with the columns that no response contains, and no others.
 */
export async function checkRows({ query }: Copy, { rows }: Target, chosen: Workload[]): Promise<void> {
  const times = (workload: string) => (chosen.some(({ name }) => name === workload) ? TIMES : 0)
  for (const [table, which, isComplete, expected] of [
    [
      'books',
      `id > ${rows}`,
      'title_key = lower(title) AND author_key = lower(author) AND version = 1',
      times('create'),
    ],
    ['items', 'version > 1', 'name_key = lower(name) AND version = 2', times('update')],
    [
      'users',
      `id > ${rows}`,
      `name_key = lower(name) AND email_key = lower(email) AND status = 'active' AND age IS NULL AND password_hash IS NULL
         AND version = 1 AND updated_at = created_at`,
      times('bulk') * USERS_PER_BULK,
    ],
  ] as const) {
    const count = (rows: string) => `CAST(count(${rows}) AS INTEGER)`
    const [stored] = await query(
      `SELECT ${count('*')} AS stored, ${count(`CASE WHEN ${isComplete} THEN 1 END`)} AS complete FROM ${table} WHERE ${which}`,
    )
    assert.deepEqual({ ...stored }, { stored: expected, complete: expected }, `the rows in ${table}`)
  }
}

async function compare(
  url: string,
  { method, path, body }: RequestSpec,
  status: number,
  check: (body: unknown) => void,
) {
  const response = await fetch(url + path, {
    method,
    ...(body !== undefined && { body, headers: { 'Content-Type': 'application/json' } }),
  })
  const answer = await response.text()
  try {
    assert.equal(response.status, status)
    if (status < 400) check(JSON.parse(answer))
  } catch (error) {
    const request = `${method} ${path} ${body?.slice(0, 100) ?? ''}`
    throw new Error(`${request}: ${(error as Error).message}\nresponse: ${response.status} ${answer.slice(0, 300)}`)
  }
}

/** The named workloads that the program supports. */
export function workloadsOf(target: Target, names: string[]): Workload[] {
  return workloads.filter(({ name, appliesTo }) => names.includes(name) && appliesTo(target.program))
}
