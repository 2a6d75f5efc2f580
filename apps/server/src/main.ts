import { pino } from 'pino'
import { readConfig } from './config.ts'
import { startServer } from './http/server.ts'

try {
  const config = readConfig()
  const log = pino({ level: config.LOG_LEVEL })
  const { url, stop } = await startServer(config, log)
  log.info({ url, database: config.DATABASE_URL }, `serving at ${url}, documentation at ${url}/docs`)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, async () => {
      log.info({ signal }, 'stopping')
      await stop()
    })
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
