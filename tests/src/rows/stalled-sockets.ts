import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '@resource/bench/statistics'
import { beginHarm, type Harm } from '../beside.ts'
import { sqlitePlace } from '../engines.ts'
import { createBook } from '../records.ts'
import { atMost, type Figure, none, type Row, told } from '../row.ts'
import { startService } from '../service.ts'

const SOCKETS = 5_000
const OPEN_EVERY_MS = 100
const ASK_EVERY_MS = 500
const MEASURED_MS = 25_000
const FRESH_EVERY_MS = 10
const FRESH_MS = 250
/** How many are opened a second. To fill the kernel's buffers with answers costs it two milliseconds a socket. */
const KINDS: Record<string, number> = {
  'heads that never end': 1_000,
  'bodies that never come': 1_000,
  'answers that are never read': 250,
  'answers that are never read, and that the kernel takes whole': 250,
}
const ATTACKER = '127.0.0.1'
const OTHER = '127.0.0.2'

export const stalledSockets: Row = {
  name: 'stalled-sockets',
  title: '5,000 sockets of one address that keep the service waiting',
  how: `${SOCKETS} sockets each of three kinds: ${Object.keys(KINDS).join(', ')}. A process of
its own opens ${Object.values(KINDS).join(', ')} a second, and as fast again those that the service closes. From before the first on, for ${MEASURED_MS / 1000} s, a fresh request comes each ${FRESH_EVERY_MS} ms on a connection of its
own, by turns from the same address and from another.`,
  run: async (tell) => {
    const figures: Figure[] = []
    for (const kind of Object.keys(KINDS)) {
      tell(kind)
      figures.push(...(await besideSockets(kind)).map((figure) => ({ ...figure, what: `${kind}: ${figure.what}` })))
    }
    return figures
  },
}

async function besideSockets(kind: string): Promise<Figure[]> {
  await using place = await sqlitePlace()
  await using service = await startService(place.url)
  await createBook(service.url)
  // The files of a page are loaded by the first who asks.
  await fetch(`${service.url}/docs`)
  const sockets = beginHarm('stalled-sockets', service.url, kind)
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
    await sleep(FRESH_EVERY_MS)
  }
  await Promise.all(open)
  sockets.end()
  const { opened = 0, closed = 0, most = 0 } = await sockets.counts
  return [
    told('sockets opened, closed by the service, most at once', [opened, closed, most].join(', ')),
    none('fresh requests refused or failed', failures.length),
    ...[ATTACKER, OTHER].map((from) => {
      const times = (latencies[from] ?? []).toSorted((a, b) => a - b)
      return atMost(`${times.length} fresh requests of ${from}, p99`, percentile(times, 0.99), FRESH_MS, 'ms')
    }),
  ]
}

/** The sockets, in a process of their own. */
export const harm: Harm = async (url, signal, kind = '') => {
  const asset = /\/assets\/[^"]+\/swagger-ui\.js/.exec(await (await fetch(`${url}/docs`)).text())?.[0]
  const text =
    {
      'heads that never end': 'GET /books/1 HTTP/1.1\r\nHost: localhost\r\n',
      'bodies that never come': `POST /books HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
      // More than the kernel takes.
      'answers that are never read': `GET ${asset} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(2),
      'answers that are never read, and that the kernel takes whole': `GET ${asset} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    }[kind] ?? ''
  const sockets = new Set<Socket>()
  const counts = { opened: 0, closed: 0, most: 0 }
  const { hostname, port } = new URL(url)
  const atOnce = ((KINDS[kind] ?? 0) * OPEN_EVERY_MS) / 1000
  const open = () => {
    const socket = connect(Number(port), hostname)
    sockets.add(socket)
    socket.on('connect', () => {
      counts.opened++
      counts.most = Math.max(counts.most, sockets.size)
      socket.write(text)
    })
    socket.on('error', () => undefined)
    // Who does not read learns of a reset by writing. An empty line between requests means nothing.
    const ask = text.endsWith('\r\n\r\n') && setInterval(() => socket.write('\r\n'), ASK_EVERY_MS)
    socket.on('close', () => {
      if (ask) clearInterval(ask)
      sockets.delete(socket)
      counts.closed++
    })
  }
  while (!signal.aborted) {
    for (let n = 0; n < atOnce && sockets.size < SOCKETS; n++) open()
    await sleep(OPEN_EVERY_MS)
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
