import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '@resource/bench/statistics'
import { Client } from 'undici'
import { type ConcurrentLoad, startLoad } from '../concurrent-load.ts'
import { postgresTestDatabase } from '../engines.ts'
import { createBook } from '../records.ts'
import { expectAtLeast, expectAtMost, expectNone, report, rounded, type Scenario } from '../scenario.ts'
import { type Service, startService } from '../service.ts'

const PROBES = 3_000
const PROBE_INTERVAL_MS = 2_000
const READERS = 50
const PAUSE_MS = 20
const PERIODS = 3
const PERIOD_MS = 10_000

export const readiness: Scenario = {
  name: 'readiness',
  run: async (log) => {
    await using database = await postgresTestDatabase()
    await using service = await startService(database.url)
    await createBook(service.url)
    await read(service, PERIOD_MS)
    const unloaded: Reads[] = []
    const loaded: Reads[] = []
    const probes = { answered: 0, unready: 0 }
    for (let period = 0; period < PERIODS; period++) {
      log(`period ${period + 1} of ${PERIODS}`)
      unloaded.push(await read(service, PERIOD_MS))
      const load = startLoad('readiness', service.url)
      loaded.push(await read(service, PERIOD_MS))
      load.end()
      const { answered = 0, unready = 0 } = await load.counts
      probes.answered += answered
      probes.unready += unready
    }
    const sum = (reads: Reads[], of: (one: Reads) => number) => reads.reduce((total, one) => total + of(one), 0)
    return [
      expectAtLeast('responses of /readyz', probes.answered, PERIODS * PROBES, ''),
      expectNone('responses of /readyz other than 200, and lost connections', probes.unready),
      report(
        'reads without and under load',
        `${sum(unloaded, (one) => one.latencies.length)}, ${sum(loaded, (one) => one.latencies.length)}`,
      ),
      report(
        'reads rejected without and under load (503: database overloaded)',
        `${sum(unloaded, ({ rejected }) => rejected)}, ${sum(loaded, ({ rejected }) => rejected)}`,
      ),
      report('p99 of reads without load, by period', p99s(unloaded)),
      report('p99 of reads under load, by period', p99s(loaded)),
      expectAtMost('p99 of reads under load relative to p99 without', p99(loaded) / p99(unloaded), 2, 'times'),
    ]
  },
}

interface Reads {
  /** In ms. */
  latencies: number[]
  rejected: number
}

function p99(reads: Reads[]): number {
  return percentile(
    reads.flatMap(({ latencies }) => latencies).sort((a, b) => a - b),
    0.99,
  )
}

function p99s(reads: Reads[]): string {
  return `${reads.map((one) => rounded(p99([one]))).join(', ')} ms`
}

async function read({ url }: Service, ms: number): Promise<Reads> {
  const reads: Reads = { latencies: [], rejected: 0 }
  const end = performance.now() + ms
  const clients = Array.from({ length: READERS }, () => new Client(url))
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() < end) {
        const sent = performance.now()
        const { statusCode, body } = await client.request({ method: 'GET', path: '/books/1' })
        await body.dump()
        if (statusCode === 200) reads.latencies.push(performance.now() - sent)
        else if (statusCode === 503) reads.rejected++
        else throw new Error(`a read got status ${statusCode}`)
        await sleep(PAUSE_MS)
      }
    }),
  )
  await Promise.all(clients.map((client) => client.destroy()))
  return reads
}

/** Sends the requests to /readyz, in a separate process. */
export const load: ConcurrentLoad = async (url, signal) => {
  const counts = { answered: 0, unready: 0 }
  const { hostname, port } = new URL(url)
  let left = 0
  const sockets = Array.from({ length: PROBES }, () =>
    connect(Number(port), hostname)
      .on('data', (data) => {
        left--
        counts.answered++
        if (!data.toString('latin1').startsWith('HTTP/1.1 200')) counts.unready++
      })
      .on('error', () => counts.unready++),
  )
  while (!signal.aborted) {
    left = PROBES
    for (const socket of sockets) socket.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await sleep(PROBE_INTERVAL_MS)
    while (left > 0 && !signal.aborted) await sleep(10)
  }
  for (const socket of sockets) socket.destroy()
  return counts
}
