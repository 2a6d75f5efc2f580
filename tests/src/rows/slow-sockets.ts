import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '@resource/bench/statistics'
import { sqlitePlace } from '../engines.ts'
import { createBook } from '../records.ts'
import { atMost, none, type Row, rounded, told } from '../row.ts'
import { startService } from '../service.ts'

const EACH = 500
const OPENED_AT_ONCE = 100
const FRESH_MS = 250
const PAUSE_MS = 10
// What docs/reference/limits.md says of each kind, and three seconds for the service to come round to it.
const LATE_MS = 3_000

interface Kind {
  name: string
  cutAfterMs: number
  begin: string
  /** Sent once a second. */
  drop?: string
}

const POST =
  'POST /books HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n{'

const kinds: Kind[] = [
  { name: 'silent', cutAfterMs: 15_000, begin: '' },
  {
    name: 'header by the drop',
    cutAfterMs: 15_000,
    begin: 'GET /books/1 HTTP/1.1\r\nHost: localhost\r\n',
    drop: 'A: b\r\n',
  },
  { name: 'body by the drop', cutAfterMs: 60_000, begin: POST, drop: ' ' },
  { name: 'idle after an answer', cutAfterMs: 65_000, begin: 'GET /books/1 HTTP/1.1\r\nHost: localhost\r\n\r\n' },
]

export const slowSockets: Row = {
  name: 'slow-sockets',
  title: '2,000 slowloris and idle sockets',
  how: `${EACH} sockets each of four kinds: silent, a header line a second, a byte of a body a second, idle after an answer. Until the last is
cut, requests go on, each on a connection of its own, one after another.`,
  run: async () => {
    await using place = await sqlitePlace()
    await using service = await startService(place.url)
    await createBook(service.url)
    const sockets: Slow[] = []
    for (const kind of kinds) {
      for (let count = 0; count < EACH; count += OPENED_AT_ONCE) {
        const some = Array.from({ length: OPENED_AT_ONCE }, () => open(service.port, kind))
        sockets.push(...(await Promise.all(some)))
      }
    }
    const drops = setInterval(() => {
      for (const { socket, kind } of sockets) if (kind.drop !== undefined && socket.writable) socket.write(kind.drop)
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
    clearInterval(drops)
    const left = sockets.filter(({ cutMs }) => cutMs === undefined)
    for (const { socket } of left) socket.destroy()
    latencies.sort((a, b) => a - b)
    const cuts = kinds.map((kind) => {
      const times = sockets.flatMap((one) => (one.kind === kind ? (one.cutMs ?? Number.POSITIVE_INFINITY) : []))
      const text = `${rounded(Math.min(...times) / 1000)} to ${rounded(Math.max(...times) / 1000)} s`
      return told(`${kind.name}: cut after`, text)
    })
    const late = sockets.filter(({ kind, cutMs = Number.POSITIVE_INFINITY }) => cutMs > kind.cutAfterMs + LATE_MS)
    return [
      none('fresh requests that failed', failed),
      told('fresh requests answered, p50', `${latencies.length}, ${rounded(percentile(latencies, 0.5))} ms`),
      atMost('fresh requests, p99', percentile(latencies, 0.99), FRESH_MS, 'ms'),
      ...cuts,
      none('sockets cut later than said (docs/reference/limits.md), or never', late.length),
    ]
  },
}

interface Slow {
  kind: Kind
  socket: Socket
  /** From when it connected, or was answered, to when it was cut. */
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
    // Nothing is said to whoever is cut.
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
