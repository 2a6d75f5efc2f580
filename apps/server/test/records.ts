import { DatabaseSync } from 'node:sqlite'
import { createDatabase, type Database } from '@resource/database'
import { query } from '@resource/postgres-test'
import { expect } from 'vitest'
import type { TestServer } from './harness.ts'

/** Any timestamp of the service: UTC, milliseconds, `Z`. */
export const aTimestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

type Fields = Record<string, unknown>

/** Creates a user at the simple door and gives the whole public record. */
export async function createUser(server: TestServer, fields: Fields = {}) {
  return create(server, '/users', { name: 'Ada', email: 'ada@example.com', ...fields })
}

export async function createBook(server: TestServer, fields: Fields = {}) {
  return create(server, '/books', { title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01', ...fields })
}

export async function createItem(server: TestServer, fields: Fields = {}) {
  return (await create(server, '/items/', { name: 'Lamp', price: 24.5, ...fields })).item
}

/** Creates a key and gives what is told of it, the key itself included. */
export async function createKey(server: TestServer, fields: Fields = {}) {
  return create(server, '/api/keys', { name: 'test', role: 'admin', ...fields })
}

async function create(server: TestServer, path: string, json: Fields) {
  const { status, body } = await server.request('POST', path, { json })
  expect(status, JSON.stringify(body)).toBe(201)
  return body
}

/** `count` users as a request sends them: `User 1` with `user1@example.com`, and so on. */
export function someUsers(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    name: `User ${index + 1}`,
    email: `user${index + 1}@example.com`,
  }))
}

/** The service's own database, opened beside it. */
export async function openDatabase(server: TestServer): Promise<Database & AsyncDisposable> {
  const database = await createDatabase(server.databaseUrl)
  return { ...database, [Symbol.asyncDispose]: () => database.close() }
}

/** Breaks the service's database, past the service. */
export async function dropTable({ databaseUrl }: TestServer, table: string): Promise<void> {
  if (!databaseUrl.startsWith('file:')) {
    await query(databaseUrl, `DROP TABLE ${table} CASCADE`)
    return
  }
  const sqlite = new DatabaseSync(databaseUrl.slice('file:'.length), { enableForeignKeyConstraints: false })
  sqlite.exec(`DROP TABLE ${table}`)
  sqlite.close()
}
