import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { envelope } from '@resource/contract'
import { createDatabase, isPostgresUrl } from '@resource/database'
import type { Request } from 'express'
import type { Logger } from 'pino'
import { createAccess } from '../access/access.ts'
import { dropOldEntries } from '../audit/retention.ts'
import type { Config } from '../config.ts'
import { callerAddress, networkOf } from '../limits/address.ts'
import { createLimits } from '../limits/limits.ts'
import { shareQuota } from '../limits/sharing.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { dropOldAnswers } from '../store/idempotency.ts'
import { observeDatabase } from '../store/observed.ts'
import { createApp } from './app.ts'
import { Connections } from './connections.ts'
import { messagesOf } from './messages.ts'
import { createServer } from './node-http.ts'
import { readOffSlowly } from './read-off.ts'
import { requestLog } from './request-log.ts'
import { Turns } from './turns.ts'
import { HEALTH } from './watched.ts'

const HOUR_MS = 60 * 60 * 1000
const LONGEST_STOP_MS = 10_000
const LOOK_MS = 50

/** How long a caller may take, in ms. A proxy's idle time-out, often 60 s, must be shorter than `keepAliveTimeout`. */
const TIMES = {
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1_000,
}
const SILENCE_MS = 120_000
// Connections that the kernel keeps until they are accepted; it takes its own bound (net.core.somaxconn) where that is less.
const BACKLOG = 4096
// They are refused to nobody, and must not keep others waiting.
const HEALTH_AT_ONCE = 8

// A request without a body needs no stream for it: a tenth of what a small answer costs.
const OPTIONS = { requireHostHeader: false, optimizeEmptyRequests: true }

export interface RunningServer {
  /** `http://127.0.0.1:3000` */
  url: string
  /**
   * Is not ready any more but answers until `DRAIN_MS` are over, then takes no new requests, finishes those that are open
   * and closes the database. Twice is the same as once.
   */
  stop: () => Promise<void>
  /** Counts an error that belongs to no request. */
  countUnexpected: () => void
}

/**
 * Opens the database and serves.
 *
 * @param through what each request goes through before the service; tests put trouble there
 * @throws Error when the database cannot be opened, the address is taken, or the service would be open to everyone
 */
export async function startServer(
  config: Config,
  log: Logger,
  through: (handle: RequestListener) => RequestListener = (handle) => handle,
): Promise<RunningServer> {
  const metrics = createMetrics()
  // The SDK takes memory and time to load, which only who uses it should pay.
  const tracing = isTraced(config) ? (await import('../tracing/tracing.ts')).startTracing(config, log) : undefined
  const opened = await createDatabase(config.DATABASE_URL, {
    access: config.DATABASE_ACCESS,
    poolSize: config.DATABASE_POOL_SIZE,
    connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: config.DATABASE_STATEMENT_TIMEOUT_MS,
    isShared: config.WORKERS > 1,
    onWarning: (message, err) => log.warn({ err }, message),
    replicaUrls: config.DATABASE_REPLICA_URLS,
    replicaLagMs: config.DATABASE_REPLICA_LAG_MS,
    onReplica: (change) => {
      if (change.serves) log.info(change, 'a replica serves reads')
      else log.warn(change, 'a replica is left out, and the primary serves its reads')
    },
  })
  const measured = observeDatabase(opened, metrics.measure)
  const database = tracing === undefined ? measured : observeDatabase(measured, tracing.measure)
  const access = await createAccess(database, config, log).catch(async (error) => {
    await database.close()
    throw error
  })
  let stopping: Promise<void> | undefined
  const healthTurns = new Turns(HEALTH_AT_ONCE)
  const countWorking = () => connections.working - healthTurns.waiting
  const limits = createLimits(config, access, countWorking, database, log)
  const isStopping = () => stopping !== undefined
  const { app, refuseOverload } = createApp({
    config,
    database,
    access,
    limits,
    metrics,
    tracing,
    connections: () => connections,
    log,
    isStopping,
  })
  const serve = through(app)
  const logRequest = requestLog(log, config.TRUST_PROXY.length > 0, tracing?.traceId)
  const readOff = function (this: ServerResponse) {
    if (!this.req.complete && !this.req.destroyed) readOffSlowly(this.req)
  }
  const begin = (req: IncomingMessage, res: ServerResponse, isRefused: boolean) => {
    // What stands before the path, for proxies (RFC 9112, 3.2.2), would mislead whoever parses it next.
    if (!req.url?.startsWith('/')) req.url = req.url?.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*\/?/i, '/')
    const { url = '' } = req
    const startedMs = performance.now()
    if (stopping !== undefined) res.setHeader('Connection', 'close')
    if (!req.readableEnded) res.prependListener('finish', readOff)
    if (isRefused) {
      // Express's by its prototype: messages.ts.
      refuseOverload(req as Request, res)
      metrics.count(req, res.statusCode)
      return
    }
    res.on('close', () => {
      metrics.count(req, res.writableFinished ? res.statusCode : 'aborted')
      logRequest(res, url, startedMs)
    })
    if (HEALTH.has(url)) healthTurns.run(() => serve(req, res))
    else serve(req, res)
  }
  const behindProxy = config.TRUST_PROXY.length > 0
  const isProxy = app.get('trust proxy fn') as (address: string, hop: number) => boolean
  const connections = new Connections({
    most: config.MAX_CONNECTIONS,
    mostWaiting: config.MAX_WAITING_PER_ADDRESS,
    addressOf: ({ remoteAddress = '' }) =>
      behindProxy && isProxy(remoteAddress, 0) ? undefined : networkOf(remoteAddress),
    callerOf: (req) => callerAddress(req as Request, behindProxy),
    refuses: limits.isTooMuch,
    serve: begin,
  })
  const handle: RequestListener = (req, res) => connections.take(req, res)
  const server = createServer({ ...messagesOf(app, connections), ...TIMES, ...OPTIONS }, handle)
  // A caller who neither reads the answer nor sends what is missing of the request.
  server.setTimeout(SILENCE_MS)
  server.on('connection', (socket: Socket) => connections.open(socket))
  // Who has sent all it will send and closed its half still gets the answer, however long that takes.
  Object.assign(server, { httpAllowHalfOpen: true })
  // An expectation nobody knows may be ignored (RFC 9110, 10.1.1); Node's own answer to it has no body.
  server.on('checkExpectation', handle)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // An answer still to come on this connection would be taken for this one's: better none at all.
    if (connections.owesAnswer(socket)) {
      socket.destroy()
      return
    }
    connections.refused(socket)
    refuseMalformed(error, socket)
  })
  try {
    await listen(server, config)
  } catch (error) {
    limits.close()
    connections.stop()
    await database.close()
    throw error
  }
  const { quota } = limits
  const unshare = quota && isOneOfSeveral(config) ? shareQuota(database, quota, log) : undefined
  const drop = () => {
    dropOldAnswers(database).catch((err: unknown) => log.warn({ err }, 'old idempotency keys were not dropped'))
    if (config.AUDIT_DAYS === 0) return
    dropOldEntries(database, config.AUDIT_DAYS).catch((err: unknown) =>
      log.warn({ err }, 'old entries of the audit log were not dropped'),
    )
  }
  drop()
  const sweep = setInterval(drop, HOUR_MS).unref()

  const stop = async () => {
    clearInterval(sweep)
    // A connection that is refused or closed as a request is on its way loses it: balancers must have gone by then.
    if (config.DRAIN_MS > 0) await sleep(config.DRAIN_MS)
    // Else a connection would stay, and take further requests, until its keep-alive ran out.
    for (const res of connections.answers()) if (!res.headersSent) res.setHeader('Connection', 'close')
    await close(server)
    limits.close()
    connections.stop()
    await unshare?.()
    await database.close()
    await tracing?.stop()
  }
  return {
    url: urlOf(server.address() as AddressInfo),
    stop: () => {
      stopping ??= stop()
      return stopping
    },
    countUnexpected: metrics.countUnexpected,
  }
}

function isTraced({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_SDK_DISABLED }: Config) {
  return (OTEL_EXPORTER_OTLP_ENDPOINT ?? OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) !== undefined && !OTEL_SDK_DISABLED
}

function isOneOfSeveral({ WORKERS, DATABASE_URL }: Config): boolean {
  return WORKERS > 1 || isPostgresUrl(DATABASE_URL)
}

const LISTEN_ADVICE: Record<string, string> = {
  EADDRINUSE: 'The port is in use: set PORT to another, or stop the program that uses it',
  EACCES: 'The port is for privileged users: set PORT to one above 1023',
  EADDRNOTAVAIL: 'This machine does not have the address: set HOST to one that it has',
  ENOTFOUND: 'The name cannot be resolved: set HOST to an address of this machine',
}

function listen(server: Server, { PORT, HOST }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const advice = LISTEN_ADVICE[error.code ?? '']
      reject(advice === undefined ? error : new Error(`${advice} (${HOST}:${PORT}, ${error.code})`))
    })
    server.listen({ port: PORT, host: HOST, backlog: BACKLOG }, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}

// Idle connections are closed at once, busy ones after their answer, stuck ones after a while.
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => server.closeAllConnections(), LONGEST_STOP_MS)
    // Where the answer went before the body had come whole, as with a 413, a connection becomes idle without another.
    const look = setInterval(() => server.closeIdleConnections(), LOOK_MS)
    server.close(() => {
      clearInterval(look)
      clearTimeout(limit)
      resolve()
    })
  })
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

const REFUSALS: Record<string, [number, string]> = {
  HPE_HEADER_OVERFLOW: [431, 'Request header fields are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
}

// What is not HTTP never reaches Express, so its answer is written by hand.
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [code, message] = REFUSALS[error.code ?? ''] ?? [400, 'Malformed HTTP request']
  const body = JSON.stringify(envelope.error.body({ status: code as 400, message, details: '', fields: [] }))
  const head = [
    `HTTP/1.1 ${code} ${message}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
