import { expect } from 'vitest'
import { createDocument } from '../src/document.ts'
import type { TestServer } from './harness.ts'
import { createBook, createItem, createKey, createUser } from './records.ts'
import { collections, inlined, REFERRED_ID, recordOf, referred, sampleOf } from './samples.ts'

export interface Example {
  method: string
  path: string
  json?: unknown
}

interface Operation {
  operationId: string
  requestBody?: { content: { 'application/json': { schema: object } } }
}

const { paths, components } = createDocument() as unknown as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}

// What the schemas do not say: either name is required, and some users are active.
const ada = { username: 'Ada L.', email: 'adal@example.com' }
const exceptions: Record<string, Partial<Example>> = {
  slashCreateUser: { json: ada },
  slashReplaceUser: { json: ada },
  deleteUsersByStatus: { path: '/api/users?status=active' },
}

/** A request that succeeds after `seed`, for each operation of the document. */
const examples = new Map(
  Object.entries(paths).flatMap(([path, place]) =>
    Object.entries(place).map(([method, operation]): [string, Example] => [
      operation.operationId,
      {
        method: method.toUpperCase(),
        path: path.replace(/\{\w+\}/, String(seededId(path))),
        ...(operation.requestBody && { json: bodyOf(operation.requestBody) }),
        ...exceptions[operation.operationId],
      },
    ]),
  ),
)

function bodyOf({ content }: Required<Operation>['requestBody']): unknown {
  return sampleOf(inlined(content['application/json'].schema, components.schemas), 1)
}

/** The ids of every operation of the document. */
export const operationIds = [...examples.keys()]

export function exampleOf(operationId: string): Example {
  return examples.get(operationId) as Example
}

/** Those whose request has a body. */
export const writingIds = operationIds.filter((id) => 'json' in exampleOf(id))

/** How many records `seed` makes: one of each collection, another of those that are referred to, and two keys. */
export const SEEDED = collections.length + referred.length + 2

/** The id that a path or a noun is about after `seed`: of keys the second, for requests carry the first. */
export function seededId(about: string): number {
  return about.includes('keys') ? 2 : 1
}

/** Makes what the examples are about: record 1 of each collection, what they refer to, and key 2. The server's requests carry key 1 from now on. */
export async function seed(server: TestServer): Promise<void> {
  const { id } = await createUser(server)
  expect([id, (await createBook(server)).id, (await createItem(server)).id]).toEqual([1, 1, 1])
  for (const noun of collections) {
    const { create } = server.client[noun] as unknown as { create: { mutate: (input: object) => Promise<object> } }
    const make = async (id: number) => expect(await create.mutate(recordOf(noun, id + 1))).toMatchObject({ id })
    if (!['users', 'books', 'items'].includes(noun)) await make(1)
    if (referred.includes(noun)) await make(REFERRED_ID)
  }
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
