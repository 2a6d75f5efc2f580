import type { Client } from '@resource/client'
import { expect, test } from 'vitest'
import { startTestServer, type TestServer } from './harness.ts'
import { executeSql } from './records.ts'

/** Without a limit of requests. */
const UNLIMITED = { RATE_LIMIT: '0' }

/** Every third item is a lamp: ids 3, 6 and so on. */
async function createItems(server: TestServer, count: number): Promise<void> {
  await executeSql(
    server,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO items (name, name_key, price, category, version)
     SELECT 'Item ' || i, 'item ' || i, i, CASE WHEN i % 3 = 0 THEN 'lamp' END, 1 FROM n`,
  )
}

const isSqlite = ({ databaseUrl }: TestServer) => databaseUrl.startsWith('file:')
const countOf = async ({ items }: Client, input: object = {}) =>
  (await items.list.query({ count: true, ...input })).total
/** All items, without what an undone change leaves. */
const stateOf = async ({ items }: Client) => {
  const all: unknown[] = []
  for await (const { version: _, ...item } of items.iterate({ limit: 1_000 })) all.push(item)
  return all
}

test('C44 a preview of more than 10,000 records has steps, which are the changes together, and are undone together', async () => {
  await using server = await startTestServer(UNLIMITED)
  const { client } = server
  await createItems(server, 30_900)
  const input = { category: 'lamp', id_gte: 30, changes: { multiply: { price: 2 } } }
  const before = await stateOf(client)
  await expect(client.items.updateWhere.mutate(input)).rejects.toMatchObject({
    status: 400,
    reason: 'too_many',
    message:
      'More than 10,000 items match: a request writes at most 10,000. Preview it and send its steps, or add filters',
  })
  const preview = await client.preview('items.updateWhere', input, { attemptTimeoutMs: 30_000 })
  const { steps = [] } = preview
  // The items 30 to 30,900: 10,291.
  expect([preview.created, preview.updated, preview.deleted, preview.changes.length]).toEqual([0, 10_291, 0, 100])
  expect(preview.changes[99]).toMatchObject({ id: 327, before: { price: 327 }, after: { price: 654 } })
  const rows = isSqlite(server) ? 250 : 2_000
  expect(steps).toHaveLength(Math.ceil(10_291 / rows))
  expect(steps[0]).toEqual({ id_gte: 30, id_lt: 30 + 3 * rows, count: rows, effect: expect.any(String) })
  expect(steps.at(-1)).toMatchObject({ id_lt: 30_901, count: 10_291 % rows })
  for (const [n, { id_lt }] of steps.slice(0, -1).entries()) expect(steps[n + 1]?.id_gte).toBe(id_lt)
  expect(await stateOf(client)).toEqual(before)
  expect((await client.audit.list.query({})).audit).toEqual([])

  const seen: number[] = []
  const applied = await client.apply('items.updateWhere', input, { preview, onProgress: (done) => seen.push(done) })
  expect(applied).toEqual({ group: expect.any(String), created: 0, updated: 10_291, deleted: 0 })
  expect(seen).toEqual([0, ...steps.map((_, n) => Math.min(10_291, (n + 1) * rows))])
  const items = (await stateOf(client)) as { id: number; price: number }[]
  expect(items.filter(({ id, price }) => price !== (id % 3 === 0 && id >= 30 ? id * 2 : id))).toEqual([])
  const undone = await client.undo(applied)
  expect(undone).toMatchObject({ requests: steps.length, updated: 10_291 })
  expect(await stateOf(client)).toEqual(before)
})

test('C44 steps stop at the first one whose records another has changed, and those before it are undone together', async () => {
  await using server = await startTestServer(UNLIMITED)
  const { client } = server
  await createItems(server, 30_900)
  const before = await stateOf(client)
  const preview = await client.preview('items.deleteWhere', { category: 'lamp' }, { attemptTimeoutMs: 30_000 })
  const last = preview.steps?.at(-1)
  await client.items.update.mutate({ id: 30_900, price: 1 })
  // A new record after the last one of the preview is not part of it.
  const created = await client.items.create.mutate({ name: 'New', price: 1, category: 'lamp' })
  const group = '0198a1c4-7d52-4b0e-9c3f-5a2f8e6b1d07'
  const apply = () => client.apply('items.deleteWhere', { category: 'lamp' }, { preview, group })
  await expect(apply()).rejects.toMatchObject({ status: 412, reason: 'effect_changed' })
  expect(await countOf(client, { category: 'lamp' })).toBe((last?.count ?? 0) + 1)
  await client.undo(await client.items.update.mutate({ id: 30_900, price: 2 }))
  // Undone changes raise the version, so that a preview does not hold again.
  await expect(apply()).rejects.toMatchObject({ status: 412 })
  expect(await client.undo({ group })).toMatchObject({ restored: 10_300 - (last?.count ?? 0) })
  await client.items.update.mutate({ id: 30_900, price: 30_900 })
  await client.items.delete.mutate({ id: created.id })
  expect(await stateOf(client)).toEqual(before)
  // The same changes can be made again: keys of the first group do not replay its answers.
  const again = await client.apply('items.deleteWhere', { category: 'lamp' })
  expect([again.deleted, await countOf(client, { category: 'lamp' })]).toEqual([10_300, 0])
})

test('C44 a preview shows at most 100,000 records', async () => {
  await using server = await startTestServer(UNLIMITED)
  const { client } = server
  await createItems(server, 100_001)
  await expect(client.preview('items.deleteWhere', { id_gte: 1 })).rejects.toMatchObject({
    status: 400,
    message: 'More than 100,000 items match: a preview shows at most 100,000; add filters',
  })
})

test('C44 the quota covers a preview in steps as the write, and refuses it before the first step', async () => {
  await using server = await startTestServer({ RATE_LIMIT: '500' })
  await createItems(server, 30_900)
  const preview = () => server.client.preview('items.deleteWhere', { category: 'lamp' }, { retryForMs: 0 })
  await expect(preview()).rejects.toMatchObject({ status: 429 })
})

test('C44 a preview in steps ends soon after its caller has closed the connection', async () => {
  await using server = await startTestServer(UNLIMITED)
  await createItems(server, 60_900)
  const transactions = async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    const name = 'resource_database_duration_seconds_count{operation="transaction",table=""} '
    return Number(metrics.split(name)[1]?.split('\n')[0] ?? 0)
  }
  const input = { id_gte: 1 }
  const gone = new AbortController()
  const before = await transactions()
  const asked = fetch(`${server.url}/api/previews`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ operation: 'items.deleteWhere', input }),
    signal: gone.signal,
  }).catch(() => 'aborted')
  await expect.poll(transactions).toBeGreaterThan(before)
  gone.abort()
  expect(await asked).toBe('aborted')
  // Meanwhile the first would end, too.
  const { steps = [] } = await server.client.preview('items.deleteWhere', input, { attemptTimeoutMs: 60_000 })
  expect((await transactions()) - before).toBeLessThan(2 * steps.length)
})
