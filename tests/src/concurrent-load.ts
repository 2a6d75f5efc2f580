import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { percentile } from '@resource/bench/statistics'
import { freePort } from '@resource/postgres-test/free-port'
import { sqliteTestDatabase } from './engines.ts'
import { p99, type Reading, readEvenly } from './reads.ts'
import { createBook } from './records.ts'
import { expectAtMost, expectNone, type Measurement, report, rounded } from './scenario.ts'
import { startService, statusOf } from './service.ts'

const PATHS = ['/books/1', '/api/users?role=admin&limit=20', '/trpc/books.get?input=%7B%22id%22%3A1%7D']
const READS_A_SECOND = 200
// Addresses that the reads are spread over, so that none exceeds its quota.
const READERS = 100
// Loaded and unloaded periods alternate, because the speed of a shared machine varies over time.
const PERIODS = 3
const UNLOADED_MS = 10_000
const LOADED_MS = 20_000
const WARM_UP_MS = 2_000
const SYNC_INTERVAL_MS = 50

/** Number of occurrences by outcome, such as a status. */
export type Counts = Record<string, number>

/** Loads the service at `url` until `signal` is aborted. */
export type ConcurrentLoad = (url: string, signal: AbortSignal, kind?: string) => Promise<Counts>

/**
 * Measures read latency with and without a concurrent load, in alternating periods, each on a newly started service.
 * A separate process generates the load. Two controls run at the same time: reads from an idle node:http server show
 * delays caused by the machine and the client, and an fsync next to the database shows delays of the disk.
 *
 * @param measurementsOf turns the load's summed counts into measurements
 */
export async function readsUnderLoad(
  scenario: string,
  settings: Record<string, string>,
  measurementsOf: (counts: Counts) => Measurement[],
): Promise<Measurement[]> {
  await using idle = await startIdle()
  const unloadedRuns = [await read(idle.url, UNLOADED_MS, settings)]
  const loadedRuns = []
  for (let period = 0; period < PERIODS; period++) {
    loadedRuns.push(await read(idle.url, LOADED_MS, settings, scenario))
    unloadedRuns.push(await read(idle.url, UNLOADED_MS, settings))
  }
  const unloaded = merge(unloadedRuns.map(({ reading }) => reading))
  const loaded = merge(loadedRuns.map(({ reading }) => reading))
  const idleUnloaded = merge(unloadedRuns.map(({ control }) => control))
  const idleLoaded = merge(loadedRuns.map(({ control }) => control))
  return [
    ...measurementsOf(sum(loadedRuns.map(({ counts }) => counts))),
    expectNone('failed reads', unloaded.failed + loaded.failed),
    report('reads without load, p50 and p99', percentiles(unloaded)),
    report('reads under load, p50 and p99', percentiles(loaded)),
    expectAtMost('p99 under load relative to p99 without', p99(loaded) / p99(unloaded), 2, 'times'),
    report('p99 without load, by period', p99s(unloadedRuns)),
    report('p99 under load, by period', p99s(loadedRuns)),
    report(
      'control: idle node:http server, without and under load',
      `${percentiles(idleUnloaded)}; ${percentiles(idleLoaded)}`,
    ),
    report(
      'control: slowest fsync on the same disk, without and under load',
      `${slowest(unloadedRuns)}; ${slowest(loadedRuns)} ms`,
    ),
  ]
}

async function read(idleUrl: string, ms: number, settings: Record<string, string>, scenario?: string) {
  await using database = await sqliteTestDatabase()
  const service = await startService(database.url, { settings })
  await createBook(service.url)
  const load = scenario === undefined ? undefined : startLoad(scenario, service.url)
  // Without a trusted proxy the header would disable anonymous access. Loopback has no quota anyway.
  const headersOf = (n: number): Record<string, string> =>
    settings.TRUST_PROXY === undefined ? {} : { 'x-forwarded-for': `192.0.2.${n % READERS}` }
  await readEvenly(service.url, PATHS, READS_A_SECOND, during(WARM_UP_MS), headersOf)
  const [reading, control, syncs] = await Promise.all([
    readEvenly(service.url, PATHS, READS_A_SECOND, during(ms), headersOf),
    readEvenly(idleUrl, ['/'], READS_A_SECOND, during(ms)),
    syncEvenly(database.url, during(ms)),
  ])
  load?.end()
  // SIGKILL, because requests of the load may still be in progress.
  const [counts = {}] = await Promise.all([load?.counts, service.end('SIGKILL')])
  return { reading, control, counts, syncs }
}

/**
 * Starts a load in a separate process.
 *
 * @param scenario the scenario whose file exports the load
 * @param kind the variant, for scenarios with several
 */
export function startLoad(scenario: string, url: string, kind?: string) {
  const program = fileURLToPath(new URL('load-process.ts', import.meta.url))
  const child = fork(program, [scenario, url, ...(kind ? [kind] : [])])
  const counts = Promise.race([once(child, 'message'), once(child, 'exit')]).then(([counts]) => {
    if (typeof counts !== 'object') throw new Error(`the load process exited with code ${counts}`)
    return counts as Counts
  })
  return { counts, end: () => child.send('end') }
}

/** Times, in ms, of writing and syncing one page. A slow disk also delays the service's reads. */
async function syncEvenly(databaseUrl: string, isRunning: () => boolean): Promise<number[]> {
  const times: number[] = []
  await using file = await open(`${databaseUrl.replace(/^file:/, '')}-fsync`, 'w')
  while (isRunning()) {
    await sleep(SYNC_INTERVAL_MS)
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

function merge(readings: Reading[]): Reading {
  const latencies = readings.flatMap((reading) => reading.latencies).sort((a, b) => a - b)
  return { latencies, failed: readings.reduce((failed, reading) => failed + reading.failed, 0) }
}

function sum(all: Counts[]): Counts {
  const counts: Counts = {}
  for (const each of all) for (const [key, count] of Object.entries(each)) counts[key] = (counts[key] ?? 0) + count
  return counts
}

function percentiles(reading: Reading): string {
  return `${rounded(percentile(reading.latencies, 0.5))}, ${rounded(p99(reading))} ms`
}

function p99s(runs: { reading: Reading }[]): string {
  return `${runs.map(({ reading }) => rounded(p99(reading))).join(', ')} ms`
}
