import { quote } from '../tables/sql.ts'
import type { SessionClient } from './session.ts'

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
 * @returns false while PostgreSQL still builds it for a process that was killed, which it does not notice at once. It may wait for
 * the transaction of the caller, who must end it and try again
 * @throws any error of the statement; the index does not exist then
 */
export async function buildIndex(client: SessionClient, schema: string, name: string, sql: string): Promise<boolean> {
  const index = `${schema}.${quote(name)}`
  const [state] = (await client.query(STATE, [index])).rows
  if (state.building) return false
  if (sql.includes(SEARCH) && state.trigrams === null) return true
  const statement = sql.replace(' ON "', ` ON ${schema}."`).replace(SEARCH, `${state.trigrams}.${SEARCH}`)
  if (state.invalid) await client.runAlone(`DROP INDEX CONCURRENTLY ${index}`)
  try {
    await client.runAlone(statement)
    return true
  } catch (error) {
    // What is left of a unique index would refuse writes.
    await client.runAlone(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`).catch(() => {})
    throw error
  }
}
