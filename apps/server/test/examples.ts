import { expect } from 'vitest'
import { createDocument } from '../src/document.ts'
import type { TestServer } from './harness.ts'
import { createBook, createItem, createKey, createUser } from './records.ts'

export interface Example {
  method: string
  path: string
  json?: unknown
}

const ada = { name: 'Ada', email: 'ada@example.com' }
const bob = { name: 'Bob', email: 'bob@example.com' }
const emma = { title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' }
const chair = { name: 'Chair', price: 80 }

/** A request that succeeds, for each operation, where user 1, book 1, item 1 and key 2 exist. */
const examples: Record<string, Example> = {
  listUsers: { method: 'GET', path: '/api/users' },
  createUser: { method: 'POST', path: '/api/users', json: bob },
  deleteUsersByStatus: { method: 'DELETE', path: '/api/users?status=active' },
  listWholeUsers: { method: 'GET', path: '/users' },
  createWholeUser: { method: 'POST', path: '/users', json: bob },
  listUsernames: { method: 'GET', path: '/api/users/' },
  createUserAtSlash: { method: 'POST', path: '/api/users/', json: bob },
  getUser: { method: 'GET', path: '/api/users/1' },
  replaceUser: { method: 'PUT', path: '/api/users/1', json: { ...ada, name: 'Ada L.', role: 'user' } },
  updateUser: { method: 'PATCH', path: '/api/users/1', json: { name: 'Ada L.' } },
  deleteUser: { method: 'DELETE', path: '/api/users/1' },
  getWholeUser: { method: 'GET', path: '/users/1' },
  mergeUser: { method: 'PUT', path: '/users/1', json: { name: 'Ada L.' } },
  deleteWholeUser: { method: 'DELETE', path: '/users/1' },
  getUserAtSlash: { method: 'GET', path: '/api/users/1/' },
  replaceUserAtSlash: { method: 'PUT', path: '/api/users/1/', json: { ...ada, name: 'Ada L.' } },
  updateUserAtSlash: { method: 'PATCH', path: '/api/users/1/', json: { name: 'Ada L.' } },
  deleteUserAtSlash: { method: 'DELETE', path: '/api/users/1/' },
  createUsers: { method: 'POST', path: '/api/users/bulk', json: [bob] },
  setUserStatus: { method: 'PATCH', path: '/api/users/1/status', json: { status: 'inactive' } },
  listBooks: { method: 'GET', path: '/books' },
  createBook: { method: 'POST', path: '/books', json: emma },
  createBooks: { method: 'POST', path: '/books/bulk', json: [emma] },
  getBook: { method: 'GET', path: '/books/1' },
  replaceBook: { method: 'PUT', path: '/books/1', json: emma },
  deleteBook: { method: 'DELETE', path: '/books/1' },
  listItems: { method: 'GET', path: '/items/' },
  createItem: { method: 'POST', path: '/items/', json: chair },
  createItems: { method: 'POST', path: '/items/bulk', json: [chair] },
  getItem: { method: 'GET', path: '/items/1' },
  replaceItem: { method: 'PUT', path: '/items/1', json: chair },
  updateItem: { method: 'PATCH', path: '/items/1', json: { price: 80 } },
  deleteItem: { method: 'DELETE', path: '/items/1' },
  listKeys: { method: 'GET', path: '/api/keys' },
  createKey: { method: 'POST', path: '/api/keys', json: { name: 'import', role: 'writer' } },
  getKey: { method: 'GET', path: '/api/keys/2' },
  revokeKey: { method: 'DELETE', path: '/api/keys/2' },
  listAuditEntries: { method: 'GET', path: '/api/audit' },
  getAuditEntry: { method: 'GET', path: '/api/audit/1' },
}

/** The ids of every operation of the document; one without an example fails its tests. */
export const operationIds = Object.values(createDocument().paths as Record<string, Record<string, unknown>>)
  .flatMap((place) => Object.values(place))
  .flatMap((operation) => (isOperation(operation) ? [operation.operationId] : []))

function isOperation(value: unknown): value is { operationId: string } {
  return typeof value === 'object' && value !== null && 'operationId' in value
}

export function exampleOf(operationId: string): Example {
  const example = examples[operationId]
  if (example === undefined) throw new Error(`${operationId} has no example`)
  return example
}

/** Those whose request has a body. */
export const writingIds = operationIds.filter((id) => examples[id] === undefined || 'json' in exampleOf(id))

/** Makes what the examples are about: user 1, book 1, item 1 and key 2. The server's requests carry key 1 from now on. */
export async function seed(server: TestServer): Promise<void> {
  const { id } = await createUser(server)
  expect([id, (await createBook(server)).id, (await createItem(server)).id]).toEqual([1, 1, 1])
  const { key } = await createKey(server)
  server.logIn(key)
  await createKey(server, { role: 'reader' })
  // Noted beside the request: a test must not see it come.
  let lastUse = null
  while (lastUse === null) lastUse = (await server.request('GET', '/api/keys/1')).body.last_used_at
}

/** An error as the family of an example's path shows it (7.2). */
export function errorOf({ path }: Example, message: unknown) {
  if (/^\/api\/(keys|audit)/.test(path)) return { status: 'error', error: expect.objectContaining({ message }) }
  return /^\/(api\/)?users/.test(path) ? { error: message } : { message }
}
