import { setTimeout as sleep } from 'node:timers/promises'
import { Load, type Sample } from '@resource/bench/load'
import { percentile } from '@resource/bench/statistics'
import { postgresPlace, sqlitePlace } from '../engines.ts'
import { growth, megabytes } from '../memory.ts'
import { type Outcome, openLoad } from '../open-load.ts'
import { createUsers } from '../records.ts'
import { atLeast, atMost, type Figure, none, type Row, rounded, told } from '../row.ts'
import { type Service, startService } from '../service.ts'

// The largest page.
const PATH = '/api/users?limit=1000'
const RECORDS = 1000
const CONNECTIONS = 16
const WARMING_MS = 5_000
const PEAK_MS = 10_000
const CALM_MS = 2_000
const TIMES = 4
const OVERLOAD_MS = 60_000
const STEPS = 12
const TURNS = 2

export const overload: Row = {
  name: 'overload',
  title: `${TIMES} times the sustainable load for a minute`,
  how: `Sustainable is what ${CONNECTIONS} connections that never pause get answered: pages of a thousand users. Then ${TIMES} times as many requests a
second come for a minute at an even pace, each on the free one of 500 connections. ${TURNS} such minutes, and what is sustainable before, between and after
them, for a machine that others use is not as fast now as it was then. Goodput is answers 200 a second; the time of a request is from its
sending to the end of its answer.`,
  run: async (tell) => {
    const figures: Figure[] = []
    for (const open of [sqlitePlace, postgresPlace]) {
      await using place = await open()
      tell(place.engine)
      const own = await overloaded(place.url)
      figures.push(...own.map((figure) => ({ ...figure, what: `${place.engine}: ${figure.what}` })))
    }
    return figures
  },
}

async function overloaded(databaseUrl: string): Promise<Figure[]> {
  await using service = await startService(databaseUrl)
  await createUsers(service.url, RECORDS)
  await sustain(service, WARMING_MS)
  const usages = [await service.usage()]
  let peak = await sustain(service, PEAK_MS)
  const peaks = [peak]
  const overloads: Outcome[] = []
  for (let turn = 0; turn < TURNS; turn++) {
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
  const sent = sum(({ admitted, refused, failed }) => admitted.length + refused + failed)
  const goodput = sum(({ admitted }) => admitted.length) / seconds
  const sustained = peaks.reduce((total, each) => total + rate(each), 0) / peaks.length
  const sustainedP99 = p99(peaks.flatMap(({ latencies }) => latencies))
  const admitted = overloads.flatMap((outcome) => outcome.admitted)
  return [
    told('sustainable, each time, and the p99 of all', `${perSecond(peaks.map(rate))}, ${rounded(sustainedP99)} ms`),
    told('asked for, and sent', perSecond([(sent + sum(({ unsent }) => unsent)) / seconds, sent / seconds])),
    told('refused with 503 and Retry-After', perSecond([sum(({ refused }) => refused) / seconds])),
    none(
      'other answers, or none',
      sum(({ failed }) => failed),
    ),
    told('goodput, each minute', perSecond(overloads.map((outcome) => outcome.admitted.length / outcome.seconds))),
    atLeast('goodput against sustainable', (goodput / sustained) * 100, 85, '%'),
    atMost('p99 of admitted requests against that of the sustainable load', p99(admitted) / sustainedP99, 3, 'times'),
    told(
      'p99 of admitted requests, each minute',
      `${overloads.map((each) => rounded(p99(each.admitted))).join(', ')} ms`,
    ),
    atMost('growth of resident memory, second half against half-way', growth(usages, 'memory'), 10, '%'),
    told('resident', megabytes(usages, 'memory')),
  ]
}

function rate({ requests, seconds }: Sample): number {
  return requests / seconds
}

function perSecond(rates: number[]): string {
  return `${rates.map(rounded).join(', ')} a second`
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
  const goesOn = () => performance.now() < end
  const sample = await load.run(() => ({ method: 'GET', path: PATH }), 200, CONNECTIONS, goesOn)
  await load.close()
  return sample
}
