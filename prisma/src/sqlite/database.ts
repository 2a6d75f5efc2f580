import type { Engine, Limits, Options } from '../database.ts'
import { Unusable } from '../errors.ts'
import { declarations } from '../tables/declarations.ts'
import { SqliteBackground } from './background.ts'
import { SqliteConnection } from './connection.ts'
import { assertWritable, FileGuard } from './file-guard.ts'
import { SqliteReader } from './reader.ts'
import { Wal } from './wal.ts'
import { SqliteWriter } from './writer.ts'

// Other writes wait for it.
const STEP_ROWS = 250

/** A SQLite file through prepared statements: one connection for reads, one that serializes writes. */
export async function openSqlite(file: string, limits: Limits, options: Options): Promise<Engine> {
  const { isShared = false, writeTurns, onWarning } = options
  const background = new SqliteBackground(file, () => wal.synced())
  const reader = new SqliteReader(new SqliteConnection(file, { readonly: true }), background, isShared)
  const connection = new SqliteConnection(file, { syncs: isShared })
  const wal: Wal = new Wal(file, connection, reader, isShared)
  const writer = new SqliteWriter(connection, wal, limits, onWarning, writeTurns)
  // A killed process may have left commits that are not synced to disk.
  await wal.sync()
  const guard = new FileGuard(file, options)

  return {
    stepRows: STEP_ROWS,
    read: reader,
    write: async (work, options) => {
      guard.check()
      const result = await writer.write(work, options)
      guard.check()
      return result
    },
    isOverloaded: (caller) => background.isOverloaded(caller),
    following: { othersVersion: () => wal.othersVersion, settled: () => wal.syncOthers() },
    ping: async () => {
      writer.check()
      assertTables(reader)
      guard.ping()
      await assertWritable(file)
      await writer.ping()
    },
    close: () =>
      guard.close(async () => {
        // The writer last: only a writable connection checkpoints the write-ahead log when it closes.
        reader.close()
        await background.close()
        writer.close()
        await wal.close()
      }),
  }
}

/** @throws Unusable if another program has dropped a table */
function assertTables(reader: SqliteReader): void {
  const names = Object.values(declarations).map(({ name }) => name)
  const text = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN (${names.map(() => '?').join(', ')})`
  if (reader.all({ text, values: names }).length < names.length) throw new Unusable('it lacks a table')
}
