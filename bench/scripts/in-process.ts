// CPU per request of the service without sockets: `node bench/scripts/in-process.ts get,create [path of another checkout]`,
// on PostgreSQL with ENGINE=postgresql. Without the noise of the kernel and of other cores, differences of 1 µs between two
// checkouts are measurable.
import { mkdtempDisposable } from 'node:fs/promises'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { openPostgresql } from '../src/engines/postgresql.ts'
import { openSqlite } from '../src/engines/sqlite.ts'
import { type Program, programs } from '../src/programs.ts'
import { findLastCursor, type RequestSpec, type Target, workloads } from '../src/workloads.ts'

// Not a multiple of the number of prices, so that an item gets another price each time.
const ROWS = 19_999
const ROUNDS = 9
const REQUESTS = 4_000
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

await using folder = await mkdtempDisposable(join(tmpdir(), 'in-process-'))
await using engine = await (process.env.ENGINE === 'postgresql' ? openPostgresql() : openSqlite(folder.path))
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
  const { connections, title, status, calls = 1 } = workload
  const requests = workload.name === 'bulk' ? REQUESTS / 200 : REQUESTS
  let best = Number.POSITIVE_INFINITY
  let next = 0
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.threadCpuUsage()
    for (let n = 0; n < requests; n += connections) {
      // Lets the event loop turn, as between the requests of a server.
      await setImmediate()
      await Promise.all(Array.from({ length: connections }, () => request(workload.request(next++, target), status)))
    }
    const { user, system } = process.threadCpuUsage(before)
    best = Math.min(best, (user + system) / requests / calls)
  }
  const resident = (process.memoryUsage.rss() / 1e6).toFixed(0)
  process.stderr.write(`${title}: ${best.toFixed(1)} µs, ${resident} MB resident memory\n`)
}
await stop()

function request({ method, path, body }: RequestSpec, status: number): Promise<void> {
  return new Promise((done, fail) => {
    const socket = new NullSocket() as never
    const req = new messages.IncomingMessage(socket)
    const ofBody = body === undefined ? [] : ['Content-Type', 'application/json', 'Content-Length', `${body.length}`]
    const rawHeaders = [...HEADERS, ...ofBody]
    Object.assign(req, { method, url: path, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1, rawHeaders })
    for (let at = 0; at < rawHeaders.length; at += 2)
      req.headers[(rawHeaders[at] as string).toLowerCase()] = rawHeaders[at + 1]
    if (body !== undefined) req.push(Buffer.from(body))
    req.push(null)
    req.complete = true
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
