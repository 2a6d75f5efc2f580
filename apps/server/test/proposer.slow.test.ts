import { type Client, createClient } from '@resource/client'
import { type Contract, contract } from '@resource/contract'
import { describe, expect, test } from 'vitest'
import { exampleOf, operationIds, seed, seededId } from './examples.ts'
import { shareTestServer, type TestServer } from './harness.ts'
import { createItem, createKey, openDatabase } from './records.ts'
import { inputOf } from './samples.ts'

/** What a proposer may do, of the operations that are no reads. */
// Of others' sessions it sees none.
const ALLOWED: Record<string, number> = { createPreview: 200, createProposal: 201, endSession: 404 }
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
        const status = ALLOWED_CALLS.includes(name) ? 200 : name === 'sessions.end' ? 404 : 403
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
