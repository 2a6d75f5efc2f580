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
  const url = (await truncated(fresh ? undefined : released.pop())) ?? (await makeDatabase(server))
  return { url, release: () => void released.push(url) }
}

/** The URL of a database without the pooler that a run may have. */
export function unpooled(databaseUrl: string): string {
  const port = inject('unpooledPort')
  if (port === undefined) return databaseUrl
  const url = new URL(databaseUrl)
  url.port = String(port)
  return url.href
}

// TRUNCATE replaces the files of a table and its indexes, also empty ones: of all tables it takes three times as long.
const TRUNCATE_WRITTEN = `DO $$
  DECLARE written text;
  BEGIN
    SELECT string_agg(name, ', ') INTO written
      FROM unnest(ARRAY['${tableNames.join("', '")}']) AS name WHERE pg_relation_size(name::regclass) > 0;
    IF written IS NOT NULL THEN EXECUTE 'TRUNCATE ' || written || ' CASCADE'; END IF;
    PERFORM setval(seqrelid, seqstart, false) FROM pg_sequence;
  END $$`

async function truncated(url: string | undefined): Promise<string | undefined> {
  if (url === undefined) return undefined
  try {
    await query(url, TRUNCATE_WRITTEN)
    return url
  } catch {
    return undefined // A test has dropped a table.
  }
}
