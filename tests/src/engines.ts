import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeDatabase, type PostgresServer, query, startPostgres } from '@resource/postgres-test'

export const CLI = fileURLToPath(new URL('../../apps/cli/src/main.mjs', import.meta.url))

/** A temporary database, empty at first. */
export interface TestDatabase extends AsyncDisposable {
  engine: 'SQLite' | 'PostgreSQL'
  url: string
  /** Runs the engine's integrity check. Returns its error message, or undefined when the database is sound. */
  check: () => Promise<string | undefined>
}

/** @param folder of the database file; default: a temporary folder, deleted on disposal */
export async function sqliteTestDatabase(folder?: string): Promise<TestDatabase> {
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

/** A separate PostgreSQL server with durable commits (`fsync=on`). */
export async function postgresTestDatabase(): Promise<TestDatabase & { server: PostgresServer }> {
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

/** Reads every table and index with amcheck, and looks for invalid constraints and indexes. */
async function checkPostgres(url: string): Promise<void> {
  await query(url, 'CREATE EXTENSION IF NOT EXISTS amcheck')
  const inPublic = `relnamespace = 'public'::regnamespace`
  const { rows: corrupt } = await query(
    url,
    `SELECT relname, msg FROM pg_class, LATERAL verify_heapam(oid) WHERE relkind = 'r' AND ${inPublic}`,
  )
  if (corrupt.length > 0) throw new Error(`corrupt tables: ${JSON.stringify(corrupt)}`)
  await query(
    url,
    `SELECT bt_index_check(pg_class.oid, heapallindexed => true, checkunique => true) FROM pg_class
     JOIN pg_index ON indexrelid = pg_class.oid JOIN pg_am ON pg_am.oid = relam AND amname = 'btree' WHERE ${inPublic}`,
  )
  const { rows: invalid } = await query(
    url,
    `SELECT conname AS name FROM pg_constraint WHERE NOT convalidated
     UNION ALL SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid`,
  )
  if (invalid.length > 0) throw new Error(`invalid constraints or indexes: ${JSON.stringify(invalid)}`)
}
