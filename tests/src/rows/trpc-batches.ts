import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'
import { type Counts, type Harm, readsBeside } from '../beside.ts'
import { atMost, type Figure, none, type Row, told } from '../row.ts'

const A_SECOND = 10
const QUOTA = 6000
const WINDOW_MS = 60_000
const CALLS = 50
const RECORDS = 1000
// As many records as one bulk create has get in (docs/reference/limits.md), and a batch costs ten units for each bulk create.
const COST = CALLS * 10

export const trpcBatches: Row = {
  name: 'trpc-batches',
  title: 'tRPC batches that cost much',
  how: `Three callers, each with a quota of its own (RATE_LIMIT=${QUOTA}), ${A_SECOND} times a second or as soon as they are answered: 10,000 commas in a path; empty paths; ${CALLS} bulk
creates of ${RECORDS.toLocaleString('en')} items each in one batch, 4 MB. Meanwhile 200 reads a second at an even pace, by a hundred other callers.`,
  run: () =>
    readsBeside(
      'trpc-batches',
      { TRUST_PROXY: 'loopback', ALLOW_ANONYMOUS: 'true', RATE_LIMIT: String(QUOTA) },
      figuresOf,
    ),
}

const COMMAS = '10,000 commas'
const EMPTY = 'empty paths'
const CREATES = `${CALLS} bulk creates`

function figuresOf(counts: Counts): Figure[] {
  return [
    ...answers(counts, COMMAS, ['400', '404', '429']),
    ...answers(counts, EMPTY, ['400', '404', '429']),
    ...answers(counts, CREATES, ['207', '429']),
    atMost(
      'batches of them let in, of which one was done, within the quota',
      counts[`${CREATES}: 207`] ?? 0,
      Math.floor(QUOTA / COST) * (counts.windows ?? 0),
      '',
    ),
  ]
}

function answers(counts: Counts, what: string, known: string[]): Figure[] {
  const start = `${what}: `
  const own = Object.entries(counts).filter(([key]) => key.startsWith(start))
  const statuses = own.map(([key, count]) => ({ status: key.slice(start.length), count }))
  const others = statuses.filter(({ status }) => !known.includes(status))
  return [
    told(`${what}: answers`, statuses.map(({ status, count }) => `${count} with ${status}`).join(', ')),
    none(
      `${what}: other answers`,
      others.reduce((sum, { count }) => sum + count, 0),
    ),
  ]
}

export const harm: Harm = async (url, signal) => {
  const items = Array.from({ length: RECORDS }, () => ({ name: 'x'.repeat(50), price: 1.5 }))
  const inputs = Object.fromEntries(Array.from({ length: CALLS }, (_, at) => [at, { items }]))
  const records = Buffer.from(JSON.stringify(inputs))
  const creates = `/trpc/${Array(CALLS).fill('items.createMany')}?batch=1`
  const begun = Date.now()
  const counts: Counts = {}
  const count = (what: string) => (status: number) => {
    counts[`${what}: ${status}`] = (counts[`${what}: ${status}`] ?? 0) + 1
  }
  await Promise.all([
    send(url, signal, '198.51.100.1', [`/trpc/${','.repeat(10_000)}?batch=1`], count(COMMAS)),
    send(url, signal, '198.51.100.2', ['/trpc/,,?batch=1', '/trpc/?batch=1', '/trpc/,?batch=1'], count(EMPTY)),
    send(url, signal, '198.51.100.3', [creates], count(CREATES), records),
  ])
  counts.windows = Math.floor(Date.now() / WINDOW_MS) - Math.floor(begun / WINDOW_MS) + 1
  return counts
}

/** One after another, on one connection. */
async function send(
  url: string,
  signal: AbortSignal,
  caller: string,
  paths: string[],
  count: (status: number) => void,
  sent?: Buffer,
) {
  const client = new Client(url, { headersTimeout: 0 })
  for (let n = 0; !signal.aborted; n++) {
    const path = paths[n % paths.length] as string
    const headers = { 'x-forwarded-for': caller, ...(sent && { 'content-type': 'application/json' }) }
    const asked = sent === undefined ? { method: 'GET' as const } : { method: 'POST' as const, body: sent }
    const pause = sleep(1000 / A_SECOND)
    try {
      const { statusCode, body } = await client.request({ path, headers, signal, ...asked })
      await body.dump({ limit: Number.MAX_SAFE_INTEGER })
      count(statusCode)
    } catch (error) {
      if (!signal.aborted) throw error
    }
    await pause
  }
  await client.destroy()
}
