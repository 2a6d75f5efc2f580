import { VersionMismatchError } from '@resource/client'
import { expect, test } from 'vitest'
import { startTestServer, type TestServer } from './harness.ts'

const WRITERS = 50
const WRITES = 50
const SHELVES = 10

test('C38 beside 50 writers, an applied batch changes exactly the previewed records, or none with a 412', async () => {
  await using server = await startTestServer()
  const { items } = server.client
  // Four records a shelf, so that the sample of a batch is its whole preview. Each write sets a price that no other sets.
  await items.createMany.mutate({
    items: Array.from({ length: 4 * SHELVES }, (_, n) => ({
      name: `Item ${n}`,
      price: n,
      category: shelf(n % SHELVES),
    })),
  })
  let price = 1000
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let n = 0; n < WRITES; n++) {
      const id = 1 + ((writer * 7 + n * 11) % (4 * SHELVES))
      // The last shelf is left alone: its batches succeed.
      if (id % SHELVES === 0) continue
      await items.update.mutate({ id, price: price++, ...(n % 5 === 0 && { category: shelf(writer % (SHELVES - 1)) }) })
    }
  })
  const isOver = Promise.all(writers).then(() => true)
  const applied: Batch[] = []
  let refused = 0
  const round = async (category: string) => {
    const changes = { price: price++ }
    const batch = await items.createBatch.mutate({ action: 'update', filter: { category }, changes })
    try {
      const { count } = await items.applyBatch.mutate({ batch_id: batch.id, status: 'applied' })
      expect(count).toBe(batch.count)
      applied.push({ ...batch, price: changes.price })
    } catch (error) {
      expect(error).toBeInstanceOf(VersionMismatchError)
      refused++
    }
  }
  for (let n = 0; !(await Promise.race([isOver, false])); n++) {
    await Promise.all([0, 1, 2].map((other) => round(shelf((n * 3 + other) % SHELVES))))
  }
  expect(refused).toBeGreaterThan(0)
  expect(applied.filter(({ count }) => count > 0).length).toBeGreaterThan(0)

  const changed = await changesByPrice(server)
  for (const { price, count, sample } of applied) {
    const before = changed.get(price) ?? []
    expect(before).toHaveLength(count)
    if (count <= 5) expect(before).toEqual(sample)
  }
  const ofBatches = [...changed.values()].reduce((sum, { length }) => sum + length, 0)
  expect(ofBatches).toBe(applied.reduce((sum, { count }) => sum + count, 0))
})

test('C38 a batch takes at most 20,000 records', async () => {
  await using server = await startTestServer()
  const { items } = server.client
  const rows = Array.from({ length: 1000 }, (_, n) => ({ name: `Item ${n}`, price: n }))
  for (let n = 0; n < 20; n++) await items.createMany.mutate({ items: rows })
  const create = () => items.createBatch.mutate({ action: 'update', filter: {}, changes: { price: 1 } })
  expect((await create()).count).toBe(20_000)
  await items.create.mutate({ name: 'One more', price: 1 })
  await expect(create()).rejects.toMatchObject({
    status: 400,
    message: 'More than 20,000 items match: a batch takes at most 20,000; add filters',
  })
})

interface Batch {
  price: number
  count: number
  sample: object[]
}

function shelf(n: number): string {
  return `shelf ${n}`
}

/** The records that batches changed, as they were before, by the price that they got. */
async function changesByPrice({ client }: TestServer): Promise<Map<unknown, object[]>> {
  const changed = new Map<unknown, object[]>()
  for await (const { audit } of client.audit.pages({ procedure: 'items.applyBatch', limit: 1000 })) {
    for (const { before, after } of audit) {
      const { price } = after as { price: number }
      const { version: _, ...record } = before as { version: number }
      changed.set(price, [record, ...(changed.get(price) ?? [])])
    }
  }
  return changed
}
