import { ratioOf, spread } from '@resource/bench/statistics'
import { Pool } from 'undici'
import { createBook } from './records.ts'
import { expectAtMost, type Measurement, report, rounded } from './scenario.ts'
import { type Service, startService } from './service.ts'

// To each instance.
const CONNECTIONS = 8
const WARM_UP = 5_000
const READS = 500
const ROUNDS = 20

/** Compares the CPU time of a read, and the reads per second, with two and four instances on one database. */
export async function cpuPerRead(databaseUrl: string): Promise<Measurement[]> {
  await using cleanup = new AsyncDisposableStack()
  const four: Service[] = []
  for (let n = 0; n < 4; n++) {
    four.push(cleanup.use(await startService(databaseUrl, { settings: { RATE_LIMIT: '0' } })))
  }
  const two = four.slice(0, 2)
  const [first] = two as [Service]
  const { id } = JSON.parse(await createBook(first.url))
  const path = `/books/${id}`
  for (const service of four) await read(service, path, WARM_UP)
  const times = { two: [] as number[], four: [] as number[] }
  // In short turns, because the speed of a shared machine varies over time.
  for (let round = 0; round < ROUNDS; round++) {
    // Either two, so that all get the same number of reads.
    const at = (round % 2) * 2
    times.two.push(await cpuTime(four.slice(at, at + 2), path))
    times.four.push(await cpuTime(four, path))
  }
  const both = (pair: number[]) => pair.map(rounded).join(', ')
  const difference = Math.abs(ratioOf(times.four, times.two) - 1) * 100
  return [
    report(
      'reads per second, two and four instances',
      both([await throughput(two, path), await throughput(four, path)]),
    ),
    report(
      'CPU time per read, two and four instances, in µs',
      both([times.two, times.four].map((all) => spread(all).median)),
    ),
    expectAtMost('CPU time per read, difference of four instances from two', difference, 5, '%'),
  ]
}

/** In µs per read. The instances are busy in turn: on fewer cores than instances they would slow each other down. */
async function cpuTime(services: Service[], path: string): Promise<number> {
  let time = 0
  for (const service of services) {
    const before = await cpuOf(service)
    await read(service, path, READS)
    time += (await cpuOf(service)) - before
  }
  return time / (READS * services.length)
}

/** Of all instances at the same time, in reads per second. */
async function throughput(services: Service[], path: string): Promise<number> {
  const begin = performance.now()
  await Promise.all(services.map((service) => read(service, path, WARM_UP)))
  return (services.length * WARM_UP * 1000) / (performance.now() - begin)
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

/** The CPU time of an instance so far, in µs. Not its `usage`, which collects garbage at the expense of the instance. */
async function cpuOf({ url }: Service): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(metrics)?.[1]) * 1e6
}
