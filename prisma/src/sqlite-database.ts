import type { Database, Limits } from './index.ts'
import { sqlTables } from './sql-table.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { SqliteWriter } from './sqlite-writer.ts'

const PING = { text: 'SELECT 1 FROM sqlite_schema LIMIT 1', values: [] }

/** A SQLite file by prepared statements: one connection for reads, one where writes take turns. */
export function openSqlite(file: string, limits: Limits): Database {
  const reader = new SqliteConnection(file, { readonly: true })
  const writer = new SqliteWriter(new SqliteConnection(file), limits)
  const read = sqlTables(reader)

  return {
    read,
    recent: () => read,
    write: (work) => writer.write(work),
    ping: async () => void reader.all(PING),
    close: async () => {
      // The writer last: only a connection that may write folds the write-ahead log back into the file.
      reader.close()
      writer.close()
    },
  }
}
