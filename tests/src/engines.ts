import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeDatabase, type PostgresServer, query, startPostgres } from '@resource/postgres-test'

export const CLI = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url))

/** An empty database, and the engine's own check of it. */
export interface Place extends AsyncDisposable {
  engine: 'SQLite' | 'PostgreSQL'
  url: string
  /** What is wrong with the database, by the engine's own check; undefined when nothing is. */
  check: () => Promise<string | undefined>
}

/** @param folder where the file goes, a temporary one when absent */
export async function sqlitePlace(folder?: string): Promise<Place> {
  const path = folder ?? (await mkdtemp(join(tmpdir(), 'torture-')))
  const url = `file:${join(path, 'resource.db')}`
  return {
    engine: 'SQLite',
    url,
    check: () => faultOf(promisify(execFile)(process.execPath, [CLI, 'check', '--database', url])),
    [Symbol.asyncDispose]: async () => {
      if (folder === undefined) await rm(path, { recursive: true })
    },
  }
}

function faultOf(check: Promise<unknown>): Promise<string | undefined> {
  return check.then(
    () => undefined,
    (error: Error) => error.message,
  )
}

/** A PostgreSQL server of its own, as durable as it comes. */
export async function postgresPlace(): Promise<Place & { server: PostgresServer }> {
  const server = await startPostgres({ fsync: 'on' })
  const url = await makeDatabase(server.url)
  return {
    engine: 'PostgreSQL',
    url,
    server,
    check: () => faultOf(checkPostgres(url)),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Every table and index read to its end, by what PostgreSQL brings for it. */
async function checkPostgres(url: string): Promise<void> {
  await query(url, 'CREATE EXTENSION IF NOT EXISTS amcheck')
  const ours = `relnamespace = 'public'::regnamespace`
  const { rows: torn } = await query(
    url,
    `SELECT relname, msg FROM pg_class, LATERAL verify_heapam(oid) WHERE relkind = 'r' AND ${ours}`,
  )
  if (torn.length > 0) throw new Error(`torn tables: ${JSON.stringify(torn)}`)
  await query(
    url,
    `SELECT bt_index_check(pg_class.oid, heapallindexed => true, checkunique => true) FROM pg_class
     JOIN pg_index ON indexrelid = pg_class.oid JOIN pg_am ON pg_am.oid = relam AND amname = 'btree' WHERE ${ours}`,
  )
  const { rows: invalid } = await query(
    url,
    `SELECT conname AS name FROM pg_constraint WHERE NOT convalidated
     UNION ALL SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid`,
  )
  if (invalid.length > 0) throw new Error(`not valid: ${JSON.stringify(invalid)}`)
}
