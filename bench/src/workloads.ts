import assert from 'node:assert/strict'
import type { Program } from './programs.ts'
import { fullUser, item, userDetail, userSummary } from './records.ts'

export interface RequestSpec {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  /** JSON. */
  body?: string
}

/** A kind of request that the bench repeats. */
export interface Workload {
  name: string
  title: string
  /** Number of concurrent requests. */
  connections: number
  status: number
  /** Calls per request, default 1. */
  calls?: number
  /** The workload to compare with; both run in the same group of intervals. */
  pairedWith?: string
  /** Whether it inserts rows, which are deleted again between rounds. */
  insertsRows?: boolean
  appliesTo: (program: Program) => boolean
  /** Request number `n`, the same for each program. */
  request: (n: number, target: Target) => RequestSpec
  /** The expected JSON response. Values that the program generates, such as new ids, come from `body`. */
  expect: (n: number, rows: number, body: unknown) => unknown
}

/** A program and its dataset. */
export interface Target {
  program: Program
  rows: number
  /** Cursor of the last page of {@link pagesPath}. */
  lastCursor?: string
}

export const USERS_PER_BULK = 1000
const CALLS_PER_BATCH = 10
const CONCURRENCY = 8

// Covers every id, with consecutive ids far apart: 7919 is prime and divides no number of rows.
const scattered = (n: number, rows: number) => 1 + ((n * 7919) % rows)
const allPrograms = () => true
// Equipped peers run only three workloads, to limit the time of a full run.
const isBare = ({ peer }: Program) => peer !== 'equipped'
const supportsTrpc = (program: Program) => program.trpc && isBare(program)
const isOurs = ({ name }: Program) => name === 'ours'

const pagesPath = '/api/users?sort=created_at_asc&limit=20'

const trpcUser = (id: number) => ({ result: { data: fullUser(id) } })
const idsOf = (n: number, rows: number) =>
  Array.from({ length: CALLS_PER_BATCH }, (_, i) => scattered(n * CALLS_PER_BATCH + i, rows))
const batchPath = `/trpc/${Array.from({ length: CALLS_PER_BATCH }, () => 'users.get').join(',')}?batch=1&input=`

export const workloads: Workload[] = [
  {
    name: 'get',
    title: 'get one user',
    connections: CONCURRENCY,
    status: 200,
    appliesTo: allPrograms,
    request: (n, { rows }) => ({ method: 'GET', path: `/api/users/${scattered(n, rows)}` }),
    expect: (n, rows) => userDetail(scattered(n, rows)),
  },
  {
    name: 'list',
    title: 'list 20 filtered',
    connections: CONCURRENCY,
    status: 200,
    appliesTo: allPrograms,
    // One of the first five pages of administrators; every tenth user is one.
    request: (n) => ({ method: 'GET', path: `/api/users?role=admin&limit=20&page=${1 + (n % 5)}` }),
    expect: (n) => Array.from({ length: 20 }, (_, i) => userSummary(((n % 5) * 20 + i + 1) * 10)),
  },
  {
    name: 'create',
    title: 'create a book (durable)',
    connections: CONCURRENCY,
    status: 201,
    insertsRows: true,
    appliesTo: allPrograms,
    request: (n) => ({ method: 'POST', path: '/books', body: JSON.stringify(newBook(n)) }),
    expect: (n, rows, body) => ({ id: newId(body, rows), ...newBook(n) }),
  },
  {
    name: 'update',
    title: 'update an item (durable)',
    connections: CONCURRENCY,
    status: 200,
    appliesTo: isBare,
    request: (n, { rows }) => ({
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
    insertsRows: true,
    appliesTo: isBare,
    request: (n, { program: { bulkInObject } }) => {
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
    connections: CONCURRENCY,
    status: 200,
    appliesTo: supportsTrpc,
    request: (n, { rows }) => ({
      method: 'GET',
      path: `/trpc/users.get?input=${encodeURIComponent(JSON.stringify({ id: scattered(n, rows) }))}`,
    }),
    expect: (n, rows) => trpcUser(scattered(n, rows)),
  },
  {
    name: 'trpc-batch',
    title: 'tRPC batch of 10 (per call)',
    connections: CONCURRENCY,
    status: 200,
    calls: CALLS_PER_BATCH,
    appliesTo: supportsTrpc,
    request: (n, { rows }) => {
      const input = { ...idsOf(n, rows).map((id) => ({ id })) }
      return { method: 'GET', path: batchPath + encodeURIComponent(JSON.stringify(input)) }
    },
    expect: (n, rows) => idsOf(n, rows).map(trpcUser),
  },
  {
    name: 'first-page',
    title: 'first page by cursor',
    connections: CONCURRENCY,
    status: 200,
    appliesTo: isOurs,
    request: () => ({ method: 'GET', path: `${pagesPath}&after=` }),
    expect: () => Array.from({ length: 20 }, (_, i) => userSummary(i + 1)),
  },
  {
    name: 'last-page',
    title: 'last page by cursor',
    pairedWith: 'first-page',
    connections: CONCURRENCY,
    status: 200,
    appliesTo: isOurs,
    request: (_n, { lastCursor }) => ({ method: 'GET', path: `${pagesPath}&after=${lastCursor}` }),
    expect: (_n, rows) => Array.from({ length: 20 }, (_, i) => userSummary(rows - 19 + i)),
  },
]

/** The cursor of the last page of 20 users, ordered by creation time. */
export async function findLastCursor(url: string, rows: number): Promise<string> {
  // With one small page: a program that first reads all rows is slower afterwards than one that does not.
  const input = { sort: 'created_at_asc', limit: 1, created_at_gte: fullUser(rows - 20).created_at }
  const response = await fetch(`${url}/trpc/users.list?input=${encodeURIComponent(JSON.stringify(input))}`)
  const { result } = (await response.json()) as { result: { data: { next: string } } }
  return encodeURIComponent(result.data.next)
}

function newBook(n: number) {
  return { title: `New book ${n}`, author: `Author ${n % 100}`, published_date: '2020-02-29' }
}

// Always different from the seeded price.
function newPrice(n: number) {
  return 5000 + (n % 10_000) / 4
}

function newUsers(n: number) {
  return Array.from({ length: USERS_PER_BULK }, (_, i) => ({
    name: `New user ${i}`,
    email: `new${n}.${i}@example.com`,
    role: i % 10 === 0 ? 'admin' : 'user',
  }))
}

function newId(body: unknown, rows: number): number {
  const { id } = body as { id: number }
  assert.ok(Number.isInteger(id) && id > rows, `id must be an integer greater than ${rows}: ${id}`)
  return id
}

function recentTime(body: unknown): string {
  const { created_at } = body as { created_at: string }
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.ok(
    Math.abs(Date.parse(created_at) - Date.now()) < 60_000,
    `created_at must be within 60 s of now: ${created_at}`,
  )
  return created_at
}
