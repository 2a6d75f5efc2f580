import { expect, test } from 'vitest'
import { z } from 'zod'
import { randomOf } from '../src/samples/random.ts'
import { distinct, sampleRecords } from '../src/samples/records.ts'

function take<T>(count: number, values: Iterable<T>): T[] {
  const taken: T[] = []
  for (const value of values) if (taken.push(value) === count) break
  return taken
}

const text = (max: number) => z.string().trim().max(max).meta({ minLength: 1, maxLength: max })

/** A resource with every type of field. */
const schema = z.object({
  reference: text(200),
  pin: text(2),
  quantity: z.int().min(1).max(5).default(1),
  amount: z
    .int()
    .min(-(2 ** 31))
    .max(2 ** 31 - 1),
  weight: z.number().min(0.001).max(0.002),
  price: z.number().min(-1e12).max(1e12),
  status: z.enum(['open', 'closed']).default('open'),
  urgent: z.boolean(),
  due: z.iso.date().nullable().default(null),
  sent_at: z.iso.datetime(),
  user_id: z.int().min(1),
  parent_id: z.int().min(1).nullable().default(null),
  secret: text(8).optional().meta({ writeOnly: true }),
  contact_email: z.email(),
})
const orders = {
  schema,
  unique: ['reference', 'amount'],
  references: { user_id: 'users', parent_id: 'orders' },
}

test('a resource without samples gets records from its declaration', () => {
  const first = (count: number) => {
    const ids = { users: [7, 8, 9], orders: [] }
    return take(count, distinct(sampleRecords(orders, ids, randomOf(1, 'orders')), orders.unique))
  }
  const records = first(500)
  expect(records).toEqual(first(500))
  for (const record of records) expect(schema.safeParse(record).error).toBeUndefined()
  for (const field of ['reference', 'amount']) expect(new Set(records.map((row) => row[field])).size).toBe(500)
  const values = (field: string) => new Set(records.map((row) => row[field]))
  expect(values('user_id')).toEqual(new Set([7, 8, 9]))
  expect(values('parent_id')).toEqual(new Set([null]))
  expect(values('status')).toEqual(new Set(['open', 'closed']))
  expect(values('urgent')).toEqual(new Set([false, true]))
  expect(values('quantity')).toEqual(new Set([1, 2, 3, 4, 5]))
  expect(values('secret')).toEqual(new Set([undefined]))
  expect(values('due')).toContain(null)
  expect(values('due').size).toBeGreaterThan(100)
})

test('a unique field with few values ends the records', () => {
  const ids = { users: [1], orders: [] }
  expect(take(100, distinct(sampleRecords(orders, ids, randomOf(1, 'orders')), ['quantity']))).toHaveLength(5)
})

test('a reference to an empty collection and a field without a value are errors that name the field', () => {
  const next = (collection: typeof orders) => sampleRecords(collection, { users: [] }, randomOf(1, 'orders')).next()
  expect(() => next(orders)).toThrow('user_id refers to users, which has no records')
  const odd = { schema: z.object({ isbn: z.string().regex(/^97[89]-\d{10}$/) }), unique: [] }
  expect(() => next({ ...odd, references: {} } as never)).toThrow('no sample value satisfies the rules of isbn')
})

test('samples name the fields with rules; all others follow from the declaration', () => {
  const sample = { record: (_: unknown, n: number) => ({ pin: 'no', reference: `A-${n}` }) }
  const records = sampleRecords(orders, { users: [3] }, randomOf(1, 'orders'), sample)
  const [first, second] = take(2, records)
  expect([first, second]).toMatchObject([
    { reference: 'A-0', pin: 'no', user_id: 3 },
    { reference: 'A-1', pin: 'no', user_id: 3 },
  ])
  expect(schema.safeParse(second).error).toBeUndefined()
})

test('random numbers follow from seed and name, within their bounds', () => {
  const numbers = (seed: number, name: string) => {
    const { int } = randomOf(seed, name)
    return Array.from({ length: 1000 }, () => int(-2, 7))
  }
  expect(numbers(1, 'users').slice(0, 6)).toEqual([4, 3, 2, -1, 1, 1])
  expect(new Set(numbers(1, 'users')).size).toBe(10)
  expect(Math.min(...numbers(1, 'users'))).toBe(-2)
  expect(numbers(1, 'users')).not.toEqual(numbers(2, 'users'))
  expect(numbers(1, 'users')).not.toEqual(numbers(1, 'books'))
})
