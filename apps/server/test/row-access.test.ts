import { type IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { scopeOf, type Tables } from '@resource/database'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createAccess } from '../src/access/access.ts'
import type { Caller } from '../src/access/caller.ts'
import { subjectOf } from '../src/access/subjects.ts'
import { readConfig } from '../src/process/config.ts'
import { ScopedLog } from '../src/store/scoped-log.ts'
import { userRules } from '../src/users/rules.ts'
import { startTestServer } from './harness.ts'
import { logIn } from './log-in.ts'
import { createKey, openDatabase } from './records.ts'
import { ada, bo, item, openService, root, type Service } from './scoped-service.ts'

type Values = Record<string, unknown>
type Entry = { id: number; before: Values | null; after: Values | null }
type Change = { type: string; version: number; record: Values | null }

const json = async (sent: ReturnType<Service['send']> | Awaited<ReturnType<Service['send']>>) =>
  JSON.parse(await (await sent).text())

function failing(subject: string | undefined) {
  if (subject === undefined) throw new Error('a scope without a subject')
  return { category: subject }
}

test('a record that leaves the scope of a caller is deleted for him, and one that enters it is created', async () => {
  await using service = await openService()
  await service.send(root, 'POST', '/items', { json: item('Lamp', 10, 'ada') })
  const { requestId } = await service.send(root, 'PATCH', '/items/1', { json: { category: 'bo', price: 20 } })
  await service.send(bo, 'PATCH', '/items/1', { json: { price: 30 } })
  const seenBy = async (caller: Caller) => {
    const { changes } = await json(service.send(caller, 'GET', '/api/changes?after=0-0'))
    const entries = await json(service.send(caller, 'GET', '/api/audit?sort=id_asc&count=true'))
    const total = (await service.send(caller, 'GET', '/api/audit?count=true')).headers.get('X-Total-Count')
    return {
      changes: changes.map(({ type, version, record }: Change) => [type, version, record?.price]),
      entries: entries.map(({ before, after }: Entry) => [before?.price, after?.price]),
      total,
    }
  }
  const none = undefined
  expect(await seenBy(ada)).toEqual({
    changes: [
      ['items.created', 1, 10],
      ['items.deleted', 1, none],
    ],
    entries: [
      [none, 10],
      [10, none],
    ],
    total: '2',
  })
  expect(await seenBy(bo)).toEqual({
    changes: [
      ['items.created', 2, 20],
      ['items.updated', 3, 30],
    ],
    entries: [
      [none, 20],
      [20, 30],
    ],
    total: '2',
  })
  expect((await service.send(ada, 'GET', '/api/audit/3')).status).toBe(404)
  // Half of a change cannot be undone.
  for (const caller of [ada, bo]) {
    const undone = await service.send(caller, 'POST', '/api/reversals', { json: { request_id: requestId } })
    expect([undone.status, (await json(undone)).error.message]).toEqual([409, 'items.update cannot be undone'])
  }
  expect((await service.send(ada, 'GET', '/items/1')).status).toBe(404)
})

test('after callers have undone their parts of a request, the rest can be undone', async () => {
  await using service = await openService()
  for (const owner of ['ada', 'bo', 'cy']) await service.send(root, 'POST', '/items', { json: item('Lamp', 10, owner) })
  const group = '00000000-0000-4000-8000-000000000002'
  const { requestId } = await service.send(root, 'PATCH', '/items/bulk', {
    headers: { 'X-Request-Group': group },
    json: [1, 2, 3].map((id) => ({ id, price: 11 })),
  })
  const undo = async (caller: Caller, request_id = requestId) => {
    const answer = await service.send(caller, 'POST', '/api/reversals', { json: { request_id } })
    const { reason, updated } = await json(answer)
    return { status: answer.status, facts: updated ?? reason, requestId: answer.requestId }
  }
  const open = async (caller: Caller) =>
    (await json(service.send(caller, 'GET', `/api/reversals?group=${group}`))).total
  const prices = async () => (await json(service.send(root, 'GET', '/items'))).map(({ price }: Values) => price)

  const byAda = await undo(ada)
  expect([byAda.facts, await undo(ada)]).toMatchObject([1, { status: 409 }])
  expect([await open(ada), await open(bo), await open(root)]).toEqual([0, 1, 1])
  expect((await undo(bo)).facts).toBe(1)
  expect([await open(root), await prices()]).toEqual([1, [10, 10, 11]])
  // Ada's part is back, so it is open again.
  expect((await undo(ada, byAda.requestId)).facts).toBe(1)
  expect([await open(ada), await open(root)]).toEqual([1, 1])
  expect((await undo(root)).facts).toBe(2)
  expect([await open(ada), await open(root), await prices()]).toEqual([0, 0, [10, 10, 10]])
  expect((await undo(root)).status).toBe(409)
})

test('a stream has the changes of the scope alone', async () => {
  await using service = await openService()
  const stream = async (caller: Caller) => {
    const { body } = await service.send(caller, 'GET', '/api/changes', { headers: { Accept: 'text/event-stream' } })
    const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
    await reader.read()
    return async () => JSON.parse(/data: (.*)/.exec((await reader.read()).value ?? '')?.[1] ?? '{}').record?.name
  }
  const [nextOfAda, nextOfBo, nextOfAll] = [await stream(ada), await stream(bo), await stream(root)]
  await service.send(root, 'POST', '/items', { json: item('Desk', 1, 'bo') })
  expect([await nextOfBo(), await nextOfAll()]).toEqual(['Desk', 'Desk'])
  await service.send(root, 'POST', '/items', { json: item('Lamp', 1, 'ada') })
  expect([await nextOfAda(), await nextOfAll()]).toEqual(['Lamp', 'Lamp'])
})

test('a proposal does no more than its proposer could, whoever applies it', async () => {
  await using service = await openService()
  for (const owner of ['ada', 'bo', 'ada'])
    await service.send(root, 'POST', '/items', { json: item('Lamp', 10, owner) })
  const input = { changes: { set: { price: 1 } }, price_gte: 0 }
  const proposal = { json: { operation: 'items.updateWhere', input, reason: 'cheap' } }
  const made = await json(service.send({ ...ada, role: 'proposer' }, 'POST', '/api/proposals', proposal))
  expect([made.id, made.updated, made.changes.map(({ id }: Entry) => id), 'scopes' in made]).toEqual([
    1,
    2,
    [1, 3],
    false,
  ])
  const shown = await json(service.send(root, 'GET', '/api/proposals/1'))
  expect([shown.is_current, shown.current_changes.length]).toEqual([true, 2])
  const hidden = await service.send(bo, 'GET', '/api/proposals/1')
  expect(hidden.status).toBe(404)
  const applied = await service.send(root, 'PATCH', '/api/proposals/1', { json: { status: 'applied' } })
  expect([applied.status, (await json(applied)).status]).toEqual([200, 'applied'])
  expect((await json(service.send(root, 'GET', '/items'))).map(({ price }: Values) => price)).toEqual([1, 10, 1])
})

test('a proposal whose record has left the scope of its proposer is a 409 that says so', async () => {
  await using service = await openService()
  for (const _ of [1, 2]) await service.send(root, 'POST', '/items', { json: item('Lamp', 10, 'ada') })
  for (const id of [1, 2]) {
    const proposal = { operation: 'items.update', input: { id, price: 1 }, reason: 'cheap' }
    await service.send({ ...ada, role: 'proposer' }, 'POST', '/api/proposals', { json: proposal })
  }
  await service.send(root, 'PATCH', '/items/1', { json: { category: 'bo' } })
  await service.send(root, 'DELETE', '/items/2')
  const message = 'The record 1 has left what its proposer has access to'
  expect((await json(service.send(root, 'GET', '/api/proposals/1'))).obstacle).toBe(message)
  const apply = async (id: number) => {
    const applied = await service.send(root, 'PATCH', `/api/proposals/${id}`, { json: { status: 'applied' } })
    return [applied.status, (await json(applied)).error.message]
  }
  expect([await apply(1), await apply(2)]).toEqual([
    [409, message],
    [404, 'Item not found'],
  ])
})

test('a caller without the value that decides gets a 403 that names its field', async () => {
  await using service = await openService()
  const { status, text } = await service.send({ name: 'key 4', role: 'writer' }, 'POST', '/items', {
    json: item('Lamp', 10, 'ada'),
  })
  expect([status, JSON.parse(await text()).message]).toEqual([
    403,
    'category: would put the record outside of what you have access to',
  ])
})

test('what a caller writes stays in his scope: otherwise a 403 names the field, and nothing is stored', async () => {
  await using service = await openService()
  await service.send(root, 'POST', '/items', { json: item('Lamp', 10, 'ada') })
  const message = 'would put the record outside of what you have access to'
  const refused = [
    await service.send(ada, 'POST', '/items', { json: item('Desk', 1, 'bo') }),
    await service.send(ada, 'POST', '/items/bulk', { json: [item('Rug', 1, 'ada'), item('Desk', 1, 'bo')] }),
    await service.send(ada, 'PATCH', '/items/1', { json: { category: null } }),
    await service.send(ada, 'PATCH', '/items/bulk', { json: [{ id: 1, category: 'bo' }] }),
    await service.send(ada, 'PATCH', '/items?price_gte=0', { json: { set: { category: 'bo' } } }),
  ]
  expect(await Promise.all(refused.map(async (answer) => [answer.status, (await json(answer)).message]))).toEqual([
    [403, `category: ${message}`],
    [403, `[1].category: ${message}`],
    [403, `category: ${message}`],
    [403, `[0].category: ${message}`],
    [403, `category: ${message}`],
  ])
  const partial = {
    json: [
      { id: 1, category: 'bo' },
      { id: 1, price: 11 },
    ],
  }
  expect(await json(service.send(ada, 'PATCH', '/items/bulk?partial=true', partial))).toMatchObject([
    { status: 403, error: `category: ${message}` },
    { status: 200, changed: true },
  ])
  expect(await json(service.send(root, 'GET', '/items'))).toEqual([{ id: 1, ...item('Lamp', 11, 'ada') }])
})

test('a scope that throws is a 500 for its caller', async () => {
  await using service = await openService({ items: { scope: ({ subject }) => failing(subject) } })
  const answer = await service.send(root, 'GET', '/items')
  expect([answer.status, (await json(answer)).message]).toEqual([500, expect.stringContaining('Internal server error')])
  expect((await service.send(ada, 'PATCH', '/items/1', { json: {}, headers: { 'If-Match': '*' } })).status).toBe(404)
})

test('a unique value of a record outside is in use, and a key does not find that record', async () => {
  await using service = await openService({
    users: { ...userRules(async () => undefined), scope: ({ subject }) => (subject ? { name: subject } : undefined) },
  })
  const user = (name: string) => ({ name, email: 'shared@example.com' })
  await service.send(root, 'POST', '/users', { json: user('bo') })
  const taken = 'email: already in use by another user'
  const rows = { json: [user('ada')] }
  const answers = [
    await service.send(ada, 'POST', '/users', { json: user('ada') }),
    await service.send(ada, 'PATCH', '/api/users/bulk?key=email&create=true', rows),
    await service.send(ada, 'PATCH', '/api/users/bulk?key=email', rows),
  ]
  expect(await Promise.all(answers.map(async (answer) => [answer.status, (await json(answer)).error]))).toEqual([
    [409, taken],
    [409, `[0].${taken}`],
    [404, '[0]: User not found'],
  ])
})

test('a caller acts for the owner of the key, or the subject of the token, also in a session of the console', async () => {
  await using server = await startTestServer()
  const key = await createKey(server, { name: 'shop', owner: 'mira' })
  const { cookie } = await logIn(server, key.key)
  await using database = await openDatabase(server)
  const access = await createAccess(database, readConfig({}), pino({ level: 'silent' }))
  const callerOf = async (headers: IncomingHttpHeaders) => access.callerOf(new IncomingMessage(new Socket()), headers)
  expect(await callerOf({ authorization: `Bearer ${key.key}` })).toMatchObject({ name: 'key 1', subject: 'mira' })
  expect(await callerOf({ cookie })).toMatchObject({ name: 'key 1', subject: 'mira' })
  expect(subjectOf({ sub: 'alice', aud: 'resource', role: 'reader' }, 'https://id.example', 'role')).toEqual({
    name: 'subject alice',
    subject: 'alice',
    detail: 'https://id.example',
    role: 'reader',
  })
})

test('an audit log in which nearly nothing is visible is searched in part, and says so', async () => {
  let pages = 0
  const hidden = { id: 1, resource: 'items', before: null, after: '{"category":"bo"}' }
  const page = async () => {
    pages++
    return Array(200).fill(hidden)
  }
  const scopes = new Map([['items', scopeOf([{ category: 'ada' }], { category: 'text?' })]])
  const log = new ScopedLog({ page } as unknown as Tables['auditEntries'], scopes)
  await expect(log.count({})).rejects.toThrow(
    'More than 20,000 entries would be searched for those that you have access to; add filters',
  )
  expect(pages).toBe(100)
})
