import type { Limits, Options } from './database.ts'
import type { Engine } from './engine.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { SqliteLog } from './sqlite-log.ts'
import { SqliteReader } from './sqlite-reader.ts'
import { SqliteWriter } from './sqlite-writer.ts'

/** A SQLite file by prepared statements: one connection for reads, one where writes take turns. */
export async function openSqlite(
  file: string,
  limits: Limits,
  { isShared = false, onWarning }: Options,
): Promise<Engine> {
  const reader = new SqliteReader(new SqliteConnection(file, { readonly: true }))
  const connection = new SqliteConnection(file, { syncs: isShared })
  const log = new SqliteLog(file, connection, reader, isShared)
  const writer = new SqliteWriter(connection, log, limits, onWarning)
  // A process that was killed may have left what it had committed on its way there.
  await log.sync()

  return {
    read: reader,
    write: (work) => writer.write(work),
    ping: async () => {
      writer.check()
      reader.look()
    },
    close: async () => {
      // The writer last: only a connection that may write folds the write-ahead log back into the file.
      reader.close()
      writer.close()
      await log.close()
    },
  }
}
