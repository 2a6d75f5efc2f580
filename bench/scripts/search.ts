// Latency of searches, cursor pages and summaries in a large table, without HTTP:
// `node bench/scripts/search.ts [sqlite or postgresql] [rows, by default 1000000]`. TMPDIR selects the folder of the database.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createDatabase, keysetRanges, searchKey, type User, type Where } from '@resource/database'
import { query as queryAt, startPostgres } from '@resource/postgres-test'
import Sqlite from 'better-sqlite3'
import { machine } from '../src/machine.ts'
import { percentile } from '../src/statistics.ts'
import { table } from '../src/table.ts'

const CALLS = 500
const FIRST = ['Ada', 'Grace', 'Alan', 'Linus', 'Édouard', 'Søren', 'Chiyo', 'Ivan', 'Maria', 'Olu', 'Priya', 'Wei']
const LAST = ['Lovelace', 'Hopper', 'Turing', 'Liskov', 'Manet', 'Miyazaki', 'Petrov', 'Silva', 'Zhang', 'Nilsson']
const FILLED = 'name, name_key, email, email_key, role, status, age, version, created_at, updated_at'
const COLUMNS = ['id', 'name', 'email', 'role', 'age', 'created_at'] as const

const [engine = 'sqlite', count = '1000000'] = process.argv.slice(2)
const rows = Number(count)
const random = randomOf(1)
const { url, remove } = await (engine === 'postgresql' ? fillPostgresql() : fillSqlite())
const database = await createDatabase(url)
const { users } = database.read

const lines = [
  await measure('search, rare word', () => page({ name_key: search(code()) })),
  await measure('search, last name', () => page({ name_key: search(searchKey(one(LAST))) })),
  await measure('search, first and last name', () =>
    page({ name_key: search(searchKey(one(FIRST)), searchKey(one(LAST))) }),
  ),
  await measure('search, two letters', () => page({ name_key: search(searchKey(one(FIRST)).slice(0, 2)) })),
  await measure('search, part of an address', () => page({ name_key: search(`user${random(rows)}`) })),
  await measure('search, in every row', () => page({ name_key: search('example.com') })),
  await measure('search, name and filters', () =>
    page({ name_key: search(searchKey(one(LAST))), role: one(['admin', 'user']), age: { gte: random(90) } }),
  ),
  await measure('search, page after a cursor', () => {
    const id = random(rows)
    return users.page({
      where: { name_key: search(searchKey(one(LAST))) },
      seek: keysetRanges<User>({}, { column: 'id', descending: true }, 'int', { id, key: id }),
      order: { column: 'id', descending: true },
      take: 21,
    })
  }),
  await measure('page after a cursor', () => {
    const [order, id] = [{ column: 'name', descending: false } as const, random(rows)]
    return users.page({
      where: {},
      seek: keysetRanges<User>({}, order, 'text', { id, key: one(FIRST) }),
      order,
      take: 21,
    })
  }),
  await measure('count of a search', () => users.count({ name_key: search(searchKey(one(LAST))) }), 20),
  await measure('summary by role', () => users.summarize({ where: {}, by: 'role', limit: 100 }), 20),
  await measure('summary by role of age', () => users.summarize({ where: {}, by: 'role', of: 'age', limit: 100 }), 20),
]
await database.close()
await remove()
process.stdout.write(`${rows.toLocaleString('en')} users on ${engine}; ${machine()}

${table(['', 'p50', 'p99', 'CPU p50', 'CPU p99', 'event loop blocked at most'], lines)}
`)

/** Calls one after another, each in an event loop iteration of its own. */
async function measure(title: string, call: () => Promise<unknown>, calls = CALLS): Promise<string[]> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const times: number[] = []
  const cpu: number[] = []
  await call()
  delay.enable()
  for (let n = 0; n < calls; n++) {
    const [start, before] = [performance.now(), process.cpuUsage()]
    await call()
    times.push(performance.now() - start)
    const { user, system } = process.cpuUsage(before)
    cpu.push((user + system) / 1000)
    await new Promise(setImmediate)
  }
  delay.disable()
  const shares = [times, cpu].flatMap((values) => {
    const sorted = values.toSorted((a, b) => a - b)
    return [percentile(sorted, 0.5), percentile(sorted, 0.99)]
  })
  return [title, ...[...shares, delay.max / 1e6].map((ms) => `${ms.toFixed(1)} ms`)]
}

function page(where: Where<User>): Promise<unknown> {
  return users.page({ where, order: { column: one(COLUMNS), descending: random(2) === 0 }, take: 21 })
}

function search(...words: string[]) {
  return { contains: { words, columns: ['name_key', 'email_key'] } }
}

async function fillSqlite() {
  const folder = await mkdtemp(join(tmpdir(), 'search-'))
  const url = `file:${join(folder, 'search.db')}`
  await (await createDatabase(url)).close()
  const sqlite = new Sqlite(join(folder, 'search.db'))
  sqlite.pragma('synchronous = OFF')
  const insert = sqlite.prepare(`INSERT INTO users (${FILLED}) VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?)`)
  const insertSome = sqlite.transaction((from: number, to: number) => {
    for (let n = from; n < to; n++) {
      const name = `${one(FIRST)} ${one(LAST)} ${code()}`
      const email = `user${n}.${code()}@example.com`
      const role = n % 100 === 0 ? 'admin' : 'user'
      const age = n % 7 === 0 ? null : random(90)
      const time = Date.UTC(2020, 0, 1) + n * 1000
      insert.run(name, searchKey(name), email, email, role, n % 3 === 0 ? 'inactive' : 'active', age, time, time)
    }
  })
  for (let n = 1; n <= rows; n += 50_000) insertSome(n, Math.min(n + 50_000, rows + 1))
  sqlite.close()
  return { url, remove: () => rm(folder, { recursive: true }) }
}

async function fillPostgresql() {
  const server = await startPostgres({ shared_buffers: '512MB', max_wal_size: '4GB' })
  const { url } = server
  const query = (text: string) => queryAt(url, text)
  await (await createDatabase(url)).close()
  // Building an index over existing rows is faster than updating it on each insert.
  const { rows: indexes } = await query(
    `SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'users' AND indexname NOT IN (SELECT conname FROM pg_constraint)`,
  )
  for (const { indexname } of indexes) await query(`DROP INDEX "${indexname}"`)
  const element = (list: string[]) =>
    `(ARRAY[${list.map((text) => `'${text}'`).join(', ')}])[1 + floor(random() * ${list.length})::int]`
  const hex = `to_hex(floor(random() * 4096)::int)`
  await query(`INSERT INTO users (${FILLED})
    SELECT name, lower(name), email, email, CASE WHEN n % 100 = 0 THEN 'admin' ELSE 'user' END,
      CASE WHEN n % 3 = 0 THEN 'inactive' ELSE 'active' END, CASE WHEN n % 7 = 0 THEN NULL ELSE floor(random() * 90)::int END, 1, time, time
    FROM (SELECT n, ${element(FIRST)} || ' ' || ${element(LAST)} || ' ' || ${hex} AS name,
      'user' || n || '.' || ${hex} || '@example.com' AS email,
      timestamp '2020-01-01' + n * interval '1 second' AS time FROM generate_series(1, ${rows}) AS n) AS generated`)
  for (const { indexdef } of indexes) await query(indexdef)
  await query('VACUUM ANALYZE')
  return { url, remove: () => server[Symbol.asyncDispose]() }
}

function code(): string {
  return random(46_656).toString(36).padStart(3, '0')
}

function one<Value>(values: readonly Value[]): Value {
  return values[random(values.length)] as Value
}

/** A deterministic sequence of integers. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % below
  }
}
