import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '@resource/bench/statistics'
import { type ConcurrentLoad, startLoad } from '../concurrent-load.ts'
import { sqliteTestDatabase } from '../engines.ts'
import { createBook } from '../records.ts'
import { expectAtMost, expectNone, type Measurement, report, type Scenario } from '../scenario.ts'
import { startService } from '../service.ts'

const SOCKETS = 5_000
const OPEN_INTERVAL_MS = 100
const PROBE_INTERVAL_MS = 500
const MEASURED_MS = 25_000
const FRESH_INTERVAL_MS = 10
const FRESH_MS = 250
/** Sockets opened per second. Fewer for unread responses: filling the kernel's buffers takes it 2 ms per socket. */
const KINDS: Record<string, number> = {
  'incomplete headers': 1_000,
  'missing bodies': 1_000,
  'unread responses': 250,
  'unread responses that fit the kernel buffer': 250,
}
const ATTACKER = '127.0.0.1'
const OTHER = '127.0.0.2'

export const stalledSockets: Scenario = {
  name: 'stalled-sockets',
  run: async (log) => {
    const measurements: Measurement[] = []
    for (const kind of Object.keys(KINDS)) {
      log(kind)
      measurements.push(
        ...(await measureRequests(kind)).map((measurement) => ({
          ...measurement,
          name: `${kind}: ${measurement.name}`,
        })),
      )
    }
    return measurements
  },
}

async function measureRequests(kind: string): Promise<Measurement[]> {
  await using database = await sqliteTestDatabase()
  await using service = await startService(database.url)
  await createBook(service.url)
  // The service loads the assets of a page at its first request.
  await fetch(`${service.url}/docs`)
  const sockets = startLoad('stalled-sockets', service.url, kind)
  const latencies: Record<string, number[]> = { [ATTACKER]: [], [OTHER]: [] }
  const failures: string[] = []
  const open = new Set<Promise<void>>()
  const end = performance.now() + MEASURED_MS
  for (let n = 0; performance.now() < end; n++) {
    const from = n % 2 === 0 ? ATTACKER : OTHER
    const sent = performance.now()
    const one = freshStatus(service.port, from).then((status) => {
      if (status === 200) latencies[from]?.push(performance.now() - sent)
      else failures.push(`${from}: ${status}`)
    })
    open.add(one)
    one.finally(() => open.delete(one))
    await sleep(FRESH_INTERVAL_MS)
  }
  await Promise.all(open)
  sockets.end()
  const { opened = 0, closed = 0, most = 0 } = await sockets.counts
  return [
    report('sockets opened, closed by the service, maximum open', [opened, closed, most].join(', ')),
    expectNone('rejected or failed requests on new connections', failures.length),
    ...[ATTACKER, OTHER].map((from) => {
      const times = (latencies[from] ?? []).toSorted((a, b) => a - b)
      return expectAtMost(`requests from ${from}, p99`, percentile(times, 0.99), FRESH_MS, 'ms')
    }),
  ]
}

/** Opens the sockets, in a separate process. */
export const load: ConcurrentLoad = async (url, signal, kind = '') => {
  const asset = /\/assets\/[^"]+\/swagger-ui\.js/.exec(await (await fetch(`${url}/docs`)).text())?.[0]
  const text =
    {
      'incomplete headers': 'GET /books/1 HTTP/1.1\r\nHost: localhost\r\n',
      'missing bodies': `POST /books HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
      'unread responses': `GET ${asset} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(2),
      'unread responses that fit the kernel buffer': `GET ${asset} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    }[kind] ?? ''
  const sockets = new Set<Socket>()
  const counts = { opened: 0, closed: 0, most: 0 }
  const { hostname, port } = new URL(url)
  const atOnce = ((KINDS[kind] ?? 0) * OPEN_INTERVAL_MS) / 1000
  const open = () => {
    const socket = connect(Number(port), hostname)
    sockets.add(socket)
    socket.on('connect', () => {
      counts.opened++
      counts.most = Math.max(counts.most, sockets.size)
      socket.write(text)
    })
    socket.on('error', () => undefined)
    // A client that does not read detects a reset only by writing. Servers ignore empty lines between requests.
    const probe = text.endsWith('\r\n\r\n') && setInterval(() => socket.write('\r\n'), PROBE_INTERVAL_MS)
    socket.on('close', () => {
      if (probe) clearInterval(probe)
      sockets.delete(socket)
      counts.closed++
    })
  }
  while (!signal.aborted) {
    for (let n = 0; n < atOnce && sockets.size < SOCKETS; n++) open()
    await sleep(OPEN_INTERVAL_MS)
  }
  for (const socket of sockets) socket.destroy()
  return counts
}

function freshStatus(port: number, from: string): Promise<number | string> {
  return new Promise((resolve) => {
    const options = { port, host: '127.0.0.1', localAddress: from, path: '/books/1', agent: false, timeout: 10_000 }
    const sent = request(options, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.on('timeout', () => sent.destroy(new Error('late')))
    sent.on('error', ({ message }) => resolve(message))
    sent.end()
  })
}
