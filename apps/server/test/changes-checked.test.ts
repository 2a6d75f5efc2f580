import { FieldError } from '@resource/openapi'
import { expect, test } from 'vitest'
import { newRequestId } from '../src/http/request-id.ts'
import type { CollectionRules } from '../src/store/collection.ts'
import { startTestServer } from './harness.ts'
import { openCalls } from './rule-calls.ts'

// A lamp costs at most 100 and is not deleted while it costs 50 or more; each new set of lamps has a book about it.
const lamps: CollectionRules<'items'> = {
  check: async ({ before, after }, { caller, tx }) => {
    if (after?.category === 'lamp' && after.price > 100)
      throw new FieldError(409, [{ path: ['price'], message: `must be at most 100, also for ${caller.name}` }])
    if (after === undefined && before?.category === 'lamp' && before.price >= 50)
      throw new FieldError(409, [{ path: ['price'], message: 'must be below 50 to delete the lamp' }])
    if (before === undefined && after?.category === 'set') {
      const create = {
        title: after.name,
        title_key: after.name,
        author: 'Ada',
        author_key: 'ada',
        published_date: '2026-01-01',
      }
      await tx.books.write([{ create }])
    }
  },
}

test('a check of a collection holds however a record is written, and names the field', async () => {
  await using server = await startTestServer()
  await using calls = await openCalls(server.databaseUrl, lamps)
  const { call, errorOf } = calls
  const dear = { name: 'Brass', price: 101, category: 'lamp' }
  const fair = { ...dear, price: 90 }
  await call('items.createMany', { items: [fair, { ...fair, name: 'Steel' }] })
  const proposal = (await call('proposals.create', {
    operation: 'items.update',
    input: { id: 1, price: 99 },
    reason: 'dearer',
  })) as { id: number }
  const refused = {
    create: await errorOf('items.create', dear),
    createMany: await errorOf('items.createMany', { items: [fair, dear] }),
    replace: await errorOf('items.replace', { id: 1, ...dear }),
    update: await errorOf('items.update', { id: 1, price: 101 }),
    updateMany: await errorOf('items.updateMany', {
      items: [
        { id: 2, price: 91 },
        { id: 1, price: 101 },
      ],
      partial: false,
      key: 'id',
      create: false,
    }),
    updateWhere: await errorOf('items.updateWhere', { id_in: [1, 2], changes: { add: { price: 11 } } }),
    delete: await errorOf('items.delete', { id: 1 }),
    deleteWhere: await errorOf('items.deleteWhere', { id_in: [1, 2] }),
    preview: await errorOf('previews.create', { operation: 'items.update', input: { id: 1, price: 101 } }),
    proposal: await errorOf('proposals.create', {
      operation: 'items.update',
      input: { id: 1, price: 101 },
      reason: 'x',
    }),
  }
  const rule = 'must be at most 100, also for mira'
  expect(refused).toEqual({
    create: `409 price: ${rule}`,
    createMany: `409 items[1].price: ${rule}`,
    replace: `409 price: ${rule}`,
    update: `409 price: ${rule}`,
    updateMany: `409 items[1].price: ${rule}`,
    updateWhere: `409 Item 1: price: ${rule}`,
    delete: '409 price: must be below 50 to delete the lamp',
    deleteWhere: '409 Item 1: price: must be below 50 to delete the lamp',
    preview: `409 input.price: ${rule}`,
    proposal: `409 input.price: ${rule}`,
  })
  expect(
    await call('items.updateMany', {
      items: [
        { id: 1, price: 101 },
        { id: 2, price: 91 },
      ],
      partial: true,
      key: 'id',
      create: false,
    }),
  ).toMatchObject({
    results: [
      { status: 409, error: `price: ${rule}` },
      { status: 200, changed: true },
    ],
  })
  expect(await call('proposals.setStatus', { id: proposal.id, status: 'applied' })).toMatchObject({ status: 'applied' })
  expect(await call('items.list', { limit: 10 })).toMatchObject({
    items: [
      { id: 1, price: 99, version: 2 },
      { id: 2, price: 91, version: 2 },
    ],
  })
})

test('an undo obeys the check, and what a check writes is previewed and undone with the change', async () => {
  await using server = await startTestServer()
  await using calls = await openCalls(server.databaseUrl, lamps)
  const { call, errorOf } = calls
  const [lowered, created] = [newRequestId(), newRequestId()]
  await call('items.create', { name: 'Brass', price: 200, category: null })
  await call('items.update', { id: 1, price: 40 }, lowered)
  await call('items.update', { id: 1, category: 'lamp' })
  expect(await errorOf('reversals.create', { request_id: lowered })).toBe(
    '409 items[1].price: must be at most 100, also for mira',
  )
  const input = { name: 'Three lamps', price: 9, category: 'set' }
  expect(await call('previews.create', { operation: 'items.create', input })).toMatchObject({ created: 2 })
  await call('items.create', input, created)
  expect(await call('books.list', {})).toMatchObject({ books: [{ title: 'Three lamps' }] })
  expect(await call('reversals.create', { request_id: created })).toMatchObject({ deleted: 2 })
  expect(await call('books.list', {})).toMatchObject({ books: [] })
})

test('a rule that waits ends after a second: its write is undone, its tables are closed, and other writes are stored', async () => {
  await using server = await startTestServer()
  const late = Promise.withResolvers<unknown>()
  const waited = new AbortController()
  await using calls = await openCalls(server.databaseUrl, {
    check: async ({ after }, { tx }) => {
      if (after?.name !== 'Slow') return
      await new Promise((resolve) => waited.signal.addEventListener('abort', resolve))
      await tx.items.count({}).then(late.resolve, late.resolve)
    },
  })
  const { call, errorOf } = calls
  const [refused, stored] = await Promise.all([
    errorOf('items.create', { name: 'Slow', price: 1 }),
    errorOf('items.create', { name: 'Quick', price: 1 }),
  ])
  expect([refused, stored]).toEqual([
    '500 items: its check has taken more than 1000 ms: a rule must not wait for other services',
    'done',
  ])
  expect(await call('items.list', {})).toMatchObject({ items: [{ name: 'Quick' }] })
  waited.abort()
  expect(await late.promise).toEqual(new Error('The transaction of this write has ended: await all its queries.'))
})
