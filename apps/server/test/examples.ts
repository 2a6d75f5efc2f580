import { expect } from 'vitest'
import { createDocument } from '../src/document.ts'
import type { TestServer } from './harness.ts'
import { logIn } from './log-in.ts'
import { createBook, createItem, createKey, createUser } from './records.ts'
import {
  changesOf,
  collectionAt,
  collections,
  DECISION,
  GROUP,
  inlined,
  PREVIEW,
  PROPOSAL,
  pathOf,
  REFERENCED_ID,
  REVERSAL,
  recordOf,
  referenced,
  refusals,
  SPECIFIED,
  sampleOf,
  withSample,
} from './samples.ts'

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

// The schemas do not express that either name is required and that some users are active.
const ada = { username: 'Ada L.', email: 'adal@example.com' }
const exceptions: Record<string, Partial<Example>> = {
  slashCreateUser: { json: ada },
  slashReplaceUser: { json: ada },
  createPreview: { json: PREVIEW },
  createProposal: { json: PROPOSAL },
  setProposalStatus: { json: DECISION },
  createReversal: { json: REVERSAL },
  listReversibleRequests: { path: `/api/reversals?group=${GROUP}` },
  deleteUsersByStatus: { path: '/api/users?status=active' },
}

/** A request that succeeds after `seed`, for each operation of the document. */
const examples = new Map(
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Example] => [
      operation.operationId,
      {
        method: method.toUpperCase(),
        path: path.replace(/\{\w+\}/, String(seededId(path))),
        ...(operation.requestBody && { json: withSample(collectionAt(path) ?? '', bodyOf(operation.requestBody)) }),
        ...createdAt(method, path),
        ...matchingAt(method, path),
        ...exceptions[operation.operationId],
      },
    ]),
  ),
)

/** The body of a create has every field. */
function createdAt(method: string, path: string): Partial<Example> {
  const noun = collectionAt(path)
  if (noun === undefined || SPECIFIED.includes(noun) || method !== 'post') return {}
  if (path === `${pathOf(noun)}/bulk`) return { json: [recordOf(noun, 1)] }
  return path === pathOf(noun) ? { json: recordOf(noun, 1) } : {}
}

/** The request of a write of all matching records. */
function matchingAt(method: string, path: string): Partial<Example> {
  const noun = collectionAt(path)
  if (noun === undefined || path.replace(/\/$/, '') !== pathOf(noun)) return {}
  const at = `${path}?id_in=1`
  if (method === 'delete') return { path: at }
  return method === 'patch' ? { path: at, json: { set: changesOf(noun) } } : {}
}

function bodyOf({ content }: Required<Operation>['requestBody']): unknown {
  return sampleOf(inlined(content['application/json'].schema, components.schemas), 1)
}

/** The number of operations of the document. */
export const DOCUMENTED = examples.size

/**
 * The ids of the operations of the document, without those of collections that only accept other records, and without
 * reversals: they need the id of an earlier request.
 */
export const operationIds = [...examples].flatMap(([id, { path }]) =>
  refusals[collectionAt(path) ?? ''] === undefined && id !== 'createReversal' ? [id] : [],
)

export function exampleOf(operationId: string): Example {
  return examples.get(operationId) as Example
}

/** The ids of the operations with a request body. */
export const writingIds = operationIds.filter((id) => 'json' in exampleOf(id))

/**
 * The number of records that `seed` creates: one in each collection, a second one in referenced collections, two
 * keys, and a session.
 */
export const SEEDED = collections.length + referenced.length + 3

/** The id of the seeded record of a path or noun: the second of the keys, because requests use the first. */
export function seededId(target: string): number {
  return /^(?:\/api\/)?keys(?:\/|$)/.test(target) ? 2 : 1
}

/**
 * Creates the records that the examples use: record 1 of each collection, the records they reference, a proposal, key 2, and a
 * session of key 1. From then on the requests of the server use key 1.
 */
export async function seed(server: TestServer): Promise<void> {
  const { id } = await createUser(server)
  expect([id, (await createBook(server)).id, (await createItem(server)).id]).toEqual([1, 1, 1])
  for (const noun of collections) {
    const { create } = server.client[noun] as unknown as { create: { mutate: (input: object) => Promise<object> } }
    const createOne = async (id: number) => expect(await create.mutate(recordOf(noun, id + 1))).toMatchObject({ id })
    if (!['users', 'books', 'items'].includes(noun)) await createOne(1)
    if (referenced.includes(noun)) await createOne(REFERENCED_ID)
  }
  await server.client.proposals.create.mutate(PROPOSAL)
  const { key } = await createKey(server)
  server.logIn(key)
  await createKey(server, { role: 'reader' })
  await logIn(server, key)
  // The service records the last use asynchronously; a test must not observe that write.
  let lastUse = null
  while (lastUse === null) lastUse = (await server.request('GET', '/api/keys/1')).body.last_used_at
}

/** An error in the form of the path of an example (API rule C30). */
export function errorOf({ path }: Example, message: unknown) {
  if (/^\/api\/(keys|audit|changes|previews|proposals|reversals|sessions)/.test(path))
    return { status: 'error', error: expect.objectContaining({ message }) }
  return /^\/(api\/)?users(?![\w-])/.test(path) ? { error: message } : { message }
}
