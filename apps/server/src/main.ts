import cluster from 'node:cluster'
import { API_TITLE, API_VERSION } from '@resource/contract'
import { databaseLabel } from '@resource/database'
import type { Logger } from 'pino'
import { isLoopback } from './http/loopback.ts'
import { relayMetrics } from './metrics/metrics-of-workers.ts'
import { type Config, readConfig } from './process/config.ts'
import { createLog } from './process/log.ts'
import { greets } from './process/log-text.ts'
import { catchUnexpected } from './process/uncaught-errors.ts'
import { answerPings, isFirstProcess, runWorkers } from './process/workers.ts'
import { giveWriteTurns } from './process/write-turns.ts'
import { startServer } from './server.ts'

// The maximum time after DRAIN_MS to close connections, the database and the trace exporter.
const MAX_STOP_MS = 15_000

try {
  const config = readConfig()
  const log = createLog(config.LOG_LEVEL)
  if (config.WORKERS > 1 && cluster.isPrimary) {
    relayMetrics()
    giveWriteTurns()
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
  const isGreeting = greets(log)
  if (isGreeting && isFirstProcess()) process.stdout.write('Migrating the database, if it is older than the service\n')
  const { url, isOpen, stop, countUnexpected } = await startServer(config, log)
  catchUnexpected(log, { count: countUnexpected, stop, limitMs: config.DRAIN_MS + MAX_STOP_MS })
  const database = databaseLabel(config.DATABASE_URL)
  if (!isGreeting) log.info({ url, database }, `serving at ${url}, documentation at ${url}/docs`)
  else if (isFirstProcess()) process.stdout.write(welcome(url, database, isOpen))
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

/** What a person reads on the terminal: where the service is, where to work with it, and what to do next. */
function welcome(url: string, database: string, isOpen: boolean): string {
  const next = isOpen
    ? 'create an administrator key in the console; until then, anyone who can reach this port can change everything'
    : 'log in to the console with an API key'
  return `
${API_TITLE} ${API_VERSION} serves ${database} at ${url}
Console: ${url}/console
Next: ${next}. Ctrl+C stops the service.

`
}
