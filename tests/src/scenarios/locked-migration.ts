import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '@resource/bench/statistics'
import { query, startPostgres } from '@resource/postgres-test'
import { Client } from 'undici'
import { nextVersion } from '../next-version.ts'
import { expectAtMost, expectNone, report, rounded, type Scenario } from '../scenario.ts'
import { startService } from '../service.ts'

const UNDISTURBED_MS = 30_000
const LOCKED_MS = 60_000
const CALLERS = 8
const PAUSE_MS = 20

export const lockedMigration: Scenario = {
  name: 'locked-migration',
  run: async () => {
    await using server = await startPostgres({ fsync: 'on' })
    await using next = await nextVersion()
    await using service = await startService(server.url)
    await load(service.url, sleep(2_000))
    const before = await load(service.url, sleep(UNDISTURBED_MS))
    let migratedMs = 0
    const migrate = async () => {
      const locked = server.whileOpen('SELECT count(*) FROM items', () => sleep(LOCKED_MS))
      await using started = await startService(server.url, { main: next.main })
      migratedMs = started.startMs
      await locked
    }
    const during = await load(service.url, migrate())
    const { rows } = await query(server.url, `SELECT indexdef FROM pg_indexes WHERE indexname = 'items_color_id_idx'`)
    return [
      report('requests before and during the migration', `${before.latencies.length}, ${during.latencies.length}`),
      expectNone('failed requests', before.failed + during.failed),
      report('p99 before and during', `${rounded(p99(before))}, ${rounded(p99(during))} ms`),
      expectAtMost('p99 during the migration relative to p99 before', p99(during) / p99(before), 3, 'times'),
      expectAtMost('end of the migration after that of the lock', (migratedMs - LOCKED_MS) / 1000, 20, 's'),
      expectNone('missing indexes', 1 - rows.length),
    ]
  },
}

interface Load {
  /** In ms. */
  latencies: number[]
  failed: number
}

function p99({ latencies }: Load): number {
  return percentile(latencies, 0.99)
}

/** Reads and changes items of the locked table until `work` ends. */
async function load(url: string, work: Promise<void>): Promise<Load> {
  const result: Load = { latencies: [], failed: 0 }
  let isRunning = true
  const send = async (client: Client, method: 'GET' | 'POST' | 'PATCH', path: string, json?: object) => {
    const sent = performance.now()
    const headers = { 'content-type': 'application/json' }
    const { statusCode, body } = await client.request({
      method,
      path,
      headers,
      body: json ? JSON.stringify(json) : null,
    })
    const text = await body.text()
    result.latencies.push(performance.now() - sent)
    if (statusCode >= 300) result.failed++
    return text
  }
  const call = async () => {
    const client = new Client(url)
    const { item } = JSON.parse(await send(client, 'POST', '/items/', { name: 'Lamp', price: 1 }))
    for (let price = 0; isRunning; price++) {
      await sleep(PAUSE_MS)
      await (price % 2 === 0
        ? send(client, 'GET', `/items/${item.id}`)
        : send(client, 'PATCH', `/items/${item.id}`, { price }))
    }
    await client.destroy()
  }
  const calls = Promise.all(Array.from({ length: CALLERS }, call))
  await work.finally(() => {
    isRunning = false
  })
  await calls
  result.latencies.sort((a, b) => a - b)
  return result
}
