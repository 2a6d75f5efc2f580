import cluster from 'node:cluster'
import { databaseLabel } from '@resource/database'
import type { Logger } from 'pino'
import { type Config, readConfig } from './config.ts'
import { startServer } from './http/server.ts'
import { createLog } from './log.ts'
import { runWorkers } from './workers.ts'

try {
  const config = readConfig()
  const log = createLog(config.LOG_LEVEL)
  if (config.WORKERS > 1 && cluster.isPrimary) await runWorkers(config.WORKERS, log)
  else await serve(config, log)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
  cluster.worker?.disconnect()
}

async function serve(config: Config, log: Logger): Promise<void> {
  const { url, stop } = await startServer(config, log)
  log.info({ url, database: databaseLabel(config.DATABASE_URL) }, `serving at ${url}, documentation at ${url}/docs`)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, async () => {
      log.info({ signal }, 'stopping')
      await stop()
      cluster.worker?.disconnect()
    })
  }
}
