import { tableNames } from '@resource/database/testing'
import { makeDatabase, query } from '@resource/postgres-test'
import type {} from '@resource/postgres-test/vitest'
import { inject } from 'vitest'

// To make one takes PostgreSQL a tenth of a second, so what one test is done with serves the next.
const used: string[] = []

/**
 * A PostgreSQL database without records, where the run is of that engine: vitest.config.ts has one project for each.
 * Undefined on SQLite, where each test server makes a file of its own.
 *
 * @param options `fresh`: one without tables.
 */
export async function postgresDatabase({ fresh = false } = {}) {
  const server = inject('postgres') as string | undefined
  if (server === undefined) return undefined
  const url = (await emptied(fresh ? undefined : used.pop())) ?? (await makeDatabase(server))
  return { url, release: () => void used.push(url) }
}

async function emptied(url: string | undefined): Promise<string | undefined> {
  if (url === undefined) return undefined
  try {
    await query(url, `TRUNCATE ${tableNames.join(', ')} RESTART IDENTITY`)
    return url
  } catch {
    return undefined // A test took a table away.
  }
}
