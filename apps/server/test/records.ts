import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createDatabase, type Database } from '@resource/database'
import { query } from '@resource/postgres-test'
import { expect } from 'vitest'
import type { TestServer } from './harness.ts'

/** Matches any timestamp of the service: UTC, milliseconds, `Z`. */
export const aTimestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

type Fields = Record<string, unknown>

/** Creates a user through the simple API and returns the whole public record. */
export async function createUser(server: TestServer, fields: Fields = {}) {
  return create(server, '/users', { name: 'Ada', email: 'ada@example.com', ...fields })
}

export async function createBook(server: TestServer, fields: Fields = {}) {
  return create(server, '/books', { title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01', ...fields })
}

export async function createItem(server: TestServer, fields: Fields = {}) {
  return (await create(server, '/items/', { name: 'Lamp', price: 24.5, ...fields })).item
}

/** Creates a key and returns its record with the key. */
export async function createKey(server: TestServer, fields: Fields = {}) {
  return create(server, '/api/keys', { name: 'test', role: 'admin', ...fields })
}

async function create(server: TestServer, path: string, json: Fields) {
  const { status, body } = await server.request('POST', path, { json })
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

/** The JSON of `count` users: `User 1` with `user1@example.com`, and so on. */
export function someUsers(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    name: `User ${index + 1}`,
    email: `user${index + 1}@example.com`,
  }))
}

/** A second connection to the database of the service. */
export async function openDatabase(server: TestServer): Promise<Database & AsyncDisposable> {
  const database = await createDatabase(server.databaseUrl)
  return { ...database, [Symbol.asyncDispose]: () => database.close() }
}

/** Drops a table directly in the database, so that requests that use it fail. */
export async function dropTable(server: TestServer, table: string): Promise<void> {
  const isSqlite = server.databaseUrl.startsWith('file:')
  await executeSql(server, isSqlite ? `DROP TABLE ${table}` : `DROP TABLE ${table} CASCADE`)
}

// In a separate process: a second copy of SQLite in the process of the server would release the locks of the first.
const EXECUTE = `
  const sqlite = new (require('node:sqlite').DatabaseSync)(process.argv[1], { enableForeignKeyConstraints: false })
  // The service may be writing.
  sqlite.exec('PRAGMA busy_timeout = 10000')
  sqlite.exec(process.argv[2])
  sqlite.close()`

/** Executes a statement in the database of a server. */
export async function executeSql({ databaseUrl }: TestServer, sql: string): Promise<void> {
  if (!databaseUrl.startsWith('file:')) return void (await query(databaseUrl, sql))
  await promisify(execFile)(process.execPath, ['-e', EXECUTE, databaseUrl.slice('file:'.length), sql])
}
