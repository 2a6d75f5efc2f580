import { execFile } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { query } from '@resource/postgres-test'
import { Client } from 'undici'
import { CLI, postgresTestDatabase, sqliteTestDatabase, type TestDatabase } from '../engines.ts'
import { p99, type Reading, readEvenly } from '../reads.ts'
import { expectAtMost, expectNone, expectTrue, type Measurement, report, type Scenario } from '../scenario.ts'
import { type Service, startService } from '../service.ts'

const ITEMS = 1_000_000
const WRITERS = 4
const READS_PER_SECOND = 100
const BASELINE_MS = 20_000
const MAX_READ_MS = 50
const MAX_WRITE_MS = 250
const MAX_FACTOR = 2
// No write takes as long, so that a hang shows as a failure.
const ANSWER_WITHIN_MS = 30_000

export const largeChanges: Scenario = {
  name: 'large-changes',
  run: async (log) => {
    const all: Measurement[] = []
    for (const open of [sqliteTestDatabase, postgresTestDatabase]) {
      await using database: TestDatabase = await open()
      log(database.engine)
      const { quiet, deletion, undo, memory, isRestored } = await deleteAndUndo(database, ITEMS, BASELINE_MS)
      const named = (name: string) => `${database.engine}: ${name}`
      all.push(report(named('p99 without the change'), `reads ${ms(quiet.reads)}, writes ${ms(quiet.writes)}`))
      for (const [what, { seconds, reads, writes }] of Object.entries({ deletion, undo })) {
        all.push(
          report(named(what), `${seconds.toFixed(1)} s`),
          expectNone(named(`failed requests during the ${what}`), reads.failed + writes.failed),
          expectAtMost(named(`p99 of reads during the ${what}`), p99(reads), MAX_READ_MS, 'ms'),
          database.engine === 'SQLite'
            ? expectAtMost(named(`p99 of writes during the ${what}`), p99(writes), MAX_WRITE_MS, 'ms')
            : expectAtMost(
                named(`p99 of writes during the ${what}`),
                p99(writes) / p99(quiet.writes),
                MAX_FACTOR,
                'times',
              ),
        )
      }
      all.push(report(named('memory before and after'), memory), expectTrue(named('every item is back'), isRestored))
    }
    return all
  },
}

const ms = (reading: Reading) => `${p99(reading).toFixed(1)} ms`

/** Requests of others during a change. */
interface Others {
  reads: Reading
  writes: Reading
}

/** Deletes a tenth of the items by a filter, in steps, and undoes that, during other writes and reads. */
async function deleteAndUndo(database: TestDatabase, items: number, baselineMs: number) {
  await (await startService(database.url)).end('SIGTERM')
  await fill(database, items)
  await using service = await startService(database.url)
  const { url } = service
  const before = await service.usage()
  const quiet = await during(service, items, () => new Promise((resolve) => setTimeout(resolve, baselineMs)))
  const run = async (...args: string[]) => {
    const command = [CLI, ...args, '--yes', '--json', '--timeout', '300']
    const { stdout } = await promisify(execFile)(process.execPath, command, { env: { RESOURCE_URL: url } })
    return JSON.parse(stdout)
  }
  let group = ''
  const deletion = await during(service, items, async () => {
    group = (await run('items', 'delete', '--where', 'category=category 0')).group
  })
  const isDeleted = (await countOf(url)) === 0
  const undo = await during(service, items, () => run('undo', '--group', group))
  const after = await service.usage()
  const memory = `${[before, after].map((usage) => Math.round(usage.memory / 1e6)).join(', ')} MB`
  return { quiet, deletion, undo, memory, isRestored: isDeleted && (await countOf(url)) === items / 10 }
}

async function countOf(url: string): Promise<number> {
  const response = await fetch(`${url}/items?category=category%200&count=true&limit=1`)
  return Number(response.headers.get('X-Total-Count'))
}

async function during(
  { url }: Service,
  items: number,
  work: () => Promise<unknown>,
): Promise<Others & { seconds: number }> {
  const begin = performance.now()
  let isRunning = true
  const writes: Reading = { latencies: [], failed: 0 }
  const write = async (writer: number) => {
    const client = new Client(url, { headersTimeout: ANSWER_WITHIN_MS })
    const headers = { 'Content-Type': 'application/json' }
    for (let n = 0; isRunning; n++) {
      // Ids outside of category 0.
      const id = ((n * WRITERS + writer) % (items / 10)) * 10 + 1 + writer
      const sent = performance.now()
      const body = JSON.stringify({ price: n % 1000 })
      const { statusCode, body: answer } = await client.request({
        method: 'PATCH',
        path: `/items/${id}`,
        headers,
        body,
      })
      await answer.dump()
      if (statusCode === 200) writes.latencies.push(performance.now() - sent)
      else writes.failed++
    }
    await client.close()
  }
  const writing = Array.from({ length: WRITERS }, (_, writer) => write(writer))
  const reading = readEvenly(
    url,
    ['/items/5', '/items?limit=10', '/items?category=category%203&limit=10'],
    READS_PER_SECOND,
    () => isRunning,
  )
  await work().finally(() => {
    isRunning = false
  })
  const seconds = (performance.now() - begin) / 1000
  const [reads] = await Promise.all([reading, ...writing])
  writes.latencies.sort((a, b) => a - b)
  return { reads, writes, seconds }
}

/** Every tenth item is of category 0. */
async function fill({ engine, url }: TestDatabase, items: number): Promise<void> {
  const numbers = `WITH RECURSIVE counter(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < ${items}) SELECT n FROM counter`
  const text = `INSERT INTO items (name, name_key, price, category)
    SELECT 'Item ' || n, 'item ' || n, n % 1000, 'category ' || (n % 10) FROM (${numbers}) AS numbers`
  if (engine === 'PostgreSQL') {
    await query(url, text)
    return void (await query(url, 'VACUUM ANALYZE items'))
  }
  const sqlite = new DatabaseSync(url.slice('file:'.length))
  sqlite.exec(text)
  sqlite.close()
}
