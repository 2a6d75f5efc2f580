import { searchKey } from '@resource/database'
import { expect, test, vi } from 'vitest'
import { newRequestId } from '../src/http/request-id.ts'
import type { CollectionRules } from '../src/store/collection.ts'
import { startTestServer } from './harness.ts'
import { openCalls } from './rule-calls.ts'

interface Item {
  id: number
  name: string
  price: number
  category: string | null
  version: number
}
interface Change {
  before?: Item
  after: Item
}

/** Opens calls of a service in which a rule computes the category of items. */
async function open(
  compute: (change: Change, context: { tx: { items: { count: (where: object) => Promise<number> } } }) => unknown,
) {
  const server = await startTestServer()
  // The type of items has no read-only field.
  const calls = await openCalls(server.databaseUrl, { compute: vi.fn().mockImplementation(compute) }, ['category'])
  const get = (id: number) => calls.call('items.get', { id }) as Promise<Item>
  const entries = async (record_id: number) =>
    ((await calls.call('audit.list', { resource: 'items', record_id, sort: 'id_asc' })) as { audit: unknown[] }).audit
  const stop = async () => {
    await calls[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  }
  return { ...calls, get, entries, [Symbol.asyncDispose]: stop }
}

type Calls = Awaited<ReturnType<typeof open>>

const byPrice = ({ before, after }: Change) => ({
  category: `${after.price < 100 ? 'fair' : 'dear'}${before === undefined ? '' : `, before ${before.price}`}`,
})
const price = 120

/** Every way to write: each creates an item for 120 or changes the price of one from 90, and returns its id. */
const ways: Record<string, (calls: Calls, id: number) => Promise<number>> = {
  create: async ({ call }) => ((await call('items.create', { name: 'New', price })) as Item).id,
  createMany: async ({ call }) => {
    const created = (await call('items.createMany', {
      items: [
        { name: 'A', price: 1 },
        { name: 'B', price },
      ],
    })) as { items: Item[] }
    return created.items[1]?.id ?? 0
  },
  'updateMany that creates': async ({ call }) => {
    const rows = { items: [{ name: 'C', price }], partial: false, create: true }
    const { results } = (await call('items.updateMany', rows)) as { results: { record: Item }[] }
    return results[0]?.record.id ?? 0
  },
  replace: async ({ call }, id) => {
    await call('items.replace', { id, name: 'Lamp', price })
    return id
  },
  update: async ({ call }, id) => {
    await call('items.update', { id, price })
    return id
  },
  updateMany: async ({ call }, id) => {
    await call('items.updateMany', { items: [{ id, price }], partial: false, create: false })
    return id
  },
  'updateMany with partial success': async ({ call }, id) => {
    const rows = [
      { id: 1e6, price },
      { id, price },
    ]
    await call('items.updateMany', { items: rows, partial: true, create: false })
    return id
  },
  'updateWhere that sets': async ({ call }, id) => {
    await call('items.updateWhere', { id_in: [id], changes: { set: { price } } })
    return id
  },
  'updateWhere that adds': async ({ call }, id) => {
    await call('items.updateWhere', { id_in: [id], changes: { add: { price: 30 } } })
    return id
  },
  'updateWhere with a preview': async ({ call }, id) => {
    const input = { id_in: [id], changes: { multiply: { price: 4 / 3 } } }
    const { changes } = (await call('previews.create', { operation: 'items.updateWhere', input })) as {
      changes: { after: Item }[]
    }
    await call('items.updateWhere', input)
    expect(changes).toMatchObject([{ after: { category: ((await call('items.get', { id })) as Item).category } }])
    return id
  },
  proposal: async ({ call }, id) => {
    const proposal = { operation: 'items.update', input: { id, price }, reason: 'dearer' }
    const { id: proposed } = (await call('proposals.create', proposal)) as { id: number }
    await call('proposals.setStatus', { id: proposed, status: 'applied' })
    return id
  },
}

test('a computed field follows from the record however it is written: in one step, with one audit entry', async () => {
  await using calls = await open(byPrice)
  const seen: Record<string, unknown> = {}
  for (const [name, way] of Object.entries(ways)) {
    const { id } = (await calls.call('items.create', { name: 'Lamp', price: 90 })) as Item
    expect((await calls.get(id)).category).toBe('fair')
    const written = await calls.get(await way(calls, id))
    const entries = await calls.entries(written.id)
    expect(entries.at(-1)).toMatchObject({ after: { category: written.category, version: written.version } })
    seen[name] = [written.price, written.category, written.version, entries.length]
  }
  const [created, changed] = [
    [120, 'dear', 1, 1],
    [120, 'dear, before 90', 2, 2],
  ]
  expect(seen).toEqual({
    create: created,
    createMany: created,
    'updateMany that creates': created,
    replace: changed,
    update: changed,
    updateMany: changed,
    'updateMany with partial success': changed,
    'updateWhere that sets': changed,
    'updateWhere that adds': changed,
    'updateWhere with a preview': changed,
    proposal: changed,
  })
})

test('a write that changes nothing, and a delete, compute nothing', async () => {
  const computed: number[] = []
  await using calls = await open(({ after }) => {
    computed.push(after.price)
    return {}
  })
  await calls.call('items.create', { name: 'Lamp', price: 90 })
  await calls.call('items.update', { id: 1, price: 90 })
  await calls.call('items.updateWhere', { id_in: [1], changes: { multiply: { price: 1 } } })
  await calls.call('items.delete', { id: 1 })
  expect(computed).toEqual([90])
})

test('an undo restores the values of then, and computes again what other fields have changed since', async () => {
  let times = 0
  await using calls = await open(({ after }) => ({ category: `${after.name} for ${after.price}, ${++times}` }))
  const [dearer, renamed, removed] = [newRequestId(), newRequestId(), newRequestId()]
  await calls.call('items.create', { name: 'Lamp', price: 90 })
  await calls.call('items.update', { id: 1, price: 120 }, dearer)
  const undo = async (request_id: string) => {
    const request = newRequestId()
    await calls.call('reversals.create', { request_id }, request)
    return request
  }
  const redone = await undo(await undo(dearer))
  expect(await calls.get(1)).toMatchObject({ price: 120, category: 'Lamp for 120, 2' })
  await calls.call('items.update', { id: 1, name: 'Light' }, renamed)
  await undo(redone)
  expect(await calls.get(1)).toMatchObject({ name: 'Light', price: 90, category: 'Light for 90, 4', version: 6 })
  await calls.call('items.delete', { id: 1 }, removed)
  await undo(removed)
  expect(await calls.get(1)).toMatchObject({ category: 'Light for 90, 4', version: 6 })
  expect(times).toBe(4)
})

test('a rule that reads other records sees those that the same write has stored before', async () => {
  let times = 0
  await using calls = await open(async (_, { tx }) => {
    times++
    return { category: `number ${await tx.items.count({})}` }
  })
  const items = ['A', 'B', 'C'].map((name) => ({ name, price: 1 }))
  expect(await calls.call('items.createMany', { items })).toMatchObject({
    items: [{ category: 'number 0' }, { category: 'number 1' }, { category: 'number 2' }],
  })
  expect(times).toBe(3)
  await using mixed = await open(({ after }, { tx }) => {
    if (after.name !== 'C') return {}
    return tx.items.count({}).then((count) => ({ category: `after ${count}` }))
  })
  expect(await mixed.call('items.createMany', { items })).toMatchObject({
    items: [{ category: null }, { category: null }, { category: 'after 2' }],
  })
})

test('concurrent changes of different fields leave no value computed from an old record', async () => {
  await using calls = await open(({ after }) => ({ category: `${after.name} for ${after.price}` }))
  await calls.call('items.create', { name: 'Lamp', price: 90 })
  const adding = Array.from({ length: 9 }, () =>
    calls.call('items.updateWhere', { id_in: [1], changes: { add: { price: 10 } } }),
  )
  await Promise.all([...adding, calls.call('items.update', { id: 1, name: 'Light' })])
  expect(await calls.get(1)).toMatchObject({ price: 180, category: 'Light for 180', version: 11 })
})

test('a value computed beyond the limits of its field is a 400 of the row, alone or with partial success', async () => {
  await using server = await startTestServer()
  const compute = ({ after: { name } }: { after: { name: string } }) => ({ price: name.length * 1e11 })
  await using calls = await openCalls(server.databaseUrl, { compute: vi.fn().mockImplementation(compute) }, ['price'])
  const dear = { name: 'A floor lamp', price: 1 }
  const fault = 'price: must be a number from 0 to 1e12'
  expect(await calls.errorOf('items.create', dear)).toBe(`400 ${fault}`)
  expect(await calls.errorOf('items.createMany', { items: [dear] })).toMatch(
    /^400 .*price: must be a number from 0 to 1e12$/,
  )
  const rows = { items: [{ name: 'Lamp', price: 1 }, dear], partial: true, create: true }
  const { results } = (await calls.call('items.updateMany', rows)) as { results: { record?: Item; error?: unknown }[] }
  expect(results[0]?.record).toMatchObject({ name: 'Lamp', price: 4e11 })
  expect(JSON.stringify(results[1])).toContain(fault)
})

test('a record that a rule changes has the time of its change', async () => {
  await using server = await startTestServer()
  const [user] = (await server.client.users.createMany.mutate({ users: [{ name: 'Ada', email: 'ada@example.com' }] }))
    .users
  const check: CollectionRules<'items'>['check'] = async ({ after }, { tx }) => {
    if (after) await tx.users.write([{ id: 1, change: { age: 36 } }])
  }
  await using calls = await openCalls(server.databaseUrl, { check })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
  await calls.call('items.create', { name: 'Lamp', price: 1 }).finally(() => vi.useRealTimers())
  const { age, updated_at } = await server.client.users.get.query({ id: 1 })
  expect([age, Date.parse(updated_at) - Date.parse(user?.updated_at ?? '')]).toEqual([36, expect.closeTo(60_000, -4)])
})

test('a rule that fails or computes nonsense leaves nothing half done', async () => {
  await using calls = await open(({ after }) => {
    if (after.name === 'Broken') throw new Error('defect')
    if (after.name === 'Long') return { category: 'x'.repeat(101) }
    return after.name === 'Number' ? { category: 1 } : after.name === 'Other' ? { price: 1 } : {}
  })
  const fair = { name: 'Lamp', price: 1 }
  const errorOf = (name: string) => calls.errorOf('items.createMany', { items: [fair, { ...fair, name }] })
  expect(await errorOf('Broken')).toBe('500 defect')
  expect(await errorOf('Long')).toMatch(/^400 .*category: must be text of 1 to 100 characters$/)
  expect(await errorOf('Number')).toBe('500 items: the computed category must be text of 1 to 100 characters')
  expect(await errorOf('Other')).toBe('500 items: its rule computes price, which is not a read-only field')
  const rows = { items: [fair, { ...fair, name: 'Broken' }], partial: true, create: true }
  expect(await calls.errorOf('items.updateMany', rows)).toBe('500 defect')
  expect(await calls.call('items.list', { limit: 10 })).toMatchObject({ items: [] })
})

test('reads are served while a rule waits', async () => {
  let go = (_: object) => {}
  const waiting = new Promise<object>((resolve) => {
    go = resolve
  })
  await using calls = await open(() => waiting)
  const creating = calls.call('items.create', { name: 'Lamp', price: 1 })
  expect(await calls.call('items.list', { limit: 10 })).toMatchObject({ items: [] })
  go({ category: 'late' })
  expect(await creating).toMatchObject({ category: 'late' })
})

test('a column of several fields follows from all of them, however few a write changes', async () => {
  await using server = await startTestServer()
  const make = (...fields: unknown[]) => searchKey(fields.join(' '))
  await using calls = await openCalls(server.databaseUrl, {
    derived: { name_key: { from: ['name', 'category'], make } },
  })
  const found = async (q: string) =>
    ((await calls.call('items.list', { q, limit: 10 })) as { items: Item[] }).items.length
  const changed = newRequestId()
  await calls.call('items.create', { name: 'Lamp', price: 1, category: 'lighting' })
  expect(await found('lamp lighting')).toBe(1)
  await calls.call('items.update', { id: 1, category: 'gift' }, changed)
  expect([await found('lamp gift'), await found('lamp lighting')]).toEqual([1, 0])
  await calls.call('items.updateWhere', { id_in: [1], changes: { set: { name: 'Rug' } } })
  expect(await found('rug gift')).toBe(1)
  await calls.call('reversals.create', { request_id: changed })
  expect([await found('rug lighting'), await found('rug gift')]).toEqual([1, 0])
})

test('a column of several fields also follows from computed ones', async () => {
  await using server = await startTestServer()
  const make = (...fields: unknown[]) => searchKey(fields.join(' '))
  const derived = { name_key: { from: ['name', 'category'], make } }
  const compute = vi.fn().mockImplementation(byPrice)
  await using calls = await openCalls(server.databaseUrl, { derived, compute }, ['category'])
  await calls.call('items.createMany', {
    items: [
      { name: 'Lamp', price: 90 },
      { name: 'Rug', price: 90 },
    ],
  })
  await calls.call('items.updateWhere', { id_in: [1], changes: { add: { price: 30 } } })
  expect(await calls.call('items.list', { q: 'lamp dear', limit: 10 })).toMatchObject({ items: [{ id: 1 }] })
})

test('a computation that waits ends after a second, and nothing is stored', async () => {
  await using calls = await open(() => new Promise(() => undefined))
  expect(await calls.errorOf('items.create', { name: 'Slow', price })).toBe(
    '500 items: its compute has taken more than 1000 ms: a rule must not wait for other services',
  )
  expect(await calls.call('items.list', {})).toMatchObject({ items: [] })
})
