import { ratioOf, spread } from '@resource/bench/statistics'
import { Pool } from 'undici'
import { createBook } from './records.ts'
import { expectAtMost, type Measurement, report, rounded } from './scenario.ts'
import { type Service, startService } from './service.ts'

// To each instance.
const CONNECTIONS = 8
const WARM_UP = 5_000
// Of each instance.
const READS = 2_500
const ROUNDS = 4

/** Compares the CPU time of a read, and the reads per second, with two and four instances on one database. */
export async function cpuPerRead(databaseUrl: string): Promise<Measurement[]> {
  await using cleanup = new AsyncDisposableStack()
  const services: Service[] = []
  for (let n = 0; n < 4; n++)
    services.push(cleanup.use(await startService(databaseUrl, { settings: { RATE_LIMIT: '0' } })))
  const [first] = services as [Service]
  const { id } = JSON.parse(await createBook(first.url))
  const path = `/books/${id}`
  for (const service of services) await read(service, path, WARM_UP)
  const two: Round[] = []
  const four: Round[] = []
  // In turn, because the speed of a shared machine varies over time.
  for (let round = 0; round < ROUNDS; round++) {
    two.push(await measure(services.slice(0, 2), path))
    four.push(await measure(services, path))
  }
  const cpuOf = (rounds: Round[]) => rounds.map(({ cpu }) => cpu)
  const ratio = ratioOf(cpuOf(four), cpuOf(two))
  return [
    report(
      'reads per second, two and four instances',
      of(({ perSecond }) => perSecond),
    ),
    report(
      'CPU time per read, two and four instances, in µs',
      of(({ cpu }) => cpu),
    ),
    expectAtMost(
      'CPU time per read with four instances relative to two, difference',
      Math.abs(ratio - 1) * 100,
      5,
      '%',
    ),
  ]

  function of(value: (round: Round) => number): string {
    return `${rounded(spread(two.map(value)).median)}, ${rounded(spread(four.map(value)).median)}`
  }
}

interface Round {
  /** CPU time of the instances per read, in µs. */
  cpu: number
  perSecond: number
}

async function measure(services: Service[], path: string): Promise<Round> {
  const reads = READS * services.length
  const before = await cpuTime(services)
  // In turn: at the same time, instances on too few cores slow each other down.
  for (const service of services) await read(service, path, READS)
  const cpu = ((await cpuTime(services)) - before) / reads
  const begin = performance.now()
  await Promise.all(services.map((service) => read(service, path, READS)))
  return { cpu, perSecond: (reads * 1000) / (performance.now() - begin) }
}

async function read({ url }: Service, path: string, reads: number): Promise<void> {
  const pool = new Pool(url, { connections: CONNECTIONS })
  let sent = 0
  const caller = async () => {
    while (sent++ < reads) {
      const { statusCode, body } = await pool.request({ method: 'GET', path })
      await body.dump()
      if (statusCode !== 200) throw new Error(`GET ${path} got status ${statusCode}`)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, caller))
  await pool.destroy()
}

/** The CPU time of all so far, in µs. Not with `usage`, which collects garbage at the expense of the instance. */
async function cpuTime(services: Service[]): Promise<number> {
  const metrics = await Promise.all(services.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()))
  return metrics.reduce((sum, text) => sum + Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1]) * 1e6, 0)
}
