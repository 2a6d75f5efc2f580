// Latency of reads of one record while every filter and sort of a large list, counts, summaries and previews run one at a time:
// `node bench/scripts/lists.ts [rows, by default 1000000] [path of a database that an earlier call has filled]`.
import { existsSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase } from '@resource/database'
import Sqlite from 'better-sqlite3'
import { Client } from 'undici'
import { machine } from '../src/machine.ts'
import { programs } from '../src/programs.ts'
import { startServer } from '../src/server.ts'
import { percentile } from '../src/statistics.ts'
import { table } from '../src/table.ts'

const READERS = 4
const SLOWEST = 8
const FILTERS = [
  ...['', 'category=category%207', 'category=none', 'category=category%207,category%208'],
  ...['price_lt=0.05', 'price_lt=500', 'price_lte=999', 'price_gt=999.97', 'price_gte=1', 'price_gt=200&price_lt=201'],
  ...[
    'name_contains=17',
    'name_contains=item',
    'category=category%207&price_lt=0.3',
    'category=category%207&price_gt=500',
  ],
]
const SORTS = ['id', 'name', 'price', 'category'].flatMap((field) => [`${field}_asc`, `${field}_desc`])

const [count = '1000000', given] = process.argv.slice(2)
const rows = Number(count)
await using folder = await mkdtempDisposable(join(tmpdir(), 'lists-'))
const file = given ?? join(folder.path, 'lists.db')
if (!existsSync(file)) await fill()
const ours = programs.find(({ name }) => name === 'ours')
if (ours === undefined) throw new Error('The service is not among the programs.')
{
  await using server = await startServer(ours, `file:${file}`)
  const client = new Client(server.url)
  const requests: [method: 'GET' | 'POST', path: string, body?: string][] = [
    ...FILTERS.flatMap((filter) => SORTS.map((sort) => ['GET', `/items/?sort=${sort}&${filter}`] as ['GET', string])),
    ...FILTERS.map((filter) => ['GET', `/items/?limit=1&count=true&${filter}`] as ['GET', string]),
    ['GET', '/items/?page=900'],
    ['GET', '/items/summaries?by=category&of=price'],
    ['POST', '/api/previews', '{"operation":"items.deleteWhere","input":{"price_lt":0.05}}'],
    ['POST', '/api/previews', '{"operation":"items.deleteWhere","input":{"category":"category 7"}}'],
  ]
  const waits: { ms: number; during: number }[] = []
  let during = -1
  let isDone = false
  const read = async () => {
    const reader = new Client(server.url)
    while (!isDone) {
      const [start, at] = [performance.now(), during]
      const { body } = await reader.request({ method: 'GET', path: `/items/${1 + Math.floor(Math.random() * rows)}` })
      await body.dump()
      waits.push({ ms: performance.now() - start, during: at })
      await sleep(1)
    }
    await reader.close()
  }
  const readers = Array.from({ length: READERS }, read)
  await sleep(2000)
  const alone = waits.splice(0).map(({ ms }) => ms)
  const times: { request: string; status: number; ms: number }[] = []
  for (const [n, [method, path, body]] of requests.entries()) {
    during = n
    const start = performance.now()
    const json = body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }
    const answer = await client.request({ method, path, ...json })
    await answer.body.dump()
    times.push({ request: `${method} ${path} ${body ?? ''}`, status: answer.statusCode, ms: performance.now() - start })
  }
  isDone = true
  await Promise.all(readers)
  await client.close()
  const worst = requests.map((_, n) => Math.max(0, ...waits.filter(({ during }) => during === n).map(({ ms }) => ms)))
  const line = (title: string, values: number[]) => {
    const sorted = values.toSorted((a, b) => a - b)
    return [
      title,
      String(values.length),
      ...[0.5, 0.99, 1].map((share) => `${percentile(sorted, share).toFixed(1)} ms`),
    ]
  }
  const slowest = (by: (n: number) => number) => [...times.keys()].toSorted((a, b) => by(b) - by(a)).slice(0, SLOWEST)
  const lines = (indexes: number[]) =>
    indexes.map((n) => {
      const { request, status, ms } = times[n] as (typeof times)[number]
      return [`\`${request}\``, String(status), `${ms.toFixed(0)} ms`, `${(worst[n] as number).toFixed(0)} ms`]
    })
  process.stdout.write(`${rows.toLocaleString('en')} items on sqlite, ${READERS} readers; ${machine()}

${table(
  ['', 'reads', 'p50', 'p99', 'slowest'],
  [
    line('readers alone', alone),
    line(
      'with lists',
      waits.map(({ ms }) => ms),
    ),
    line(
      'the lists',
      times.map(({ ms }) => ms),
    ),
  ],
)}

${table(['slowest requests, then those with the slowest reads', 'status', 'time', 'slowest read'], [...lines(slowest((n) => (times[n] as { ms: number }).ms)), ...lines(slowest((n) => worst[n] as number))])}
`)
}

async function fill(): Promise<void> {
  await (await createDatabase(`file:${file}`)).close()
  const sqlite = new Sqlite(file)
  sqlite.pragma('synchronous = OFF')
  // Names and prices have ties; categories are frequent.
  sqlite.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO items (name, name_key, price, category)
    SELECT 'Item ' || (i * 7919 % 5000), 'item ' || (i * 7919 % 5000), (i * 104729 % 100000) / 100.0,
      CASE WHEN i % 11 = 0 THEN NULL ELSE 'category ' || (i * 31 % 50) END FROM n`)
  sqlite.exec(`INSERT INTO users (id, name, email, email_key, role, status, created_at, updated_at)
    VALUES (1, 'Ada', 'ada@example.com', 'ada@example.com', 'user', 'active', 0, 0)`)
  sqlite.close()
}
