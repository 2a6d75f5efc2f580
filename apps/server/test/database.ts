import { tableNames } from '@resource/database/testing'
import { makeDatabase, query } from '@resource/postgres-test'
import type {} from '@resource/postgres-test/vitest'
import { inject } from 'vitest'

// PostgreSQL needs 0.1 s to create a database, so later tests reuse those of finished ones.
const released: string[] = []

/**
 * A PostgreSQL database without records in runs of that engine: vitest.config.ts has one project for each. Undefined on
 * SQLite, where each test server creates its own file.
 *
 * @param options `fresh`: a database without tables.
 */
export async function postgresDatabase({ fresh = false } = {}) {
  const server = inject('postgres') as string | undefined
  if (server === undefined) return undefined
  const url = (await emptied(fresh ? undefined : released.pop())) ?? (await makeDatabase(server))
  return { url, release: () => void released.push(url) }
}

const SIZE = `SELECT sum(pg_table_size(oid)) AS size FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`
const TRUNCATE = `TRUNCATE ${tableNames.join(', ')} RESTART IDENTITY`
// TRUNCATE makes new files for each table and index, which takes several times as long. References are not checked meanwhile.
const DELETE = `SET session_replication_role = replica; ${tableNames.map((table) => `DELETE FROM ${table};`).join('')}
  SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) FROM pg_sequences`
// Deleted rows slow down later tests only if there are many.
const MAX_BYTES = 2 ** 21

async function emptied(url: string | undefined): Promise<string | undefined> {
  if (url === undefined) return undefined
  try {
    const { rows } = await query(url, SIZE)
    await query(url, rows[0].size > MAX_BYTES ? TRUNCATE : DELETE)
    return url
  } catch {
    return undefined // A test has dropped a table.
  }
}
