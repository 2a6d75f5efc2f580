import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '@resource/bench/statistics'
import { Client } from 'undici'
import { beginHarm, type Harm } from '../beside.ts'
import { postgresPlace } from '../engines.ts'
import { createBook } from '../records.ts'
import { atLeast, atMost, none, type Row, rounded, told } from '../row.ts'
import { type Service, startService } from '../service.ts'

const ASKERS = 3_000
const EVERY_MS = 2_000
const READERS = 50
const PAUSE_MS = 20
const TURNS = 3
const TURN_MS = 10_000

export const readiness: Row = {
  name: 'readiness',
  title: `${ASKERS.toLocaleString('en')} requests for /readyz at once on PostgreSQL`,
  how: `${READERS} readers ask for one record, each on a connection of its own and ${PAUSE_MS} ms after the answer before. Every ${EVERY_MS / 1000} s another
process sends ${ASKERS.toLocaleString('en')} requests for /readyz at once, on as many connections that are open already. Reads without that and with it by turns, ${TURNS} times each.`,
  run: async (tell) => {
    await using place = await postgresPlace()
    await using service = await startService(place.url)
    await createBook(service.url)
    await read(service, TURN_MS)
    const alone: Reads[] = []
    const meanwhile: Reads[] = []
    const asked = { answered: 0, unready: 0 }
    for (let turn = 0; turn < TURNS; turn++) {
      tell(`turn ${turn + 1} of ${TURNS}`)
      alone.push(await read(service, TURN_MS))
      const harm = beginHarm('readiness', service.url)
      meanwhile.push(await read(service, TURN_MS))
      harm.end()
      const { answered = 0, unready = 0 } = await harm.counts
      asked.answered += answered
      asked.unready += unready
    }
    const sum = (reads: Reads[], of: (one: Reads) => number) => reads.reduce((total, one) => total + of(one), 0)
    return [
      atLeast('answers of /readyz', asked.answered, TURNS * ASKERS, ''),
      none('of them other than 200, and connections lost', asked.unready),
      told(
        'reads without and with',
        `${sum(alone, (one) => one.latencies.length)}, ${sum(meanwhile, (one) => one.latencies.length)}`,
      ),
      told(
        'reads refused without and with (503: the database is crowded)',
        `${sum(alone, ({ refused }) => refused)}, ${sum(meanwhile, ({ refused }) => refused)}`,
      ),
      told('p99 of reads without, each time', p99s(alone)),
      told('p99 of reads with, each time', p99s(meanwhile)),
      atMost('p99 of reads with against without', p99(meanwhile) / p99(alone), 2, 'times'),
    ]
  },
}

interface Reads {
  /** In ms. */
  latencies: number[]
  refused: number
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
  const reads: Reads = { latencies: [], refused: 0 }
  const end = performance.now() + ms
  const clients = Array.from({ length: READERS }, () => new Client(url))
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() < end) {
        const sent = performance.now()
        const { statusCode, body } = await client.request({ method: 'GET', path: '/books/1' })
        await body.dump()
        if (statusCode === 200) reads.latencies.push(performance.now() - sent)
        else if (statusCode === 503) reads.refused++
        else throw new Error(`a read was answered ${statusCode}`)
        await sleep(PAUSE_MS)
      }
    }),
  )
  await Promise.all(clients.map((client) => client.destroy()))
  return reads
}

/** The askers, in a process of their own. */
export const harm: Harm = async (url, signal) => {
  const counts = { answered: 0, unready: 0 }
  const { hostname, port } = new URL(url)
  let left = 0
  const sockets = Array.from({ length: ASKERS }, () =>
    connect(Number(port), hostname)
      .on('data', (data) => {
        left--
        counts.answered++
        if (!data.toString('latin1').startsWith('HTTP/1.1 200')) counts.unready++
      })
      .on('error', () => counts.unready++),
  )
  while (!signal.aborted) {
    left = ASKERS
    for (const socket of sockets) socket.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await sleep(EVERY_MS)
    while (left > 0 && !signal.aborted) await sleep(10)
  }
  for (const socket of sockets) socket.destroy()
  return counts
}
