import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'
import { type ConcurrentLoad, type Counts, readsUnderLoad } from '../concurrent-load.ts'
import { expectAtMost, expectNone, type Measurement, report, type Scenario } from '../scenario.ts'

const REQUESTS_PER_SECOND = 10
const QUOTA = 6000
const WINDOW_MS = 60_000
const CALLS = 50
const RECORDS = 1000
// One bulk create of this size per batch succeeds (docs/reference/limits.md). Each one costs ten units of the quota.
const COST = CALLS * 10

export const trpcBatches: Scenario = {
  name: 'trpc-batches',
  run: () =>
    readsUnderLoad(
      'trpc-batches',
      { TRUST_PROXY: 'loopback', ALLOW_ANONYMOUS: 'true', RATE_LIMIT: String(QUOTA) },
      measurementsOf,
    ),
}

const COMMAS = '10,000 commas'
const EMPTY = 'empty paths'
const CREATES = `${CALLS} bulk creates`

function measurementsOf(counts: Counts): Measurement[] {
  return [
    ...statusesOf(counts, COMMAS, ['400', '404', '429']),
    ...statusesOf(counts, EMPTY, ['400', '404', '429']),
    ...statusesOf(counts, CREATES, ['207', '429']),
    expectAtMost(
      `${CREATES}: batches admitted, within the quota`,
      counts[`${CREATES}: 207`] ?? 0,
      Math.floor(QUOTA / COST) * (counts.windows ?? 0),
      '',
    ),
  ]
}

function statusesOf(counts: Counts, name: string, expected: string[]): Measurement[] {
  const start = `${name}: `
  const own = Object.entries(counts).filter(([key]) => key.startsWith(start))
  const statuses = own.map(([key, count]) => ({ status: key.slice(start.length), count }))
  const others = statuses.filter(({ status }) => !expected.includes(status))
  return [
    report(`${name}: responses`, statuses.map(({ status, count }) => `${count} with ${status}`).join(', ')),
    expectNone(
      `${name}: other responses`,
      others.reduce((sum, { count }) => sum + count, 0),
    ),
  ]
}

export const load: ConcurrentLoad = async (url, signal) => {
  const items = Array.from({ length: RECORDS }, () => ({ name: 'x'.repeat(50), price: 1.5 }))
  const inputs = Object.fromEntries(Array.from({ length: CALLS }, (_, at) => [at, { items }]))
  const records = Buffer.from(JSON.stringify(inputs))
  const creates = `/trpc/${Array(CALLS).fill('items.createMany')}?batch=1`
  const begun = Date.now()
  const counts: Counts = {}
  const count = (name: string) => (status: number) => {
    counts[`${name}: ${status}`] = (counts[`${name}: ${status}`] ?? 0) + 1
  }
  await Promise.all([
    send(url, signal, '198.51.100.1', [`/trpc/${','.repeat(10_000)}?batch=1`], count(COMMAS)),
    send(url, signal, '198.51.100.2', ['/trpc/,,?batch=1', '/trpc/?batch=1', '/trpc/,?batch=1'], count(EMPTY)),
    send(url, signal, '198.51.100.3', [creates], count(CREATES), records),
  ])
  counts.windows = Math.floor(Date.now() / WINDOW_MS) - Math.floor(begun / WINDOW_MS) + 1
  return counts
}

/** Sends requests one after another, on one connection. */
async function send(
  url: string,
  signal: AbortSignal,
  caller: string,
  paths: string[],
  count: (status: number) => void,
  payload?: Buffer,
) {
  const client = new Client(url, { headersTimeout: 0 })
  for (let n = 0; !signal.aborted; n++) {
    const path = paths[n % paths.length] as string
    const headers = { 'x-forwarded-for': caller, ...(payload && { 'content-type': 'application/json' }) }
    const options = payload === undefined ? { method: 'GET' as const } : { method: 'POST' as const, body: payload }
    const pause = sleep(1000 / REQUESTS_PER_SECOND)
    try {
      const { statusCode, body } = await client.request({ path, headers, signal, ...options })
      await body.dump({ limit: Number.MAX_SAFE_INTEGER })
      count(statusCode)
    } catch (error) {
      if (!signal.aborted) throw error
    }
    await pause
  }
  await client.destroy()
}
