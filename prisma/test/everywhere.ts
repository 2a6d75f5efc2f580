import type { Engine } from '../scripts/models.ts'
import type { Database, Options } from '../src/index.ts'
import { temporaryDatabase } from './database.ts'
import { temporaryDatabase as temporaryPostgres } from './postgres.ts'

/** A new database, closed at the end of the test. */
export function openDatabase(engine: Engine, options?: Options): Promise<Database & AsyncDisposable> {
  return engine === 'sqlite' ? temporaryDatabase(options) : temporaryPostgres(options)
}
