import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '@resource/bench/port'
import { percentile } from '@resource/bench/statistics'
import { sqlitePlace } from './engines.ts'
import { p99, type Reading, readEvenly } from './reads.ts'
import { createBook } from './records.ts'
import { atMost, type Figure, none, rounded, told } from './row.ts'
import { startService, statusOf } from './service.ts'

const PATHS = ['/books/1', '/api/users?role=admin&limit=20', '/trpc/books.get?input=%7B%22id%22%3A1%7D']
const READS_A_SECOND = 200
// A reader each; together they stay within the quota of none.
const READERS = 100
// A machine that others use is not as fast now as it was then: so by turns.
const TURNS = 3
const UNLOADED_MS = 10_000
const LOADED_MS = 20_000
const WARMING_MS = 2_000
const SYNC_EVERY_MS = 50

/** How often each thing was answered to what did harm. */
export type Counts = Record<string, number>

/** Does harm to the service at `url` until `signal` is given. */
export type Harm = (url: string, signal: AbortSignal, kind?: string) => Promise<Counts>

/**
 * What reads cost beside something that may do them harm: without it and with it by turns, each time on a fresh service.
 * The harm is done by another process. Beside each read the same is asked of an idle node:http server, which shows what
 * the machine and the client do to it; and a file beside the database is written, which shows what the disk does.
 *
 * @param figuresOf what the harm was answered, all turns together
 */
export async function readsBeside(
  row: string,
  settings: Record<string, string>,
  figuresOf: (counts: Counts) => Figure[],
): Promise<Figure[]> {
  await using idle = await startIdle()
  const calm = [await read(idle.url, UNLOADED_MS, settings)]
  const harmed = []
  for (let turn = 0; turn < TURNS; turn++) {
    harmed.push(await read(idle.url, LOADED_MS, settings, row))
    calm.push(await read(idle.url, UNLOADED_MS, settings))
  }
  const unloaded = together(calm.map(({ reading }) => reading))
  const meanwhile = together(harmed.map(({ reading }) => reading))
  const idleUnloaded = together(calm.map(({ control }) => control))
  const idleMeanwhile = together(harmed.map(({ control }) => control))
  return [
    ...figuresOf(sum(harmed.map(({ counts }) => counts))),
    none('reads that failed', unloaded.failed + meanwhile.failed),
    told('reads unloaded, p50 and p99', inWords(unloaded)),
    told('reads meanwhile, p50 and p99', inWords(meanwhile)),
    atMost('p99 meanwhile against unloaded', p99(meanwhile) / p99(unloaded), 2, 'times'),
    told('p99 unloaded, each time', p99s(calm)),
    told('p99 meanwhile, each time', p99s(harmed)),
    told('an idle node:http server: unloaded, and meanwhile', `${inWords(idleUnloaded)}; ${inWords(idleMeanwhile)}`),
    told('an fsync on the same disk, slowest: unloaded, and meanwhile', `${slowest(calm)}; ${slowest(harmed)} ms`),
  ]
}

async function read(idleUrl: string, ms: number, settings: Record<string, string>, row?: string) {
  await using place = await sqlitePlace()
  const service = await startService(place.url, { settings })
  await createBook(service.url)
  const harm = row === undefined ? undefined : beginHarm(row, service.url)
  // Without a trusted proxy the header would end anonymous access, and loopback has no quota.
  const as = (n: number): Record<string, string> =>
    settings.TRUST_PROXY === undefined ? {} : { 'x-forwarded-for': `192.0.2.${n % READERS}` }
  await readEvenly(service.url, PATHS, READS_A_SECOND, during(WARMING_MS), as)
  const [reading, control, syncs] = await Promise.all([
    readEvenly(service.url, PATHS, READS_A_SECOND, during(ms), as),
    readEvenly(idleUrl, ['/'], READS_A_SECOND, during(ms)),
    syncEvenly(place.url, during(ms)),
  ])
  harm?.end()
  // What the harm has left behind need not be waited for.
  const [counts = {}] = await Promise.all([harm?.counts, service.end('SIGKILL')])
  return { reading, control, counts, syncs }
}

/**
 * Does harm in a process of its own.
 *
 * @param row whose file exports the harm
 * @param kind which, where it has several
 */
export function beginHarm(row: string, url: string, kind?: string) {
  const child = fork(fileURLToPath(new URL('harm.ts', import.meta.url)), [row, url, ...(kind ? [kind] : [])])
  const counts = Promise.race([once(child, 'message'), once(child, 'exit')]).then(([counts]) => {
    if (typeof counts !== 'object') throw new Error(`what does the harm ended with ${counts}`)
    return counts as Counts
  })
  return { counts, end: () => child.send('end') }
}

/** How long the disk takes for a page each time, in ms: the service's reads wait while it waits for the disk. */
async function syncEvenly(databaseUrl: string, goesOn: () => boolean): Promise<number[]> {
  const times: number[] = []
  await using file = await open(`${databaseUrl.replace(/^file:/, '')}-beside`, 'w')
  while (goesOn()) {
    await sleep(SYNC_EVERY_MS)
    const begun = performance.now()
    await file.write(Buffer.alloc(4096), 0, 4096, 0)
    await file.sync()
    times.push(performance.now() - begun)
  }
  return times
}

function slowest(runs: { syncs: number[] }[]): string {
  return rounded(Math.max(...runs.flatMap(({ syncs }) => syncs)))
}

function during(ms: number): () => boolean {
  const until = performance.now() + ms
  return () => performance.now() < until
}

async function startIdle() {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [fileURLToPath(new URL('idle.ts', import.meta.url))], {
    env: { PORT: String(port) },
    stdio: 'ignore',
  })
  while ((await statusOf(url)) !== 200) await sleep(10)
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await once(child, 'exit')
    },
  }
}

function together(readings: Reading[]): Reading {
  const latencies = readings.flatMap((reading) => reading.latencies).sort((a, b) => a - b)
  return { latencies, failed: readings.reduce((failed, reading) => failed + reading.failed, 0) }
}

function sum(all: Counts[]): Counts {
  const counts: Counts = {}
  for (const each of all) for (const [what, count] of Object.entries(each)) counts[what] = (counts[what] ?? 0) + count
  return counts
}

function inWords(reading: Reading): string {
  return `${rounded(percentile(reading.latencies, 0.5))}, ${rounded(p99(reading))} ms`
}

function p99s(runs: { reading: Reading }[]): string {
  return `${runs.map(({ reading }) => rounded(p99(reading))).join(', ')} ms`
}
