import { query } from '@resource/postgres-test'
import { postgresTestDatabase } from '../engines.ts'
import { p99, type Reading, readEvenly } from '../reads.ts'
import { createUsers } from '../records.ts'
import { expectAtMost, expectNone, report, type Scenario } from '../scenario.ts'
import { startService } from '../service.ts'

const WRITERS = 12
const USERS = 500
const PAGE = 200
const READS_PER_SECOND = 100
const WARM_UP_MS = 5_000
const PERIOD_MS = 60_000

export const lockOrders: Scenario = {
  name: 'lock-orders',
  run: async () => {
    const { quiet, busy, statuses, deadlocks } = await writeInRandomOrders(PERIOD_MS, PERIOD_MS)
    return [
      report('responses to writes', JSON.stringify(Object.fromEntries(statuses))),
      expectNone('deadlocks', deadlocks),
      expectNone('responses 5xx and lost connections', countOf(statuses, /^(?:5|0)/)),
      expectNone('failed reads', busy.failed),
      report('p99 of reads without writes', `${p99(quiet).toFixed(1)} ms`),
      report('p99 of reads during writes', `${p99(busy).toFixed(1)} ms`),
      expectAtMost('p99 of reads relative to that without writes', p99(busy) / p99(quiet), 3, 'times'),
    ]
  },
}

export interface RandomOrders {
  quiet: Reading
  busy: Reading
  /** The number of responses by status; 0 without a response. */
  statuses: Map<string, number>
  deadlocks: number
}

/** Runs the scenario on a database of its own: `quietMs` without writes, which warms it up, then `ms` with them. */
export async function writeInRandomOrders(ms: number, quietMs = 0): Promise<RandomOrders> {
  await using database = await postgresTestDatabase()
  await using service = await startService(database.url)
  const { url } = service
  await createUsers(url, USERS)
  const paths = ['/items?limit=10', '/api/users?limit=10']
  const readFor = (ms: number) => {
    const end = performance.now() + ms
    return readEvenly(url, paths, READS_PER_SECOND, () => performance.now() < end)
  }
  await readFor(Math.min(quietMs, WARM_UP_MS))
  const quiet = await readFor(quietMs)
  const statuses = new Map<string, number>()
  const end = performance.now() + ms
  const write = async () => {
    while (performance.now() < end) {
      const status = String(await writeOnce(url).catch(() => 0))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  const [busy] = await Promise.all([readFor(ms), ...Array.from({ length: WRITERS }, write)])
  const { rows } = await query(
    database.url,
    'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
  )
  return { quiet, busy, statuses, deadlocks: rows[0].deadlocks }
}

export function countOf(statuses: Map<string, number>, status: RegExp): number {
  return [...statuses].reduce((sum, [each, count]) => sum + (status.test(each) ? count : 0), 0)
}

async function writeOnce(url: string): Promise<number> {
  const users: { id: number; email: string }[] = []
  // Larger pages wait for other large ones, and are refused if these take too long.
  for (let page = 1; page <= Math.ceil(USERS / PAGE); page++) {
    const response = await fetch(`${url}/users?limit=${PAGE}&page=${page}`)
    if (response.status !== 200) return response.status
    users.push(...((await response.json()) as typeof users))
  }
  const chosen = shuffled(users).slice(0, 1 + Math.floor(Math.random() * users.length))
  const age = Math.floor(Math.random() * 100)
  const all = shuffled(Array.from({ length: USERS }, (_, n) => `user${n}@example.com`))
  const send = (method: string, path: string, rows?: object[]) => {
    const init = { method, headers: { 'Content-Type': 'application/json' }, body: rows ? JSON.stringify(rows) : null }
    return fetch(`${url}/api/users${path}`, init)
  }
  const writes = [
    () =>
      send(
        'PATCH',
        '/bulk?partial=true',
        chosen.map(({ id }) => ({ id, age })),
      ),
    () =>
      send(
        'PATCH',
        '/bulk',
        chosen.map(({ id }) => ({ id, age })),
      ),
    () =>
      send(
        'PATCH',
        '/bulk?key=email&partial=true',
        chosen.map(({ email }) => ({ email, age })),
      ),
    () =>
      send(
        'PATCH',
        '/bulk?key=email&create=true',
        all.map((email) => ({ email, name: 'Ada', age })),
      ),
    () => send('DELETE', `?status=active&id_in=${chosen.slice(0, 50).map(({ id }) => id)}`),
  ]
  const response = await (writes[Math.floor(Math.random() * writes.length)] as () => Promise<Response>)()
  await response.arrayBuffer()
  return response.status
}

function shuffled<T>(values: T[]): T[] {
  return values
    .map((value) => ({ value, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value)
}
