import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../process/config.ts'
import { startServer } from '../server.ts'
import { type FaultOptions, withFaults } from './faults.ts'
import { type Seed, storeSeed } from './seed.ts'

export interface TestServerOptions extends FaultOptions {
  /** What the service holds from the start. */
  seed?: Seed
  /** Settings by the names of the environment's variables, beside `PORT` and `DATABASE_URL`. */
  environment?: Record<string, string>
}

export interface TestServer extends AsyncDisposable {
  /** `http://127.0.0.1:40123` */
  url: string
  /** Of the service's SQLite file, for what no door shows. */
  databaseUrl: string
  /** What the service has logged, a line of JSON each. */
  log: string[]
  /** Stops the service and removes its file; `await using` does too. */
  stop: () => Promise<void>
}

/**
 * The real service on an address and a SQLite file of its own, as slow and as unreliable as asked: so that the tests of
 * a front-end meet real validation and real errors.
 *
 * @throws Error when `seed` breaks the contract
 */
export async function createTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { seed, environment, ...faults } = options
  const directory = await mkdtemp(join(tmpdir(), 'resource-'))
  const databaseUrl = `file:${join(directory, 'test.db')}`
  const log: string[] = []
  try {
    if (seed !== undefined) await storeSeed(databaseUrl, seed)
    const config = readConfig({ PORT: '0', DATABASE_URL: databaseUrl, ...environment })
    const logger = pino({ level: 'trace' }, { write: (line) => void log.push(line) })
    const { url, stop } = await startServer(config, logger, withFaults(faults))
    const end = async () => {
      await stop()
      await rm(directory, { recursive: true, force: true })
    }
    return { url, databaseUrl, log, stop: end, [Symbol.asyncDispose]: end }
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

export type { FaultOptions, Seed }
