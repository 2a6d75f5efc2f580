import { isPgBouncerInstalled, startPgBouncer } from '@resource/postgres-test/pgbouncer'
import pg from 'pg'
import { expect, test } from 'vitest'
import { emptyDatabase, migratedDatabase, openDatabase } from '../../test/postgres.ts'
import { Conflict } from '../errors.ts'
import { SessionClient } from './session.ts'
import { openPrepared } from './transaction.ts'

test.skipIf(!isPgBouncerInstalled)(
  'a start-up parameter that PgBouncer refuses ends the start with its name and the setting (needs PgBouncer)',
  async () => {
    const url = new URL((await emptyDatabase()).url)
    await using bouncer = await startPgBouncer(Number(url.port))
    url.port = String(bouncer.port)
    url.search = '?options=-c%20work_mem%3D64MB'
    await expect(openDatabase(url.href)).rejects.toThrow(
      'unsupported startup parameter: options. Remove options from DATABASE_URL, or add it to ignore_startup_parameters in pgbouncer.ini.',
    )
  },
)

test.skipIf(!isPgBouncerInstalled)(
  'behind a pooler that is not detected, every statement returns its own result, and none fails but for repeated transactions (needs PgBouncer)',
  async () => {
    const { url, rows } = await migratedDatabase()
    await rows('INSERT INTO items (name, name_key, price) SELECT n, n, n FROM generate_series(1, 9) n')
    const through = new URL(url)
    await using bouncer = await startPgBouncer(Number(through.port), { default_pool_size: '2' })
    through.port = String(bouncer.port)
    // Without `useSettings`, a connection takes the server for its own.
    const drivers = Array.from({ length: 2 }, () => {
      const pool = new pg.Pool({ connectionString: through.href, Client: SessionClient })
      return { pool, ...openPrepared(pool, 60_000) }
    })
    let conflicts = 0
    const repeated = async <T>(work: () => Promise<T>): Promise<T> => {
      for (;;) {
        try {
          return await work()
        } catch (error) {
          if (!(error instanceof Conflict) || ++conflicts > 20) throw error
        }
      }
    }
    const texts = ['SELECT name', 'SELECT price AS name', 'SELECT id AS name', 'SELECT version AS name']
    const run = async (turn: number) => {
      const { executor, transaction } = drivers[turn % 2] as (typeof drivers)[number]
      const id = (turn % 9) + 1
      const kind = Math.floor(turn / 8) % 4
      const statement = { text: `${texts[kind]} FROM items WHERE id = ?`, values: [id] }
      const expected = [{ name: [String(id), id, id, 1][kind] }]
      expect(await executor.all(statement)).toEqual(expected)
      expect(await repeated(() => transaction(async (tx) => tx.all(statement), undefined))).toEqual(expected)
    }
    await Promise.all(
      Array.from({ length: 8 }, async (_, first) => {
        for (let turn = first; turn < 400; turn += 8) await run(turn)
      }),
    )
    for (const { pool } of drivers) await pool.end()
  },
)
