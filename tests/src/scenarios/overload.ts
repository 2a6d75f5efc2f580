import { setTimeout as sleep } from 'node:timers/promises'
import { Load, type Sample } from '@resource/bench/load'
import { percentile } from '@resource/bench/statistics'
import { postgresTestDatabase, sqliteTestDatabase } from '../engines.ts'
import { growth, megabytes } from '../memory.ts'
import { type Outcome, openLoad } from '../open-load.ts'
import { createUsers } from '../records.ts'
import {
  expectAtLeast,
  expectAtMost,
  expectNone,
  type Measurement,
  report,
  rounded,
  type Scenario,
} from '../scenario.ts'
import { type Service, startService } from '../service.ts'

// The largest page.
const PATH = '/api/users?limit=1000'
const RECORDS = 1000
const CONNECTIONS = 16
const WARM_UP_MS = 5_000
const PEAK_MS = 10_000
const CALM_MS = 2_000
const TIMES = 4
const OVERLOAD_MS = 60_000
const STEPS = 12
const PERIODS = 2

export const overload: Scenario = {
  name: 'overload',
  run: async (log) => {
    const measurements: Measurement[] = []
    for (const open of [sqliteTestDatabase, postgresTestDatabase]) {
      await using database = await open()
      log(database.engine)
      const own = await overloaded(database.url)
      measurements.push(
        ...own.map((measurement) => ({ ...measurement, name: `${database.engine}: ${measurement.name}` })),
      )
    }
    return measurements
  },
}

async function overloaded(databaseUrl: string): Promise<Measurement[]> {
  await using service = await startService(databaseUrl)
  await createUsers(service.url, RECORDS)
  await sustain(service, WARM_UP_MS)
  const usages = [await service.usage()]
  let peak = await sustain(service, PEAK_MS)
  const peaks = [peak]
  const overloads: Outcome[] = []
  for (let period = 0; period < PERIODS; period++) {
    const outcome = openLoad(service.url, PATH, TIMES * rate(peak), OVERLOAD_MS)
    for (let step = 0; step < STEPS; step++) {
      await sleep(OVERLOAD_MS / STEPS)
      usages.push(await service.usage())
    }
    overloads.push(await outcome)
    await sleep(CALM_MS)
    peak = await sustain(service, PEAK_MS)
    peaks.push(peak)
  }
  const sum = (of: (outcome: Outcome) => number) => overloads.reduce((total, outcome) => total + of(outcome), 0)
  const seconds = sum((outcome) => outcome.seconds)
  const sent = sum(({ admitted, rejected, failed }) => admitted.length + rejected + failed)
  const goodput = sum(({ admitted }) => admitted.length) / seconds
  const sustained = peaks.reduce((total, each) => total + rate(each), 0) / peaks.length
  const sustainedP99 = p99(peaks.flatMap(({ latencies }) => latencies))
  const admitted = overloads.flatMap((outcome) => outcome.admitted)
  return [
    report(
      'sustainable rate by measurement, and p99 of all',
      `${perSecond(peaks.map(rate))}, ${rounded(sustainedP99)} ms`,
    ),
    report('offered rate, and rate sent', perSecond([(sent + sum(({ unsent }) => unsent)) / seconds, sent / seconds])),
    report('rejected with 503 and Retry-After', perSecond([sum(({ rejected }) => rejected) / seconds])),
    expectNone(
      'other responses and connection errors',
      sum(({ failed }) => failed),
    ),
    report('goodput by minute', perSecond(overloads.map((outcome) => outcome.admitted.length / outcome.seconds))),
    expectAtLeast('goodput relative to the sustainable rate', (goodput / sustained) * 100, 85, '%'),
    expectAtMost('p99 of admitted requests relative to the sustainable load', p99(admitted) / sustainedP99, 3, 'times'),
    report(
      'p99 of admitted requests by minute',
      `${overloads.map((each) => rounded(p99(each.admitted))).join(', ')} ms`,
    ),
    expectAtMost('growth of resident memory in the second half', growth(usages, 'memory'), 10, '%'),
    report('resident memory', megabytes(usages, 'memory')),
  ]
}

function rate({ requests, seconds }: Sample): number {
  return requests / seconds
}

function perSecond(rates: number[]): string {
  return `${rates.map(rounded).join(', ')} per second`
}

function p99(latencies: number[]): number {
  return percentile(
    latencies.toSorted((a, b) => a - b),
    0.99,
  )
}

async function sustain({ url }: Service, ms: number): Promise<Sample> {
  const load = new Load(url, CONNECTIONS)
  const end = performance.now() + ms
  const isRunning = () => performance.now() < end
  const sample = await load.run(() => ({ method: 'GET', path: PATH }), 200, CONNECTIONS, isRunning)
  await load.close()
  return sample
}
