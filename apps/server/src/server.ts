import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase, isPostgresUrl } from '@resource/database'
import type { Request } from 'express'
import type { Logger } from 'pino'
import { createAccess } from './access/access.ts'
import { createApp } from './app.ts'
import { dropOldEntries } from './audit/retention.ts'
import { Connections } from './connections/connections.ts'
import { close, createHttpServer, drainBody, listen } from './connections/http-server.ts'
import { Turns } from './connections/line.ts'
import { callerAddress, networkOf } from './http/address.ts'
import { HEALTH } from './http/health.ts'
import { requestLog } from './http/request-log.ts'
import { createLimits } from './limits/limits.ts'
import { shareQuota } from './limits/sharing.ts'
import { createMetrics } from './metrics/metrics.ts'
import type { Config } from './process/config.ts'
import { dropOldAnswers } from './store/idempotency.ts'

const HOUR_MS = 60 * 60 * 1000

// They are refused to nobody, and must not keep others waiting.
const HEALTH_AT_ONCE = 8

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
  const tracing = isTraced(config) ? (await import('./tracing/tracing.ts')).startTracing(config, log) : undefined
  const database = await createDatabase(config.DATABASE_URL, {
    driver: config.DATABASE_DRIVER,
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
    around:
      tracing === undefined
        ? metrics.measure
        : (operation, table, run) => tracing.measure(operation, table, () => metrics.measure(operation, table, run)),
  })
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
  const begin = (req: IncomingMessage, res: ServerResponse, isRefused: boolean) => {
    // What stands before the path, for proxies (RFC 9112, 3.2.2), would mislead whoever parses it next.
    if (!req.url?.startsWith('/')) req.url = req.url?.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*\/?/i, '/')
    const { url = '' } = req
    const startedMs = performance.now()
    if (stopping !== undefined) res.setHeader('Connection', 'close')
    if (!req.readableEnded) res.prependListener('finish', drainBody)
    if (isRefused) {
      // Express's by its prototype: http-server.ts.
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
  const server = createHttpServer(app, connections)
  let url: string
  try {
    url = await listen(server, config)
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
    url,
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
