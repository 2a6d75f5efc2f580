import { createClient, requestIdOf } from '@resource/client'
import type { Role } from '@resource/contract'
import { createLocalClient } from '@resource/server/local'
import { describe, expect, test, vi } from 'vitest'
import { deleteOldEntries } from '../src/audit/retention.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { aTimestamp, createItem, createKey, createUser, openDatabase, someUsers } from './records.ts'

/** A server with a caller of each role: `key 1` is an admin's. */
async function withCallers(environment: Record<string, string> = {}) {
  const server = await startTestServer(environment)
  await createItem(server, { category: 'light' })
  const { key: admin } = await createKey(server)
  server.logIn(admin)
  const callerOf = async (role: Role) => {
    const { key } = await createKey(server, { role })
    const headers = { Authorization: `Bearer ${key}` }
    return {
      headers,
      client: createClient({ baseUrl: server.url, apiKey: key }),
      propose: (operation: string, input: object, reason = 'Asked for') =>
        server.request('POST', '/api/proposals', { json: { operation, input, reason }, headers }),
      decide: (id: number, status: string, more = {}) =>
        server.request('PATCH', `/api/proposals/${id}`, { json: { status }, headers: { ...headers, ...more } }),
      get: async (id: number) => (await server.request('GET', `/api/proposals/${id}`, { headers })).body,
    }
  }
  const callers = {
    proposer: await callerOf('proposer'),
    writer: await callerOf('writer'),
    reader: await callerOf('reader'),
  }
  return { server, ...callers, [Symbol.asyncDispose]: server.stop }
}

const lamp = { id: 1, name: 'Lamp', price: 24.5, category: 'light', version: 1 }
const messageOf = ({ status, body }: { status: number; body: { error: { message: string } } }) => [
  status,
  body.error.message,
]

async function itemsOf(server: TestServer) {
  await using database = await openDatabase(server)
  const order = { column: 'id', descending: false } as const
  return (await database.read.items.page({ where: {}, order, take: 100 })).map(({ name_key: _, ...item }) => item)
}

describe('C49 a proposal', () => {
  test('stores what a preview shows, changes nothing, and is listed without it', async () => {
    await using all = await withCallers()
    const { server, proposer } = all
    const { status, headers, body } = await proposer.propose('updateItem', { id: 1, price: 30 }, 'Supplier')
    expect([status, headers.get('location')]).toEqual([201, '/api/proposals/1'])
    const summary = {
      id: 1,
      operation: 'items.update',
      reason: 'Supplier',
      status: 'open',
      created: 0,
      updated: 1,
      deleted: 0,
      proposer: 'key 2',
      decided_by: null,
      decided_at: null,
      request_id: null,
      created_at: aTimestamp,
      expires_at: aTimestamp,
    }
    const shown = {
      input: { id: 1, price: 30 },
      effect: expect.stringMatching(/^[\w-]{43}$/),
      changes: [{ resource: 'items', id: 1, before: lamp, after: { ...lamp, price: 30, version: 2 } }],
    }
    expect(body).toEqual({ ...summary, ...shown })
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(7 * 24 * 60 * 60 * 1000)
    expect(await itemsOf(server)).toEqual([lamp])
    const now = { is_current: true, current_changes: shown.changes, obstacle: null }
    expect(await proposer.get(1)).toEqual({ ...summary, ...shown, ...now })
    const listed = async (query: string) => (await server.request('GET', `/api/proposals${query}`)).body
    expect(await listed('')).toEqual([summary])
    await proposer.propose('items.delete', { id: 1 })
    expect((await listed('?status=open')).map(({ id }: { id: number }) => id)).toEqual([2, 1])
    expect(await listed('?proposer=key%203')).toEqual([])
    expect(await listed('?status=applied')).toEqual([])
    const messages = (await server.client.audit.list.query({ resource: 'items' })).audit.map(({ after }) => after)
    expect(messages).toEqual([lamp])
  })

  test('shows what it would do now, and why it cannot be applied', async () => {
    await using all = await withCallers()
    const { server, proposer } = all
    await proposer.propose('items.update', { id: 1, price: 30 })
    await server.client.items.update.mutate({ id: 1, name: 'Sun' })
    const before = { ...lamp, name: 'Sun', version: 2 }
    expect(await proposer.get(1)).toMatchObject({
      changes: [{ before: lamp }],
      is_current: false,
      current_changes: [{ resource: 'items', id: 1, before, after: { ...before, price: 30, version: 3 } }],
      obstacle: null,
    })
    await server.client.items.delete.mutate({ id: 1 })
    const gone = { is_current: false, current_changes: [], obstacle: 'Item not found' }
    expect(await proposer.get(1)).toMatchObject(gone)
  })

  test('may be of any write of a collection, with the rights of those who may apply it, and of a reversal', async () => {
    await using all = await withCallers()
    const { server, proposer, writer } = all
    await createUser(server, { role: 'admin' })
    const deleted = await server.client.items.delete.mutate({ id: 1 })
    for (const caller of [proposer, writer]) {
      expect((await caller.propose('users.delete', { id: 1 })).body).toMatchObject({ deleted: 1 })
      expect((await caller.propose('users.deleteWhere', { status: 'active' })).body).toMatchObject({ deleted: 1 })
      const undo = { request_id: requestIdOf(deleted) }
      expect((await caller.propose('createReversal', undo)).body).toMatchObject({
        operation: 'reversals.create',
        created: 1,
      })
    }
    expect((await writer.decide(1, 'applied')).status).toBe(403)
    expect((await writer.decide(3, 'applied')).status).toBe(200)
    expect((await server.client.users.list.query()).users).toHaveLength(1)
    expect(await itemsOf(server)).toEqual([lamp])
  })

  test('is refused for keys, previews and proposals, for hidden fields, and if nothing would change', async () => {
    await using all = await withCallers()
    const { server, proposer } = all
    await createUser(server, { password: 'a long enough password' })
    const password = 'another long password'
    const refused = async (operation: string, input: object) => messageOf(await proposer.propose(operation, input))
    const other = 'operation: must write a collection, or undo a request'
    for (const operation of ['keys.create', 'keys.rotate', 'keys.revoke', 'proposals.create', 'setProposalStatus'])
      expect(await refused(operation, { name: 'x', role: 'admin' })).toEqual([400, other])
    const unknown = 'operation: must be the operationId of a write or its procedure, such as items.update'
    for (const operation of ['items.list', 'previews.create', 'nothing'])
      expect(await refused(operation, {})).toEqual([400, unknown])
    const hidden = 'is never shown, so nobody could review it: it cannot be proposed'
    expect(await refused('users.update', { id: 1, password })).toEqual([400, `input.password: ${hidden}`])
    const users = [...someUsers(1), { name: 'Bo', email: 'bo@example.com', password }]
    expect(await refused('users.createMany', { users })).toEqual([400, `input.users[1].password: ${hidden}`])
    expect((await refused('users.replace', { id: 1, name: 'A', email: 'a@b.org', role: 'user', password }))[0]).toBe(
      400,
    )
    const changed = await server.client.users.update.mutate({ id: 1, password: 'a third long password' })
    const undo = { request_id: requestIdOf(changed) }
    expect(await refused('reversals.create', undo)).toEqual([400, `input.password: ${hidden}`])
    const deleted = await server.client.users.delete.mutate({ id: 1 })
    expect((await proposer.propose('reversals.create', { request_id: requestIdOf(deleted) })).status).toBe(201)
    const nothing = 'input: changes nothing, so there is nothing to decide'
    expect(await refused('items.update', { id: 1, price: 24.5 })).toEqual([400, nothing])
    expect(await refused('items.update', { id: 9, price: 1 })).toEqual([404, 'Item not found'])
    expect(messageOf(await proposer.propose('items.delete', { id: 1 }, ' '))).toEqual([
      400,
      'reason: must be text of 1 to 1000 characters',
    ])
    await using database = await openDatabase(server)
    expect(await database.read.proposals.count({})).toBe(1)
  })

  test('treats unknown fields as its write does: they are ignored and not stored, and a 400 if alone or strict', async () => {
    await using all = await withCallers()
    const { server, proposer, writer } = all
    const json = { operation: 'items.update', input: { id: 1, price: 30, colour: 'red' }, reason: 'Asked for' }
    const headers = { ...proposer.headers, Prefer: 'handling=strict' }
    expect(messageOf(await server.request('POST', '/api/proposals', { json, headers }))).toEqual([
      400,
      'input.colour: is not a recognized field',
    ])
    expect(messageOf(await proposer.propose('items.update', { id: 1, colour: 'red' }))).toEqual([
      400,
      'No recognized field: colour; the fields are: name, price, category',
    ])
    // A condition that the write does not have would be ignored.
    expect(messageOf(await proposer.propose('items.create', { name: 'Rug', price: 2, if_version: 1 }))).toEqual([
      400,
      'input.if_version: is not a recognized field',
    ])
    const { status, body } = await server.request('POST', '/api/proposals', { json, headers: proposer.headers })
    expect([status, body.input]).toEqual([201, { id: 1, price: 30 }])
    const items = [{ id: 1, category: 'floor', if_version: 1, colour: 'red', created_at: '2026-01-01T00:00:00Z' }]
    expect((await proposer.propose('items.updateMany', { items, note: 'x' })).body.input).toEqual({
      items: [{ id: 1, category: 'floor', if_version: 1 }],
    })
    expect((await proposer.get(1)).is_current).toBe(true)
    expect((await writer.decide(1, 'applied')).status).toBe(200)
    expect(await itemsOf(server)).toEqual([{ ...lamp, price: 30, version: 2 }])
  })

  test('is stored once under an idempotency key', async () => {
    await using all = await withCallers()
    const { server, proposer } = all
    const json = { operation: 'items.update', input: { id: 1, price: 30, idempotency_key: 'other' }, reason: 'Once' }
    const headers = { ...proposer.headers, 'Idempotency-Key': 'one' }
    const first = await server.request('POST', '/api/proposals', { json, headers })
    await server.client.items.delete.mutate({ id: 1 })
    const again = await server.request('POST', '/api/proposals', { json, headers })
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([201, first.body, 'true'])
    expect(first.body.input).toEqual({ id: 1, price: 30 })
  })
})

describe('C57 a decision', () => {
  test('applies exactly what was shown, names both in the audit log, and can be undone', async () => {
    await using all = await withCallers()
    const { server, proposer, writer } = all
    await proposer.propose('items.update', { id: 1, price: 30 })
    const { status, headers, body } = await writer.decide(1, 'applied')
    const request_id = headers.get('x-request-id')
    const closed = { status: 'applied', decided_by: 'key 3', decided_at: aTimestamp, request_id }
    expect([status, body]).toEqual([200, expect.objectContaining(closed)])
    expect(await itemsOf(server)).toEqual([{ ...lamp, price: 30, version: 2 }])
    const { audit } = await server.client.audit.list.query({ procedure: 'items.update' })
    expect(audit).toMatchObject([{ actor: 'key 3', proposed_by: 'key 2', request_id, procedure: 'items.update' }])
    for (const id of [request_id ?? '', request_id?.toUpperCase() ?? '']) {
      const { proposals } = await writer.client.proposals.list.query({ request_id: id })
      expect(proposals.map(({ id }) => id)).toEqual([1])
    }
    expect(await proposer.get(1)).toMatchObject({ ...closed, is_current: false, current_changes: [], obstacle: null })
    expect(messageOf(await writer.decide(1, 'applied'))).toEqual([409, 'Proposal 1 is already applied'])
    expect(messageOf(await writer.decide(1, 'rejected'))).toEqual([409, 'Proposal 1 is already applied'])
    await writer.client.undo(request_id ?? '')
    expect(await itemsOf(server)).toEqual([{ ...lamp, version: 3 }])
  })

  test('is a 412 with what it would do now if another write came between, and nothing happens', async () => {
    await using all = await withCallers()
    const { server, proposer, writer } = all
    const { body } = await proposer.propose('items.update', { id: 1, price: 30 })
    await server.client.items.update.mutate({ id: 1, name: 'Sun' })
    const { proposals } = writer.client
    const error = await proposals.setStatus.mutate({ id: 1, status: 'applied' }).catch((error: unknown) => error)
    expect(error).toMatchObject({ code: 'version_mismatch', reason: 'effect_changed' })
    const after = { ...lamp, name: 'Sun', price: 30, version: 3 }
    expect(proposals.setStatus.errorData(error, 412)).toMatchObject({ updated: 1, changes: [{ after }] })
    expect(await proposer.get(1)).toMatchObject({ status: 'open', effect: body.effect })
    expect(await itemsOf(server)).toEqual([{ ...lamp, name: 'Sun', version: 2 }])
    await server.client.items.delete.mutate({ id: 1 })
    expect(messageOf(await writer.decide(1, 'applied'))).toEqual([404, 'Item not found'])
  })

  test('keeps the version that the proposal requires, as a 412 without other data', async () => {
    await using all = await withCallers()
    const { server, proposer, writer } = all
    await proposer.propose('items.update', { id: 1, price: 30, if_version: 1 })
    await server.client.items.update.mutate({ id: 1, price: 25 })
    const answer = await writer.decide(1, 'applied')
    expect([answer.status, answer.body.error.reason]).toEqual([412, 'stale_version'])
  })

  test('is repeated under its idempotency key, and a 409 for another decision', async () => {
    await using all = await withCallers()
    const { server, proposer, writer } = all
    await proposer.propose('items.update', { id: 1, price: 30 })
    await proposer.propose('items.create', { name: 'Rug', price: 2 })
    const once = { 'Idempotency-Key': 'once' }
    const first = await writer.decide(1, 'applied', once)
    await server.client.items.update.mutate({ id: 1, price: 31 })
    const again = await writer.decide(1, 'applied', once)
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    expect(again.body).toEqual(first.body)
    expect((await writer.decide(2, 'applied', once)).status).toBe(409)
    expect((await itemsOf(server)).map(({ price }) => price)).toEqual([31])
  })

  test('is up to those with the rights of the write, and withdrawal up to the proposer', async () => {
    await using all = await withCallers()
    const { server, proposer, writer, reader } = all
    await proposer.propose('items.delete', { id: 1 })
    await proposer.propose('items.delete', { id: 1 })
    const statuses = async (id: number, decision: string) =>
      Promise.all([reader, proposer, writer].map(async (caller) => (await caller.decide(id, decision)).status))
    expect(
      (await Promise.all([reader, proposer].map((caller) => caller.decide(1, 'applied')))).map(({ status }) => status),
    ).toEqual([403, 403])
    expect(await statuses(1, 'withdrawn')).toEqual([403, 200, 403])
    expect(await statuses(2, 'rejected')).toEqual([403, 403, 200])
    expect(await itemsOf(server)).toEqual([lamp])
    expect((await reader.propose('items.delete', { id: 1 })).status).toBe(403)
    expect((await server.request('GET', '/api/proposals/1', { headers: reader.headers })).status).toBe(403)
    expect((await writer.decide(9, 'rejected')).status).toBe(404)
    expect(messageOf(await writer.decide(2, 'open'))).toEqual([400, 'status: must be applied, rejected or withdrawn'])
  })

  test('is a 409 once it has expired, and old proposals are deleted with old audit entries', async () => {
    await using all = await withCallers({ PROPOSAL_DAYS: '2' })
    const { server, proposer, writer } = all
    const { body } = await proposer.propose('items.delete', { id: 1 })
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(2 * 24 * 60 * 60 * 1000)
    await using database = await openDatabase(server)
    const expires_at = new Date(Date.now() - 1000)
    await database.write((tx) => tx.proposals.write([{ id: 1, change: { expires_at } }]))
    expect(await proposer.get(1)).toMatchObject({ status: 'expired', is_current: false, current_changes: [] })
    for (const status of ['applied', 'rejected'])
      expect(messageOf(await writer.decide(1, status))).toEqual([409, 'Proposal 1 has expired'])
    const listed = async (status: string) => (await server.client.proposals.list.query({ status })).proposals.length
    expect([await listed('open'), await listed('expired')]).toEqual([0, 1])
    await proposer.propose('items.delete', { id: 1 })
    await deleteOldEntries(database, 1)
    expect(await database.read.proposals.count({})).toBe(2)
    await database.write((tx) => tx.proposals.write([{ id: 1, change: { expires_at: new Date(body.created_at) } }]))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(body.created_at) + 25 * 60 * 60 * 1000 })
    await deleteOldEntries(database, 1)
    vi.useRealTimers()
    expect((await server.client.proposals.list.query()).proposals.map(({ id }) => id)).toEqual([2])
    expect(await itemsOf(server)).toEqual([lamp])
  })

  test('of two callers at once is that of one; the other gets a 409', async () => {
    await using all = await withCallers()
    const { server, proposer, writer } = all
    for (let round = 1; round <= 10; round++) {
      await proposer.propose('items.updateWhere', { id_gte: 1, changes: { add: { price: 1 } } })
      const decisions = ['applied', 'applied', round % 2 === 0 ? 'rejected' : 'applied']
      const answers = await Promise.all(decisions.map((status) => writer.decide(round, status)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
      const { status } = await proposer.get(round)
      expect(status).toBe(answers.find((answer) => answer.status === 200)?.body.status)
    }
    const applied = (await server.client.proposals.list.query({ status: 'applied' })).proposals.length
    expect((await itemsOf(server))[0]?.price).toBe(24.5 + applied)
  })

  test('can be previewed, also without HTTP, and takes If-Effect', async () => {
    await using all = await withCallers()
    const { server, proposer, writer } = all
    const { body } = await proposer.propose('items.update', { id: 1, price: 30 })
    await using local = await createLocalClient({ databaseUrl: server.databaseUrl })
    const { effect } = await local.preview('proposals.setStatus', { id: 1, status: 'applied' })
    expect(effect).toBe(body.effect)
    expect((await writer.decide(1, 'applied', { 'If-Effect': `"${'x'.repeat(43)}"` })).status).toBe(412)
    expect(await itemsOf(server)).toEqual([lamp])
    expect((await writer.decide(1, 'applied', { 'If-Effect': `"${effect}"` })).status).toBe(200)
    expect(await itemsOf(server)).toEqual([{ ...lamp, price: 30, version: 2 }])
  })
})

test('C44 a proposer may preview every write of a collection, and no other', async () => {
  await using all = await withCallers()
  const { server, proposer } = all
  await createUser(server, { role: 'admin' })
  const preview = async (operation: string, input: object) =>
    (await server.request('POST', '/api/previews', { json: { operation, input }, headers: proposer.headers })).status
  expect(await preview('users.delete', { id: 1 })).toBe(200)
  expect(await preview('users.deleteWhere', { status: 'active' })).toBe(200)
  expect(await preview('keys.create', { name: 'x', role: 'admin' })).toBe(403)
  expect(await preview('proposals.setStatus', { id: 1, status: 'applied' })).toBe(404)
  expect((await server.client.users.list.query()).users).toHaveLength(1)
})
