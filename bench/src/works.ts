import assert from 'node:assert/strict'
import type { Program } from './programs.ts'
import { item, userDetail, userSummary, wholeUser } from './records.ts'

export interface Ask {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  /** JSON. */
  body?: string
}

/** One kind of request, made again and again. */
export interface Work {
  name: string
  title: string
  /** How many are under way at a time. */
  connections: number
  status: number
  /** How many calls one request carries; 1 when absent. */
  calls?: number
  /** The work it is compared with, in whose rounds it has its turns. */
  beside?: string
  /** Its writes add rows, which are taken out again between rounds. */
  adds?: boolean
  isFor: (program: Program) => boolean
  /** Number `n` of its requests, the same for each program. */
  ask: (n: number, target: Target) => Ask
  /** What the answer's JSON must be; what only the program knows, such as a new id, is taken from `body`. */
  expect: (n: number, rows: number, body: unknown) => unknown
}

/** Who is asked. */
export interface Target {
  program: Program
  rows: number
  /** Leads to the last page of {@link walk}. */
  lastCursor?: string
}

const USERS_AT_ONCE = 1000
const CALLS_AT_ONCE = 10
const AT_A_TIME = 8

// Every id comes, none near the one before: 7919 is prime and divides no number of rows.
const scattered = (n: number, rows: number) => 1 + ((n * 7919) % rows)
const everybody = () => true
// A whole run has time for three kinds of work of the equipped peers.
const isBare = ({ peer }: Program) => peer !== 'equipped'
const speaksTrpc = (program: Program) => program.trpc && isBare(program)
const isOurs = ({ name }: Program) => name === 'ours'

const walk = '/api/users?sort=created_at_asc&limit=20'

const trpcUser = (id: number) => ({ result: { data: wholeUser(id) } })
const idsOf = (n: number, rows: number) =>
  Array.from({ length: CALLS_AT_ONCE }, (_, i) => scattered(n * CALLS_AT_ONCE + i, rows))
const batchPath = `/trpc/${Array.from({ length: CALLS_AT_ONCE }, () => 'users.get').join(',')}?batch=1&input=`

export const works: Work[] = [
  {
    name: 'get',
    title: 'get one user',
    connections: AT_A_TIME,
    status: 200,
    isFor: everybody,
    ask: (n, { rows }) => ({ method: 'GET', path: `/api/users/${scattered(n, rows)}` }),
    expect: (n, rows) => userDetail(scattered(n, rows)),
  },
  {
    name: 'list',
    title: 'list 20 filtered',
    connections: AT_A_TIME,
    status: 200,
    isFor: everybody,
    // One of the first five pages of the administrators, who are every tenth user.
    ask: (n) => ({ method: 'GET', path: `/api/users?role=admin&limit=20&page=${1 + (n % 5)}` }),
    expect: (n) => Array.from({ length: 20 }, (_, i) => userSummary(((n % 5) * 20 + i + 1) * 10)),
  },
  {
    name: 'create',
    title: 'create a book (durable)',
    connections: AT_A_TIME,
    status: 201,
    adds: true,
    isFor: everybody,
    ask: (n) => ({ method: 'POST', path: '/books', body: JSON.stringify(newBook(n)) }),
    expect: (n, rows, body) => ({ id: newId(body, rows), ...newBook(n) }),
  },
  {
    name: 'update',
    title: 'update an item (durable)',
    connections: AT_A_TIME,
    status: 200,
    isFor: isBare,
    ask: (n, { rows }) => ({
      method: 'PATCH',
      path: `/items/${scattered(n, rows)}`,
      body: JSON.stringify({ price: newPrice(n) }),
    }),
    expect: (n, rows) => ({ ...item(scattered(n, rows)), price: newPrice(n) }),
  },
  {
    name: 'bulk',
    title: 'bulk create 1,000 users',
    connections: 1,
    status: 201,
    adds: true,
    isFor: isBare,
    ask: (n, { program: { bulkInObject } }) => {
      const users = newUsers(n)
      return { method: 'POST', path: '/api/users/bulk', body: JSON.stringify(bulkInObject ? { users } : users) }
    },
    expect: (n, rows, body) =>
      newUsers(n).map(({ name, email, role }, i) => {
        const user = (body as unknown[])[i]
        return { id: newId(user, rows), name, email, role, created_at: recentTime(user) }
      }),
  },
  {
    name: 'trpc-get',
    title: 'tRPC get',
    connections: AT_A_TIME,
    status: 200,
    isFor: speaksTrpc,
    ask: (n, { rows }) => ({
      method: 'GET',
      path: `/trpc/users.get?input=${encodeURIComponent(JSON.stringify({ id: scattered(n, rows) }))}`,
    }),
    expect: (n, rows) => trpcUser(scattered(n, rows)),
  },
  {
    name: 'trpc-batch',
    title: 'tRPC batch of 10 (per call)',
    connections: AT_A_TIME,
    status: 200,
    calls: CALLS_AT_ONCE,
    isFor: speaksTrpc,
    ask: (n, { rows }) => {
      const input = { ...idsOf(n, rows).map((id) => ({ id })) }
      return { method: 'GET', path: batchPath + encodeURIComponent(JSON.stringify(input)) }
    },
    expect: (n, rows) => idsOf(n, rows).map(trpcUser),
  },
  {
    name: 'first-page',
    title: 'first page by cursor',
    connections: AT_A_TIME,
    status: 200,
    isFor: isOurs,
    ask: () => ({ method: 'GET', path: `${walk}&after=` }),
    expect: () => Array.from({ length: 20 }, (_, i) => userSummary(i + 1)),
  },
  {
    name: 'last-page',
    title: 'last page by cursor',
    beside: 'first-page',
    connections: AT_A_TIME,
    status: 200,
    isFor: isOurs,
    ask: (_n, { lastCursor }) => ({ method: 'GET', path: `${walk}&after=${lastCursor}` }),
    expect: (_n, rows) => Array.from({ length: 20 }, (_, i) => userSummary(rows - 19 + i)),
  },
]

/** The cursor before the last page of the walk, which the page before it gives. */
export async function findLastCursor(url: string, rows: number): Promise<string> {
  // The walk is by cursor, since a page by number ends at 100,000 rows.
  let after = ''
  let left = rows - 20
  while (left > 0) {
    const limit = Math.min(left, 1000)
    const input = JSON.stringify({ sort: 'created_at_asc', limit, after })
    const response = await fetch(`${url}/trpc/users.list?input=${encodeURIComponent(input)}`)
    const { result } = (await response.json()) as { result: { data: { next: string } } }
    after = result.data.next
    left -= limit
  }
  return encodeURIComponent(after)
}

function newBook(n: number) {
  return { title: `New book ${n}`, author: `Author ${n % 100}`, published_date: '2020-02-29' }
}

// Never what the item costs already.
function newPrice(n: number) {
  return 5000 + (n % 10_000) / 4
}

function newUsers(n: number) {
  return Array.from({ length: USERS_AT_ONCE }, (_, i) => ({
    name: `New user ${i}`,
    email: `new${n}.${i}@example.com`,
    role: i % 10 === 0 ? 'admin' : 'user',
  }))
}

function newId(body: unknown, rows: number): number {
  const { id } = body as { id: number }
  assert.ok(Number.isInteger(id) && id > rows, `the new id ${id} is none after ${rows}`)
  return id
}

function recentTime(body: unknown): string {
  const { created_at } = body as { created_at: string }
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000, `${created_at} is not now`)
  return created_at
}
