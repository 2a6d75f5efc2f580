import { type Engine, engines } from '../scripts/models.ts'
import type { Database, Options } from '../src/index.ts'
import { drivers, temporaryDatabase } from './database.ts'
import { temporaryDatabase as temporaryPostgres } from './postgres.ts'

/** Each engine with each driver, for `describe.each`. */
export const everywhere = engines.flatMap((engine) => drivers.map((driver) => ({ engine, driver })))

/** A new database, closed at the end of the test. */
export function openDatabase(engine: Engine, options: Options): Promise<Database & AsyncDisposable> {
  return engine === 'sqlite' ? temporaryDatabase(options) : temporaryPostgres(options)
}
