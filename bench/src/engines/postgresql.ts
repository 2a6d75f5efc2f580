import { createDatabase } from '@resource/database'
import { query as queryAt, startPostgres } from '@resource/postgres-test'
import { firstTime, seedStatements } from '../records.ts'
import type { Engine } from './engine.ts'
import { warm } from './warm.ts'

/** Starts a PostgreSQL server with one database per copy. */
export async function openPostgresql(): Promise<Engine> {
  const server = await startPostgres({ fsync: 'on', shared_buffers: '512MB', max_wal_size: '4GB' })
  const urlOf = (database: string) => server.url.replace(/postgres$/, database)
  const query = (database: string, text: string) => queryAt(urlOf(database), text)
  const { rows } = await query('postgres', 'SHOW server_version')
  return {
    name: 'postgresql',
    version: rows[0].server_version,

    seed: async (rows) => {
      const name = `seed_${rows}`
      await query('postgres', `CREATE DATABASE ${name} TEMPLATE template0`)
      const database = await createDatabase(urlOf(name))
      await database.close()
      // Building an index over existing rows is faster than updating it on each insert.
      const { rows: indexes } = await query(
        name,
        `SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ('users', 'books', 'items')
           AND indexname NOT IN (SELECT conname FROM pg_constraint)`,
      )
      for (const { indexname } of indexes) await query(name, `DROP INDEX "${indexname}"`)
      const numbers = `SELECT generate_series(1, ${rows}) AS n`
      const timestamp = `timestamp 'epoch' + (${firstTime} / 1000 + n) * interval '1 second'`
      for (const statement of seedStatements(numbers, timestamp)) await query(name, statement)
      for (const { indexdef } of indexes) await query(name, indexdef)
      for (const table of ['users', 'books', 'items']) {
        await query(name, `SELECT setval(pg_get_serial_sequence('${table}', 'id'), ${rows})`)
      }
      await query(name, 'VACUUM ANALYZE')
    },

    copy: async (rows, program) => {
      const name = `${program.replace('-', '_')}_${rows}`
      await query('postgres', `CREATE DATABASE ${name} TEMPLATE seed_${rows} STRATEGY FILE_COPY`)
      const { rows: files } = await query(
        name,
        `WITH tables AS (SELECT oid FROM pg_class WHERE relname IN ('users', 'books', 'items') AND relkind = 'r')
         SELECT current_setting('data_directory') || '/' || pg_relation_filepath(oid) AS path FROM (
           SELECT oid FROM tables UNION ALL SELECT indexrelid FROM pg_index WHERE indrelid IN (SELECT oid FROM tables)
         ) AS relations(oid)`,
      )
      return {
        url: urlOf(name),
        trim: async () => {
          await query(name, `DELETE FROM users WHERE id > ${rows}; DELETE FROM books WHERE id > ${rows}`)
        },
        query: async (sql) => (await query(name, sql)).rows,
        warm: () => warm(files.map(({ path }) => path)),
        [Symbol.asyncDispose]: async () => {
          await query('postgres', `DROP DATABASE ${name} WITH (FORCE)`)
        },
      }
    },

    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
