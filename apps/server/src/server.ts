import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase, isPostgresUrl } from '@resource/database'
import type { Request } from 'express'
import type { Logger } from 'pino'
import { createAccess } from './access/access.ts'
import { deleteExpiredSessions } from './access/sessions.ts'
import { createApp } from './app.ts'
import { deleteOldEntries } from './audit/retention.ts'
import { Followers } from './changes/followers.ts'
import { Tailer } from './changes/tailer.ts'
import { Connections, sentStatus } from './connections/connections.ts'
import { close, createHttpServer, drainBody, listen, refuseVersion } from './connections/http-server.ts'
import { MONITORING_PATHS } from './http/health.ts'
import { newRequestId } from './http/request-id.ts'
import { requestLog } from './http/request-log.ts'
import { sampledLog } from './http/sampled-log.ts'
import { createLimits } from './limits/limits.ts'
import { RequestQueue } from './limits/request-queue.ts'
import { shareQuota } from './limits/shared-quota.ts'
import { createMetrics } from './metrics/metrics.ts'
import type { Config } from './process/config.ts'
import { isFirstProcess } from './process/workers.ts'
import { writeTurns } from './process/write-turns.ts'
import { deleteExpiredKeys } from './store/idempotency.ts'

const HOUR_MS = 60 * 60 * 1000

export interface RunningServer {
  /** `http://127.0.0.1:3000` */
  url: string
  /** Whether requests need no credentials, because no key exists. */
  isOpen: boolean
  /**
   * Stops gracefully: `/readyz` fails, requests are served until `DRAIN_MS` have passed, then the server stops listening,
   * finishes open requests and closes the database. Idempotent.
   */
  stop: () => Promise<void>
  /** Counts an error outside any request. */
  countUnexpected: () => void
}

/**
 * Opens the database and serves.
 *
 * @param through wraps the request handler; tests inject faults here
 * @throws Error if the database cannot be opened, the address is in use, or the service would be open to everyone
 */
export async function startServer(
  config: Config,
  log: Logger,
  through: (handle: RequestListener) => RequestListener = (handle) => handle,
): Promise<RunningServer> {
  const metrics = createMetrics()
  // Loaded on demand, because the OpenTelemetry SDK costs memory and startup time.
  const tracing = isTraced(config) ? (await import('./tracing/tracing.ts')).startTracing(config, log) : undefined
  const database = await createDatabase(config.DATABASE_URL, {
    poolSize: config.DATABASE_POOL_SIZE,
    connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: config.DATABASE_STATEMENT_TIMEOUT_MS,
    allowUntested: config.ALLOW_UNTESTED_DATABASE,
    isShared: config.WORKERS > 1,
    writeTurns: writeTurns(),
    mustExist: !isFirstProcess(),
    onWarning: (message, err) => log.warn({ err }, message),
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
  const limits = createLimits(config, access, () => connections.working, database, log)
  const isStopping = () => stopping !== undefined
  const logUnread = sampledLog(log, 'warn', 60_000, 'changes still cannot be read')
  const tailer = new Tailer(database, (err) => logUnread('', {}, { err }, 'changes cannot be read'))
  const followers = new Followers(tailer, config.MAX_STREAMS, access.invalidate)
  const queue = new RequestQueue(config.MAX_DELAY_MS)
  const { app, refuseOverload, refuseTarget } = createApp({
    config,
    database,
    access,
    limits,
    followers,
    metrics,
    tracing,
    connections: () => connections,
    queue,
    log,
    isStopping,
  })
  const serve = through(app)
  const logRequest = requestLog(log, config.TRUST_PROXY.length > 0, tracing?.traceId)
  const take = (req: IncomingMessage, res: ServerResponse, begin: () => void) => {
    const hasPath = req.url?.startsWith('/') || takeAbsoluteTarget(req)
    const { url = '' } = req
    const arrivedMs = performance.now()
    let isRefused = false
    if (stopping !== undefined) res.setHeader('Connection', 'close')
    if (!req.readableEnded) res.prependListener('finish', drainBody)
    res.on('close', () => {
      metrics.count(req, sentStatus(res) ?? 'aborted')
      if (!isRefused) logRequest(res, url, arrivedMs)
    })
    const start = (isLate: boolean) => {
      isRefused = limits.isOverloaded(req as Request, res, isLate)
      begin()
      // An Express request by its prototype: see http-server.ts.
      if (isRefused) refuseOverload(req as Request, res)
      else if (req.httpVersionMajor !== 1) refuseVersion(res, newRequestId())
      else if (hasPath) serve(req, res)
      else refuseTarget(req as Request, res)
    }
    const isMonitor = isMonitoring(req)
    if (queue.hasTime(arrivedMs, isMonitor)) return start(false)
    queue.add({ caller: limits.queueKey(req as Request), arrivedMs, isGone: () => res.destroyed, serve: start })
    if (isMonitor) connections.readMonitorsInTurns()
  }
  const connections = new Connections({ max: config.MAX_CONNECTIONS, isMonitoring, take })
  const server = createHttpServer(app, connections, newRequestId)
  server.on('connection', () => queue.accepted())
  let url: string
  try {
    url = await listen(server, config)
  } catch (error) {
    followers.tailer.close()
    await database.close()
    throw error
  }
  const { quota } = limits
  const unshare = quota && sharesDatabase(config) ? shareQuota(database, quota, log) : undefined
  const deleteExpired = () => {
    const warn = (what: string) => (err: unknown) => log.warn({ err }, `could not delete ${what}`)
    deleteExpiredKeys(database).catch(warn('expired idempotency keys'))
    deleteExpiredSessions(database, config).catch(warn('expired sessions'))
    if (config.AUDIT_DAYS === 0) return
    deleteOldEntries(database, config.AUDIT_DAYS).catch(warn('old audit entries'))
  }
  deleteExpired()
  const sweep = setInterval(deleteExpired, HOUR_MS).unref()

  const stop = async () => {
    clearInterval(sweep)
    followers.close()
    // A request sent while its connection closes is lost, so load balancers get time to stop sending requests.
    if (config.DRAIN_MS > 0) await sleep(config.DRAIN_MS)
    // Otherwise connections would stay open for further requests until their keep-alive timeout.
    for (const res of connections.responses()) if (!res.headersSent) res.setHeader('Connection', 'close')
    await close(server, connections)
    await unshare?.()
    followers.tailer.close()
    await database.close()
    await tracing?.stop()
  }
  return {
    url,
    isOpen: access.wasOpen,
    stop: () => {
      stopping ??= stop()
      return stopping
    },
    countUnexpected: metrics.countUnexpected,
  }
}

function isMonitoring({ url = '' }: IncomingMessage): boolean {
  return MONITORING_PATHS.has(url)
}

/**
 * An absolute-form target replaces the Host (RFC 9112, 3.2.2). Later code would parse it as a path.
 *
 * @returns whether the target is an http or https URL, or `*`
 */
function takeAbsoluteTarget(req: IncomingMessage): boolean {
  const { url = '' } = req
  req.url = url.replace(/^https?:\/\/([^/?#]*)\/?/i, (_, host: string) => {
    req.headers.host = host
    return '/'
  })
  return req.url !== url || url === '*'
}

function isTraced({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_SDK_DISABLED }: Config) {
  return (OTEL_EXPORTER_OTLP_ENDPOINT ?? OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) !== undefined && !OTEL_SDK_DISABLED
}

function sharesDatabase({ WORKERS, DATABASE_URL }: Config): boolean {
  return WORKERS > 1 || isPostgresUrl(DATABASE_URL)
}
