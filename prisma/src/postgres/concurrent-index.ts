import { setTimeout as sleep } from 'node:timers/promises'
import { quote } from '../tables/sql.ts'
import type { SessionClient } from './session.ts'

const POLL_MS = 1_000
const STATE = `SELECT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid) AS invalid,
  EXISTS (SELECT FROM pg_stat_progress_create_index WHERE index_relid = to_regclass($1)) AS building,
  (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
    WHERE extname = 'pg_trgm') AS trigrams`
const SEARCH = 'gin_trgm_ops'

/** The name of the index that a migration builds concurrently. It is the only statement of its migration. */
export function concurrentIndexIn(sql: string): string | undefined {
  const [, name] = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS "(\w+)" ON "/m.exec(sql) ?? []
  return name
}

/**
 * Builds an index while others read and write, and continues where a killed process stopped. The caller excludes other processes.
 * A search index is skipped where pg_trgm is missing: searches then scan.
 *
 * @param schema that of the table, quoted
 * @param sql the statement that creates the index `name`
 * @throws any error of the statement; the index does not exist then
 */
export async function buildIndex(client: SessionClient, schema: string, name: string, sql: string): Promise<void> {
  const index = `${schema}.${quote(name)}`
  const stateOf = async () => (await client.query(STATE, [index])).rows[0]
  let state = await stateOf()
  // PostgreSQL does not notice at once that the process for which it builds was killed.
  for (; state.building; state = await stateOf()) await sleep(POLL_MS)
  if (sql.includes(SEARCH) && state.trigrams === null) return
  const statement = sql.replace(' ON "', ` ON ${schema}."`).replace(SEARCH, `${state.trigrams}.${SEARCH}`)
  if (state.invalid) await client.runAlone(`DROP INDEX CONCURRENTLY ${index}`)
  try {
    await client.runAlone(statement)
  } catch (error) {
    // What is left of a unique index would refuse writes.
    await client.runAlone(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`).catch(() => {})
    throw error
  }
}
