import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '@resource/bench/statistics'
import { sqliteTestDatabase } from '../engines.ts'
import { createBook } from '../records.ts'
import { expectAtMost, expectNone, report, rounded, type Scenario } from '../scenario.ts'
import { startService } from '../service.ts'

const SOCKETS_PER_KIND = 500
const OPENED_AT_ONCE = 100
const FRESH_MS = 250
const PAUSE_MS = 10
// Tolerance over the timeouts in docs/reference/limits.md: the service checks them periodically.
const LATE_MS = 3_000

interface Kind {
  name: string
  /** The timeout in docs/reference/limits.md. */
  cutAfterMs: number
  begin: string
  /** Sent once per second. */
  trickle?: string
}

const POST =
  'POST /books HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n{'

const kinds: Kind[] = [
  { name: 'silent', cutAfterMs: 15_000, begin: '' },
  {
    name: 'trickled headers',
    cutAfterMs: 15_000,
    begin: 'GET /books/1 HTTP/1.1\r\nHost: localhost\r\n',
    trickle: 'A: b\r\n',
  },
  { name: 'trickled body', cutAfterMs: 60_000, begin: POST, trickle: ' ' },
  { name: 'idle after a response', cutAfterMs: 65_000, begin: 'GET /books/1 HTTP/1.1\r\nHost: localhost\r\n\r\n' },
]

export const slowSockets: Scenario = {
  name: 'slow-sockets',
  run: async () => {
    await using database = await sqliteTestDatabase()
    await using service = await startService(database.url)
    await createBook(service.url)
    const sockets: Slow[] = []
    for (const kind of kinds) {
      for (let count = 0; count < SOCKETS_PER_KIND; count += OPENED_AT_ONCE) {
        const some = Array.from({ length: OPENED_AT_ONCE }, () => open(service.port, kind))
        sockets.push(...(await Promise.all(some)))
      }
    }
    const trickle = setInterval(() => {
      for (const { socket, kind } of sockets)
        if (kind.trickle !== undefined && socket.writable) socket.write(kind.trickle)
    }, 1000)
    const latencies: number[] = []
    let failed = 0
    const longest = Math.max(...kinds.map(({ cutAfterMs }) => cutAfterMs)) + LATE_MS
    const end = performance.now() + longest
    while (performance.now() < end && sockets.some(({ cutMs }) => cutMs === undefined)) {
      const sent = performance.now()
      if ((await freshStatus(service.port)) === 200) latencies.push(performance.now() - sent)
      else failed++
      await sleep(PAUSE_MS)
    }
    clearInterval(trickle)
    const stillOpen = sockets.filter(({ cutMs }) => cutMs === undefined)
    for (const { socket } of stillOpen) socket.destroy()
    latencies.sort((a, b) => a - b)
    const cuts = kinds.map((kind) => {
      const times = sockets.flatMap((one) => (one.kind === kind ? (one.cutMs ?? Number.POSITIVE_INFINITY) : []))
      const text = `${rounded(Math.min(...times) / 1000)} to ${rounded(Math.max(...times) / 1000)} s`
      return report(`${kind.name}: closed after`, text)
    })
    const late = sockets.filter(({ kind, cutMs = Number.POSITIVE_INFINITY }) => cutMs > kind.cutAfterMs + LATE_MS)
    return [
      expectNone('failed requests on new connections', failed),
      report(
        'requests on new connections, count and p50',
        `${latencies.length}, ${rounded(percentile(latencies, 0.5))} ms`,
      ),
      expectAtMost('requests on new connections, p99', percentile(latencies, 0.99), FRESH_MS, 'ms'),
      ...cuts,
      expectNone('sockets closed after their timeout (docs/reference/limits.md), or never', late.length),
    ]
  },
}

interface Slow {
  kind: Kind
  socket: Socket
  /** Time from connecting until the service closed the socket, in ms. */
  cutMs: number | undefined
}

function open(port: number, kind: Kind): Promise<Slow> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const slow: Slow = { kind, socket, cutMs: undefined }
    let begun = 0
    socket.on('connect', () => {
      begun = performance.now()
      socket.write(kind.begin)
      resolve(slow)
    })
    socket.on('close', () => {
      slow.cutMs = performance.now() - begun
    })
    // Rejects only a failed connect: after that the promise is settled, and a reset has no effect.
    socket.on('error', () => reject(new Error('no connection')))
    socket.resume()
  })
}

function freshStatus(port: number): Promise<number> {
  return new Promise((resolve) => {
    const sent = request({ port, host: '127.0.0.1', path: '/books/1', agent: false, timeout: 10_000 }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.on('timeout', () => sent.destroy())
    sent.on('error', () => resolve(0))
    sent.end()
  })
}
