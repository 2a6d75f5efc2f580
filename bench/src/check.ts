import assert from 'node:assert/strict'
import { type Ask, type Target, type Work, works } from './works.ts'

const TIMES = 5

interface Refusal extends Ask {
  status: number
}

// What every program must refuse, so that none is fast by looking less closely.
function refusals({ program, rows }: Target): Refusal[] {
  const post = (path: string, body: unknown, status = 400): Refusal => ({
    method: 'POST',
    path,
    body: text(body),
    status,
  })
  const get = (path: string, status = 400): Refusal => ({ method: 'GET', path, status })
  const patch = (id: number | string, body: unknown, status = 400): Refusal => ({
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
 * Sees that a program answers each kind of work right, and refuses what is wrong.
 *
 * @returns how many requests were made whose numbers are used up
 * @throws Error that names the request whose answer is wrong
 */
export async function checkAnswers(url: string, target: Target, chosen: Work[]): Promise<number> {
  let n = 0
  for (const work of chosen) {
    for (const end = n + TIMES; n < end; n++) {
      const ask = work.ask(n, target)
      await compare(url, ask, work.status, (body) => assert.deepEqual(body, work.expect(n, target.rows, body)))
    }
  }
  for (const { status, ...ask } of refusals(target)) await compare(url, ask, status, () => {})
  return n
}

async function compare(url: string, { method, path, body }: Ask, status: number, look: (body: unknown) => void) {
  const response = await fetch(url + path, {
    method,
    ...(body !== undefined && { body, headers: { 'Content-Type': 'application/json' } }),
  })
  const answer = await response.text()
  try {
    assert.equal(response.status, status)
    if (status < 400) look(JSON.parse(answer))
  } catch (error) {
    const asked = `${method} ${path} ${body?.slice(0, 100) ?? ''}`
    throw new Error(`${asked}: ${(error as Error).message}\nanswered ${response.status} ${answer.slice(0, 300)}`)
  }
}

/** The works a program can do, of those asked for. */
export function worksOf(target: Target, names: string[]): Work[] {
  return works.filter(({ name, isFor }) => names.includes(name) && isFor(target.program))
}
