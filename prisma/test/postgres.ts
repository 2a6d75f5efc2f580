// The type import declares the value that `inject('postgres')` returns.

import { makeDatabase, query } from '@resource/postgres-test'
import type {} from '@resource/postgres-test/vitest'
import { inject } from 'vitest'
import { createDatabase, type Database, type Options } from '../src/index.ts'
import { readPostgresUrl } from '../src/postgres/url.ts'

type Rows = Record<string, unknown>[]

/** An empty database on the server of the test run, created with `options` of CREATE DATABASE. */
export async function emptyDatabase(options?: string) {
  const url = await makeDatabase(inject('postgres'), options)
  const rows = async (sql: string): Promise<Rows> => (await query(url, sql)).rows
  return {
    url,
    parsed: readPostgresUrl(url),
    rows,
    endConnections: () =>
      rows(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`),
    /** Changes a setting for all later connections. */
    setDefault: (setting: string) => rows(`ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET ${setting}`),
  }
}

let template: Promise<string> | undefined

/** A database with all migrations. To copy one takes a fifth of the CPU time of the migrations. */
export async function migratedDatabase() {
  template ??= makeTemplate()
  return emptyDatabase(`TEMPLATE "${await template}" STRATEGY file_copy`)
}

async function makeTemplate(): Promise<string> {
  const { url } = await emptyDatabase()
  await (await createDatabase(url)).close()
  const name = new URL(url).pathname.slice(1)
  // A pooler keeps its connections, during which a database cannot be copied.
  await query(
    inject('postgres'),
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`,
  )
  return name
}

/** A new migrated database, closed at the end of the test. */
export async function temporaryDatabase(options: Options = {}) {
  const migrated = await migratedDatabase()
  return { ...migrated, ...(await openDatabase(migrated.url, options)) }
}

export async function openDatabase(url: string, options: Options = {}): Promise<Database & AsyncDisposable> {
  const database = await createDatabase(url, options)
  return { ...database, [Symbol.asyncDispose]: () => database.close() }
}
