import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '@resource/client'
import { type Contract, contract } from '@resource/contract'
import { createDatabase } from '@resource/database'
import { describe, expect, test } from 'vitest'
import { postgresDatabase } from './database.ts'
import { exampleOf, operationIds, seed, seededId } from './examples.ts'
import { shareTestServer, type TestServer } from './harness.ts'
import { createItem, createKey, openDatabase } from './records.ts'
import { inputOf } from './samples.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

/** What a proposer may do, of the operations that are no reads. */
const ALLOWED: Record<string, number> = { createPreview: 200, createProposal: 201 }
const ALLOWED_CALLS = ['previews.create', 'proposals.create']

/** The records, keys and audit entries, which a proposer must not change. */
async function rowsOf(server: TestServer) {
  await using database = await openDatabase(server)
  const { users, books, items, apiKeys, auditEntries } = database.read
  const query = { where: {}, order: { column: 'id', descending: false }, take: 1_000 } as const
  // The service notes when a key was last used.
  const keys = (await apiKeys.page(query)).map(({ last_used_at: _, version: __, ...key }) => key)
  const records = [await users.page(query), await books.page(query), await items.page(query)]
  return { records, keys, audit: await auditEntries.page(query) }
}

describe('C51 a proposer changes no record', () => {
  let key = ''
  let undoable = ''
  const shared = shareTestServer(async (server) => {
    await seed(server)
    await createItem(server, { name: 'Rug' })
    const { headers } = await server.request('PATCH', '/items/2', { json: { price: 3 } })
    undoable = headers.get('x-request-id') ?? ''
    key = (await createKey(server, { role: 'proposer' })).key
  })
  const asProposer = () => ({ Authorization: `Bearer ${key}` })

  for (const operationId of [...operationIds, 'createReversal']) {
    const { method, path, json } = exampleOf(operationId)
    if (method === 'GET') continue

    test(`by ${operationId} (${method} ${path}), plain, strict and in the envelope`, async () => {
      const server = shared()
      const before = await rowsOf(server)
      const body = operationId === 'createReversal' ? { request_id: undoable } : json
      const enveloped = `${path}${path.includes('?') ? '&' : '?'}envelope=true`
      for (const [target, more] of [
        [path, {}],
        [path, { Prefer: 'handling=strict' }],
        [enveloped, {}],
      ] as const) {
        const { status } = await server.request(method, target, { json: body, headers: { ...asProposer(), ...more } })
        expect(status).toBe(ALLOWED[operationId] ?? 403)
      }
      expect(await rowsOf(server)).toEqual(before)
    })
  }

  for (const [noun, { procedures }] of Object.entries(contract)) {
    for (const [verb, { type }] of Object.entries(procedures)) {
      if (type === 'query') continue
      const name = `${noun}.${verb}`

      test(`by ${name} over tRPC: single, in a batch, by the client, with the effect of a preview`, async () => {
        const server = shared()
        const before = await rowsOf(server)
        const example = inputOf(noun as keyof Contract, verb, seededId(noun))
        const input = noun === 'reversals' ? { request_id: undoable } : example
        const post = async (path: string, body: unknown) => {
          const headers = { ...asProposer(), 'Content-Type': 'application/json' }
          const answer = await fetch(`${server.url}/trpc/${path}`, {
            method: 'POST',
            headers,
            body: JSON.stringify(body),
          })
          return {
            status: answer.status,
            body: (await answer.json()) as { error?: { data: { httpStatus: number } } }[],
          }
        }
        const status = ALLOWED_CALLS.includes(name) ? 200 : 403
        expect((await post(name, input)).status).toBe(status)
        const { body } = await post(`${name},items.update?batch=1`, { 0: input, 1: { id: 1, price: 9 } })
        const statuses = body.map(({ error }) => error?.data.httpStatus ?? 200)
        // A preview and a proposal may write many records, so no other write may follow in their batch.
        expect(statuses).toEqual([status, status === 200 ? 403 : expect.any(Number)])
        const client = createClient({ baseUrl: server.url, apiKey: key })
        const call = (options: object) => callOf(client, noun, verb)(input, options)
        const outcome = (options: object) =>
          call(options).then(
            () => 200,
            (error) => error.status,
          )
        expect(await outcome({})).toBe(status)
        if (status === 403) {
          const preview = await client.previews.create.mutate({ operation: name, input }).catch(() => undefined)
          expect(preview !== undefined).toBe(noun === 'reversals' || 'collection' in contract[noun as keyof Contract])
          expect(await outcome({ ifEffect: preview?.effect ?? 'x'.repeat(43) })).toBe(403)
        }
        expect(await rowsOf(server)).toEqual(before)
      })
    }
  }

  test('by its proposals, until another caller applies one', async () => {
    const server = shared()
    const before = await rowsOf(server)
    const client = createClient({ baseUrl: server.url, apiKey: key })
    const { id } = await client.proposals.create.mutate({ operation: 'items.delete', input: { id: 2 }, reason: 'Old' })
    await expect(client.proposals.setStatus.mutate({ id, status: 'applied' })).rejects.toMatchObject({ status: 403 })
    await expect(client.apply('items.deleteWhere', { id_in: [2] })).rejects.toMatchObject({ status: 403 })
    await expect(client.undo(undoable)).rejects.toMatchObject({ status: 403 })
    expect(await rowsOf(server)).toEqual(before)
    await server.client.proposals.setStatus.mutate({ id, status: 'applied' })
    expect((await server.client.items.list.query({})).items.map((item) => item.id)).toEqual([1])
  })
})

function callOf(client: Client, noun: string, verb: string): (input: object, options: object) => Promise<object> {
  return Reflect.get(Reflect.get(client, noun), verb).mutate
}

const KILL_DURING_WRITE = fileURLToPath(new URL('kill-during-write.mjs', import.meta.url))
const KILLS = 4
const STEP_MS = 20

test('C57 a kill between proposal, application and undo leaves no half effect', async () => {
  await using folder = await temporaryFolder()
  const released = await postgresDatabase()
  const databaseUrl = released?.url ?? `file:${folder.path}/kills.db`
  const count = 500
  const database = await createDatabase(databaseUrl)
  await using other = spawnService(folder.path, { DATABASE_URL: databaseUrl })
  const client = createClient({ baseUrl: await other.url() })
  /** The answer of a service that is killed `afterMs` after the call has arrived. */
  const killed = async <T>(work: (client: Client) => Promise<T>, afterMs: number): Promise<T | undefined> => {
    const environment = { NODE_OPTIONS: `--import ${KILL_DURING_WRITE}`, KILL_AFTER_MS: String(afterMs) }
    await using service = spawnService(folder.path, { DATABASE_URL: databaseUrl, ...environment })
    const dying = createClient({ baseUrl: await service.url(), retryForMs: 0 })
    const answer = await work(dying).catch(() => undefined)
    await service.exited
    return answer
  }
  const state = async (id = 0) => {
    const order = { column: 'id', descending: false } as const
    const items = await database.read.items.page({ columns: ['price'], where: {}, order, take: count })
    const { status, request_id } = (await database.read.proposals.find({ id })) ?? {}
    const { auditEntries } = database.read
    return {
      prices: [...new Set(items.map(({ price }) => price))],
      proposal: [status, request_id],
      applied: await auditEntries.count({ proposed_by: 'anonymous' }),
      undone: await auditEntries.count({ procedure: 'reversals.create' }),
    }
  }
  const items = Array.from({ length: count }, (_, index) => ({ name: `Item ${index}`, price: 1 }))
  await client.items.createMany.mutate({ items })
  const propose = {
    operation: 'items.updateWhere',
    input: { id_gte: 1, changes: { set: { price: 2 } } },
    reason: 'Dearer',
  }
  for (let round = 1; round <= KILLS; round++) {
    const proposal = await client.proposals.create.mutate(propose)
    const { id } = proposal
    const { applied, undone } = await state()
    const open = { prices: [1], proposal: ['open', null], applied, undone }
    expect(await state(id)).toEqual(open)
    const apply = ({ proposals }: Client) => proposals.setStatus.mutate({ id, status: 'applied' })
    const answer = await killed(apply, round * STEP_MS)
    const request = (await database.read.proposals.find({ id }))?.request_id ?? null
    const done = { prices: [2], proposal: ['applied', request], applied: applied + count, undone }
    expect(await state(id)).toEqual(answer !== undefined || request !== null ? done : open)
    const again = request ?? (await apply(client)).request_id ?? ''
    const undo = (by: Client) => by.undo(again)
    const undoing = await killed(undo, round * STEP_MS)
    const before = { ...done, proposal: ['applied', again] }
    const after = { ...before, prices: [1], undone: undone + count }
    const [price] = (await state()).prices
    expect(await state(id)).toEqual(undoing !== undefined || price === 1 ? after : before)
    if (price !== 1) await undo(client)
    expect(await state(id)).toEqual(after)
  }
  await database.close()
  released?.release()
})
