import { constants } from 'node:fs'
import { copyFile, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createDatabase } from '@resource/database'
import Sqlite from 'better-sqlite3'
import { firstTime, seedStatements } from '../records.ts'
import type { Engine } from './engine.ts'
import { warm } from './warm.ts'

/** Stores one SQLite file per copy in `folder`. */
export async function openSqlite(folder: string): Promise<Engine> {
  const template = (rows: number) => join(folder, `seed-${rows}.db`)
  return {
    name: 'sqlite',
    version: new Sqlite(':memory:').prepare<[], string>('SELECT sqlite_version()').pluck().get() as string,

    seed: async (rows) => {
      const database = await createDatabase(`file:${template(rows)}`)
      await database.close()
      fill(template(rows), rows)
    },

    copy: async (rows, name) => {
      const file = join(folder, `${name}-${rows}.db`)
      await copyFile(template(rows), file, constants.COPYFILE_FICLONE)
      await sync(file)
      const side = new Sqlite(file, { timeout: 10_000 })
      return {
        url: `file:${file}`,
        trim: async () => {
          side.exec(`DELETE FROM users WHERE id > ${rows}; DELETE FROM books WHERE id > ${rows}`)
        },
        query: async (sql) => side.prepare<[], object>(sql).all(),
        warm: () => warm([file]),
        [Symbol.asyncDispose]: async () => {
          side.close()
          await rm(file)
        },
      }
    },

    [Symbol.asyncDispose]: async () => {},
  }
}

/** Syncs the file, so that the writeback of hundreds of megabytes does not happen during the measurement. */
async function sync(file: string): Promise<void> {
  await using handle = await open(file)
  await handle.sync()
}

function fill(file: string, rows: number): void {
  const db = new Sqlite(file)
  // Durability does not matter until the file is complete. Building an index over existing rows is faster than updating it.
  db.pragma('journal_mode = MEMORY')
  db.pragma('synchronous = OFF')
  const indexes = db
    .prepare<[], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_schema
       WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('users', 'books', 'items')`,
    )
    .all()
  for (const { name } of indexes) db.exec(`DROP INDEX "${name}"`)
  const numbers = `WITH RECURSIVE counter(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < ${rows}) SELECT n FROM counter`
  for (const statement of seedStatements(numbers, `${firstTime} + n * 1000`)) db.exec(statement)
  for (const { sql } of indexes) db.exec(sql)
  db.pragma('journal_mode = WAL')
  db.close()
}
