import { readFileSync } from 'node:fs'
import { contract } from '@resource/contract'
import { afterEach, expect, test, vi } from 'vitest'
import { exampleOf, operationIds, seed } from './examples.ts'
import { preparedServers, shareTestServer, startTestServer } from './harness.ts'
import { aTimestamp, createBook, someUsers } from './records.ts'
import { collections } from './samples.ts'

// As the file has it, not as the contract exports it.
const { version } = JSON.parse(
  readFileSync(new URL('../../../packages/contract/package.json', import.meta.url), 'utf8'),
)

afterEach(() => void vi.useRealTimers())

test('C27, C28 the success envelope has status, data under a key named after the resource, and meta', async () => {
  await using server = await startTestServer()
  await createBook(server)
  const { status, body } = await server.request('GET', '/books/1?envelope=true')
  expect(status).toBe(200)
  expect(body).toEqual({
    status: 'success',
    data: { book: { id: 1, title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' } },
    meta: { version, timestamp: aTimestamp },
  })
})

test('C28 meta.timestamp is the time of the response', async () => {
  await using server = await startTestServer()
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2031-02-03T04:05:06.789Z') })
  const { body } = await server.request('GET', '/books?envelope=true')
  expect(body.meta.timestamp).toBe('2031-02-03T04:05:06.789Z')
})

test('C27 without envelope=true records and arrays are returned bare', async () => {
  await using server = await startTestServer()
  await createBook(server)
  const book = { id: 1, title: 'Dune', author: 'Frank Herbert', published_date: '1965-08-01' }
  expect((await server.request('GET', '/books/1')).body).toEqual(book)
  expect((await server.request('GET', '/books/1?envelope=false')).body).toEqual(book)
  expect((await server.request('GET', '/books')).body).toEqual([book])
})

const now = '2031-02-03T04:05:06.789Z'
const pageOne = { page: 1, limit: 100, next: null }
const changes_cursor = expect.stringMatching(/^\d+-[\da-z]+$/)
const ofCollection = { ...pageOne, changes_cursor }
/** The key of the data of an operation in its envelope, and the page metadata in `meta`. */
interface Wrapping {
  key?: string
  facts?: object
}

const wrapped: Record<string, Wrapping> = {
  ...Object.fromEntries(collections.flatMap(wrappingsOf)),
  listUsers: { key: 'users', facts: ofCollection },
  createUser: { key: 'user' },
  deleteUsersByStatus: {},
  simpleListUsers: { key: 'users', facts: ofCollection },
  simpleCreateUser: { key: 'user' },
  slashListUsers: { key: 'users', facts: ofCollection },
  slashCreateUser: { key: 'user' },
  getUser: { key: 'user' },
  replaceUser: { key: 'user' },
  updateUser: { key: 'user' },
  deleteUser: {},
  simpleGetUser: { key: 'user' },
  simpleMergeUser: { key: 'user' },
  simpleDeleteUser: {},
  slashGetUser: { key: 'user' },
  slashReplaceUser: { key: 'user' },
  slashUpdateUser: { key: 'user' },
  slashDeleteUser: {},
  createUsers: { key: 'users' },
  setUserStatus: { key: 'user' },
  listProposals: { key: 'proposals', facts: pageOne },
  createProposal: { key: 'proposal' },
  getProposal: { key: 'proposal' },
  setProposalStatus: { key: 'proposal' },
  listBooks: { key: 'books', facts: ofCollection },
  createBook: { key: 'book' },
  createBooks: { key: 'books' },
  getBook: { key: 'book' },
  replaceBook: { key: 'book' },
  deleteBook: {},
  listItems: { key: 'items', facts: ofCollection },
  // The bare response already has this key.
  createItem: {},
  createItems: { key: 'items' },
  getItem: { key: 'item' },
  replaceItem: { key: 'item' },
  updateItem: { key: 'item' },
  deleteItem: {},
  listKeys: { key: 'keys', facts: pageOne },
  createKey: { key: 'key' },
  getKey: { key: 'key' },
  rotateKey: { key: 'key' },
  revokeKey: {},
  listSessions: { key: 'sessions', facts: pageOne },
  getSession: { key: 'session' },
  endSession: {},
  listAuditEntries: { key: 'entries', facts: pageOne },
  getAuditEntry: { key: 'entry' },
  listChanges: {},
  createPreview: { key: 'preview' },
  listReversibleRequests: { key: 'group' },
}

/** The standard operations of a collection. */
function wrappingsOf(noun: (typeof collections)[number]): [string, Wrapping][] {
  const { tag, collection } = contract[noun]
  const one = collection.one.replace(/^./, (letter) => letter.toUpperCase())
  return [
    [`list${tag}`, { key: noun, facts: ofCollection }],
    [`create${tag}`, { key: noun }],
    ...['get', 'create', 'replace', 'update'].map((verb): [string, Wrapping] => [verb + one, { key: collection.one }]),
    [`delete${one}`, {}],
    [`summarize${tag}`, { key: 'summaries', facts: { as_of: now } }],
    [`update${tag}`, { key: 'results' }],
    [`updateMatching${tag}`, {}],
    [`deleteMatching${tag}`, {}],
  ]
}

const shared = shareTestServer(seed)
const startSeeded = preparedServers(seed)
// Sessions of the present have expired at that time.
const startSeededThen = preparedServers(seed)

for (const operationId of operationIds) {
  const { method, path, json } = exampleOf(operationId)
  const enveloped = `${path}${path.includes('?') ? '&' : '?'}envelope=true`

  test(`C27 envelope: ${operationId} (${method} ${path}) wraps its plain response`, async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(now) })
    await using plainServer = await startSeededThen()
    await using server = await startSeededThen()
    const plain = await plainServer.request(method, path, { json })
    const { status, body } = await server.request(method, enveloped, { json })
    const expected = wrapped[operationId]
    expect(expected).toBeDefined()
    const bare = plain.status === 204 ? {} : withoutRandom(plain.body)
    expect(status).toBe(plain.status === 204 ? 200 : plain.status)
    expect(withoutRandom(body)).toEqual({
      status: 'success',
      data: expected?.key === undefined ? bare : { [expected.key]: bare },
      meta: { version, timestamp: now, ...expected?.facts },
    })
  })

  test(`C30 envelope: an error of ${operationId} (${method} ${path}) is the standard error envelope`, async () => {
    const { status, body } = await shared().request(method, `${enveloped}&nonsense=1`, { json })
    expect(status).toBe(400)
    expect(body).toEqual({
      status: 'error',
      error: {
        code: 400,
        message: expect.stringContaining('nonsense'),
        details: expect.stringMatching(/./),
        fields: [{ field: 'nonsense', message: 'is not a query parameter of this operation' }],
      },
    })
  })
}

// Keys and request ids are random.
function withoutRandom(body: unknown): unknown {
  return JSON.parse(
    JSON.stringify(body)
      .replace(/rsk_\w+/g, 'rsk_')
      .replace(/("request_id":")[\w-]+/g, '$1'),
  )
}

test('C27 envelope: a message is under message', async () => {
  await using server = await startSeeded()
  const { body } = await server.request('DELETE', '/api/users/1?envelope=true')
  expect(body).toEqual({
    status: 'success',
    data: { message: expect.stringMatching(/./) },
    meta: { version, timestamp: aTimestamp },
  })
})

test('C27 envelope: 204 becomes 200 with empty data', async () => {
  await using server = await startSeeded()
  const { status, body } = await server.request('DELETE', '/books/1?envelope=true')
  expect(status).toBe(200)
  expect(body).toEqual({ status: 'success', data: {}, meta: { version, timestamp: aTimestamp } })
})

test('C28 envelope: the meta of a list contains the page metadata, with the total on request', async () => {
  await using server = await startTestServer()
  await server.request('POST', '/api/users/bulk', { json: someUsers(5) })
  const { body } = await server.request('GET', '/api/users?envelope=true&page=2&limit=2&count=true')
  expect(body).toEqual({
    status: 'success',
    data: {
      users: [
        { id: 3, name: 'User 3', email: 'user3@example.com', role: 'user' },
        { id: 4, name: 'User 4', email: 'user4@example.com', role: 'user' },
      ],
    },
    meta: {
      version,
      timestamp: aTimestamp,
      page: 2,
      limit: 2,
      next: expect.stringMatching(/./),
      total: 5,
      changes_cursor,
    },
  })
})

for (const [path, code, message] of [
  ['/api/users/7', 404, 'User not found'],
  ['/users/7', 404, 'User not found'],
  ['/api/users/7/', 404, 'User not found'],
  ['/books/7', 404, 'Book not found'],
  ['/items/7', 404, 'Item not found'],
] as const) {
  test(`C30 envelope: GET ${path} of a missing record is the standard error envelope`, async () => {
    await using server = await startTestServer()
    const { status, body } = await server.request('GET', `${path}?envelope=true`)
    expect(status).toBe(code)
    expect(body).toEqual({
      status: 'error',
      error: { code, message, details: expect.any(String) },
    })
  })
}

test('envelope: a value other than true and false is a 400', async () => {
  await using server = await startTestServer()
  for (const value of ['1', 'yes', 'TRUE', '']) {
    const { status, body } = await server.request('GET', `/books?envelope=${value}`)
    expect(status).toBe(400)
    expect(body).toEqual({ message: expect.stringContaining('envelope') })
  }
})

test('meta.version and the version of the OpenAPI document are the version of the contract package', async () => {
  await using server = await startTestServer()
  expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  expect((await server.request('GET', '/books?envelope=true')).body.meta.version).toBe(version)
  expect((await server.request('GET', '/openapi.json')).body.info.version).toBe(version)
})
