// CPU per request of the service without sockets: `node bench/scripts/in-process.ts get,list [path of another checkout]`.
// Without the noise of the kernel and of other cores, differences of 1 µs between two checkouts are measurable.
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { openSqlite } from '../src/engines/sqlite.ts'
import { type Program, programs } from '../src/programs.ts'
import { findLastCursor, type RequestSpec, type Target, workloads } from '../src/workloads.ts'

const ROWS = 20_000
const ROUNDS = 9
const REQUESTS = 16_000
const CONCURRENCY = 8
const HEADERS = ['Host', '127.0.0.1:3000', 'Connection', 'keep-alive']

/** A socket that discards everything written to it. */
class NullSocket extends Writable {
  remoteAddress = '127.0.0.1'
  override _write(_chunk: unknown, _encoding: string, done: () => void) {
    done()
  }
  override _writev(_chunks: unknown, done: () => void) {
    done()
  }
}

const [names = 'get,list', checkout = resolve(import.meta.dirname, '../..')] = process.argv.slice(2)
const load = (path: string) => import(pathToFileURL(join(resolve(checkout), 'apps/server/src', path)).href)
const { startServer } = await load('server.ts')
const { readConfig } = await load('process/config.ts')
const { createLog } = await load('process/log.ts')
const { messagesOf } = await load('connections/http-server.ts')

const folder = await mkdtemp(join(tmpdir(), 'in-process-'))
const engine = await openSqlite(folder)
await engine.seed(ROWS)
const { url: DATABASE_URL } = await engine.copy(ROWS, 'ours')
let app: RequestListener | undefined
const captureHandler = (handle: RequestListener) => {
  app = handle
  return handle
}
const { url, stop } = await startServer(readConfig({ DATABASE_URL, PORT: '0' }), createLog('info'), captureHandler)
const noConnections = { arrived: () => {}, stalled: () => false, drained: () => {} }
const messages: { IncomingMessage: typeof IncomingMessage; ServerResponse: typeof ServerResponse } = messagesOf(
  app,
  noConnections,
)
const target: Target = { program: programs[0] as Program, rows: ROWS, lastCursor: await findLastCursor(url, ROWS) }

for (const workload of workloads.filter(({ name }) => names.split(',').includes(name))) {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    for (let n = 0; n < REQUESTS; n += CONCURRENCY) {
      // Lets the event loop turn, as between the requests of a server.
      await setImmediate()
      await Promise.all(
        Array.from({ length: CONCURRENCY }, (_, i) => request(workload.request(n + i, target), workload.status)),
      )
    }
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / REQUESTS / (workload.calls ?? 1))
  }
  const resident = (process.memoryUsage.rss() / 1e6).toFixed(0)
  process.stderr.write(`${workload.title}: ${best.toFixed(1)} µs, ${resident} MB resident memory\n`)
}
await stop()
await rm(folder, { recursive: true })

function request({ method, path }: RequestSpec, status: number): Promise<void> {
  if (method !== 'GET') throw new Error('only workloads with GET requests can be repeated')
  return new Promise((done, fail) => {
    const socket = new NullSocket() as never
    const req = new messages.IncomingMessage(socket)
    Object.assign(req, { method, url: path, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1 })
    Object.assign(req, { rawHeaders: HEADERS, headers: { host: HEADERS[1], connection: HEADERS[3] }, complete: true })
    req.push(null)
    const res = new messages.ServerResponse(req as never)
    res.assignSocket(socket)
    res.on('finish', () => {
      res.detachSocket(socket)
      res.emit('close')
      if (res.statusCode === status) done()
      else fail(new Error(`${path}: ${res.statusCode}`))
    })
    app?.(req as never, res as never)
  })
}
