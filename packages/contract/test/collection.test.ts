import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { collection } from '../src/collection.ts'
import { date, decimal, hidden, moment, text, whole } from '../src/fields.ts'
import { readFilter } from '../src/filters.ts'

const orders = collection({
  noun: 'orders',
  description: 'Orders, open or closed.',
  fields: {
    reference: text(1, 100),
    quantity: whole(1, 1000),
    price: decimal(0, 1e6),
    is_gift: z.boolean().default(false),
    due: date().nullable().default(null),
    paid_at: moment.nullable().default(null),
    status: z.enum(['open', 'closed']).default('open'),
    pin: hidden(text(4, 8).optional()),
  },
  timestamps: true,
  filters: ['status', 'reference', 'quantity_gte', 'due_lt'],
  changedBy: { pin: 'admin', status: 'writer' },
  givenBy: { status: { closed: 'admin' } },
  access: { delete: 'admin' },
  omit: ['replace'],
})
const { create, createMany, delete: remove, get, list, update } = orders.procedures

test('a declaration makes the standard procedures, but for those it omits', () => {
  const rest = Object.entries(orders.procedures).map(([verb, { type, access, meta }]) => {
    const { method, path, operationId, summary } = meta.openapi
    return [verb, type, access, method, path, operationId, summary]
  })
  expect(rest).toEqual([
    ['list', 'query', 'reader', 'GET', '/orders', 'listOrders', 'List orders'],
    ['get', 'query', 'reader', 'GET', '/orders/{id}', 'getOrder', 'Get an order'],
    ['create', 'mutation', 'writer', 'POST', '/orders', 'createOrder', 'Create an order'],
    ['createMany', 'mutation', 'writer', 'POST', '/orders/bulk', 'createOrders', 'Create many orders'],
    ['update', 'mutation', 'writer', 'PATCH', '/orders/{id}', 'updateOrder', 'Update an order'],
    ['delete', 'mutation', 'admin', 'DELETE', '/orders/{id}', 'deleteOrder', 'Delete an order'],
  ])
})

test('a create fills defaults in, an update leaves out what is not sent', () => {
  const order = { reference: ' 2026-1 ', quantity: 2, price: 9.5 }
  const filled = {
    reference: '2026-1',
    quantity: 2,
    price: 9.5,
    is_gift: false,
    due: null,
    paid_at: null,
    status: 'open',
  }
  expect(create.input.parse(order)).toEqual(filled)
  expect(createMany.input.parse({ orders: [order] })).toEqual({ orders: [filled] })
  expect(update.input.parse({ id: 7, quantity: 3 })).toEqual({ id: 7, quantity: 3 })
  expect(create.input.safeParse({ reference: '2026-1', quantity: 0, price: 9.5 }).error?.issues[0]?.message).toBe(
    'must be a whole number from 1 to 1000',
  )
})

test('a record shows every field but the hidden ones, its times and its version', () => {
  const shown = [
    'id',
    'reference',
    'quantity',
    'price',
    'is_gift',
    'due',
    'paid_at',
    'status',
    'created_at',
    'updated_at',
  ]
  expect(Object.keys(get.output.shape)).toEqual([...shown, 'version'])
  expect(Object.keys(create.input.shape)).toContain('pin')
  expect(orders.collection).toEqual({
    one: 'order',
    timestamps: true,
    hidden: ['pin'],
    sortAliases: {},
    filters: ['status', 'reference', 'quantity_gte', 'due_lt'],
  })
  expectTypeOf<z.output<typeof get.output>>().not.toHaveProperty('pin')
  expectTypeOf<z.output<typeof get.output>['due']>().toEqualTypeOf<string | null>()
})

test('filters take the values of their fields, and text that no record has', () => {
  const input = { status: 'nosuch', reference: ' x ', quantity_gte: 3.5, due_lt: '2026-01-31' }
  expect(list.input.parse(input)).toMatchObject({ ...input, reference: 'x' })
  expect(list.input.safeParse({ due_lt: 'soon' }).success).toBe(false)
  expect(list.input.safeParse({ price: 1 }).success).toBe(false)
  expectTypeOf<z.input<typeof list.input>['quantity_gte']>().toEqualTypeOf<number | undefined>()
  expect(readFilter('quantity_gte', ['quantity'])).toEqual({ field: 'quantity', by: 'gte' })
  expect(readFilter('made_lt', ['made_lt'])).toEqual({ field: 'made_lt', by: 'value' })
})

test('a list is sorted by id and by every field that is shown, where the declaration names no others', () => {
  const sort = list.input.shape.sort.unwrap().options
  expect(sort.slice(0, 4)).toEqual(['id_asc', 'id_desc', 'reference_asc', 'reference_desc'])
  expect(sort).not.toContain('pin_asc')
})

test('roles for fields stand in what changes them, and roles for values in what gives them', () => {
  expect(z.toJSONSchema(update.input, { io: 'input' }).properties).toMatchObject({
    status: { 'x-role': 'writer' },
    pin: { 'x-role': 'admin' },
  })
  expect(z.toJSONSchema(create.input, { io: 'input' }).properties?.status).toMatchObject({
    'x-value-roles': { closed: 'admin' },
    default: 'open',
  })
  expect(remove.access).toBe('admin')
})

test('a filter of no field is refused, at compile time too', () => {
  const declare = () =>
    collection({
      noun: 'orders',
      description: '',
      fields: { reference: text(1, 100) },
      // @ts-expect-error there is no such field
      filters: ['referense_lt'],
    })
  expect(declare).toThrow(
    'orders: the filter referense_lt names no field; the fields are reference, each also with _lt, _lte, _gt or _gte',
  )
})
