import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createDatabase } from '@resource/database'
import { pino } from 'pino'
import { readConfig } from '../process/config.ts'
import { shortened } from '../process/log.ts'
import { startServer } from '../server.ts'
import { type FaultOptions, withFaults } from './faults.ts'
import { type Seed, storeSeed } from './seed.ts'

export interface TestServerOptions extends FaultOptions {
  /** The initial records. */
  seed?: Seed
  /** The path of the service's SQLite file, which must not exist and remains; by default one in a temporary folder. */
  file?: string
  /** Environment variables in addition to `PORT` and `DATABASE_URL`. */
  environment?: Record<string, string>
}

export interface TestServer extends AsyncDisposable {
  /** `http://127.0.0.1:40123` */
  url: string
  /** The URL of the service's SQLite file, for data that no route returns. */
  databaseUrl: string
  /** The service's log so far, one line of JSON per entry. */
  log: string[]
  /** Stops the service and removes its temporary file. `await using` calls it as well. */
  stop: () => Promise<void>
}

/**
 * Starts the real service with its own port and SQLite file, and with optional latency and faults. Front-end tests get real
 * validation and real errors.
 *
 * @throws Error if `seed` violates the contract
 */
export async function createTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { seed, environment, file: given, ...faults } = options
  await using started = new AsyncDisposableStack()
  const file = given ?? join(started.use(await mkdtempDisposable(join(tmpdir(), 'resource-'))).path, 'test.db')
  const databaseUrl = `file:${file}`
  const log: string[] = []
  if (environment?.DATABASE_URL === undefined) {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, await migratedFile())
  }
  if (seed !== undefined) await storeSeed(databaseUrl, seed)
  const config = readConfig({ PORT: '0', DATABASE_URL: databaseUrl, ...environment })
  const logger = pino({ level: 'trace', formatters: { log: shortened } }, { write: (line) => void log.push(line) })
  const { url, stop } = await startServer(config, logger, withFaults(faults))
  started.defer(stop)
  const running = started.move()
  const end = () => running.disposeAsync()
  return { url, databaseUrl, log, stop: end, [Symbol.asyncDispose]: end }
}

let migrated: Promise<Buffer> | undefined

/** A database file without records. Migrating one takes a third of a start's time, so all servers of a process get copies. */
function migratedFile(): Promise<Buffer> {
  migrated ??= (async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'resource-'))
    const file = join(directory.path, 'test.db')
    await (await createDatabase(`file:${file}`)).close()
    return await readFile(file)
  })()
  return migrated
}

export type { FaultOptions, Seed }
