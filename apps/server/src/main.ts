import cluster from 'node:cluster'
import { databaseLabel } from '@resource/database'
import type { Logger } from 'pino'
import { isLoopback } from './http/loopback.ts'
import { relayMetrics } from './metrics/metrics-of-workers.ts'
import { type Config, readConfig } from './process/config.ts'
import { createLog } from './process/log.ts'
import { catchUnexpected } from './process/uncaught-errors.ts'
import { answerPings, isFirstProcess, runWorkers } from './process/workers.ts'
import { startServer } from './server.ts'

// The maximum time after DRAIN_MS to close connections, the database and the trace exporter.
const MAX_STOP_MS = 15_000

try {
  const config = readConfig()
  const log = createLog(config.LOG_LEVEL)
  if (config.WORKERS > 1 && cluster.isPrimary) {
    relayMetrics()
    const stop = await runWorkers(config.WORKERS, config.WORKER_TIMEOUT_MS, log)
    catchUnexpected(log, { stop, limitMs: config.DRAIN_MS + MAX_STOP_MS })
  } else {
    if (cluster.isWorker) answerPings()
    await serve(config, log)
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
  cluster.worker?.disconnect()
}

async function serve(config: Config, log: Logger): Promise<void> {
  const { url, stop, countUnexpected } = await startServer(config, log)
  catchUnexpected(log, { count: countUnexpected, stop, limitMs: config.DRAIN_MS + MAX_STOP_MS })
  log.info({ url, database: databaseLabel(config.DATABASE_URL) }, `serving at ${url}, documentation at ${url}/docs`)
  if (!isLoopback(config.HOST) && config.TRUST_PROXY.length === 0 && isFirstProcess()) {
    log.warn(
      { host: config.HOST },
      'keys and records cross the network unencrypted: put a TLS-terminating proxy in front of the service',
    )
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, async () => {
      log.info({ signal }, 'stopping')
      await stop()
      cluster.worker?.disconnect()
    })
  }
}
