import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { collection } from '../src/collection.ts'
import { date, decimal, hidden, moment, reference, text, whole } from '../src/fields.ts'
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
    user_id: reference('users').nullable().default(null),
    pin: hidden(text(4, 8).optional()),
  },
  timestamps: true,
  filters: [
    'status',
    'status_in',
    'reference',
    'reference_contains',
    'quantity_gte',
    'quantity_in',
    'due_lt',
    'created_at_lt',
  ],
  search: ['reference'],
  groups: ['status'],
  measures: ['quantity'],
  keys: ['reference'],
  unindexed: { reference: 'few orders' },
  fieldRoles: { pin: 'admin', status: 'writer' },
  valueRoles: { status: { closed: 'admin' } },
  access: { delete: 'admin' },
  omit: ['replace'],
})
const { create, createMany, delete: remove, get, list, update } = orders.procedures

test('a declaration creates the standard procedures except those it omits', () => {
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
    ['summarize', 'query', 'reader', 'GET', '/orders/summaries', 'summarizeOrders', 'Summarize orders'],
    ['updateMany', 'mutation', 'writer', 'PATCH', '/orders/bulk', 'updateOrders', 'Update many orders'],
    ['updateWhere', 'mutation', 'writer', 'PATCH', '/orders', 'updateMatchingOrders', 'Update all matching orders'],
    ['deleteWhere', 'mutation', 'admin', 'DELETE', '/orders', 'deleteMatchingOrders', 'Delete all matching orders'],
  ])
})

test('a create fills in defaults, and an update contains only the fields that are sent', () => {
  const order = { reference: ' 2026-1 ', quantity: 2, price: 9.5 }
  const filled = {
    reference: '2026-1',
    quantity: 2,
    price: 9.5,
    is_gift: false,
    due: null,
    paid_at: null,
    status: 'open',
    user_id: null,
  }
  expect(create.input.parse(order)).toEqual(filled)
  expect(createMany.input.parse({ orders: [order] })).toEqual({ orders: [filled] })
  expect(update.input.parse({ id: 7, quantity: 3 })).toEqual({ id: 7, quantity: 3 })
  expect(create.input.safeParse({ reference: '2026-1', quantity: 0, price: 9.5 }).error?.issues[0]?.message).toBe(
    'must be a whole number from 1 to 1000',
  )
})

test('a record has every field except hidden ones, its timestamps and its version', () => {
  const shown = [
    'id',
    'reference',
    'quantity',
    'price',
    'is_gift',
    'due',
    'paid_at',
    'status',
    'user_id',
    'created_at',
    'updated_at',
  ]
  expect(Object.keys(get.output.shape)).toEqual([...shown, 'version'])
  expect(Object.keys(create.input.shape)).toContain('pin')
  expect(orders.collection).toEqual({
    one: 'order',
    timestamps: true,
    hidden: ['pin'],
    readOnly: {},
    sortAliases: {},
    filters: [
      'status',
      'status_in',
      'reference',
      'reference_contains',
      'quantity_gte',
      'quantity_in',
      'due_lt',
      'created_at_lt',
    ],
    search: ['reference'],
    groups: ['status'],
    measures: ['quantity'],
    purgeRole: 'admin',
    keys: ['reference'],
    sort: [
      'id',
      'reference',
      'quantity',
      'price',
      'is_gift',
      'due',
      'paid_at',
      'status',
      'user_id',
      'created_at',
      'updated_at',
    ],
    references: { user_id: 'users' },
    valueRoles: { status: { closed: 'admin' } },
    transitions: {},
    unindexed: { reference: 'few orders' },
  })
  expectTypeOf<z.output<typeof get.output>>().not.toHaveProperty('pin')
  expectTypeOf<z.output<typeof get.output>['due']>().toEqualTypeOf<string | null>()
})

test('a filter accepts the values of its field, and for text any text', () => {
  const input = { status: 'nosuch', reference: ' x ', quantity_gte: 3.5, due_lt: '2026-01-31' }
  expect(list.input.parse(input)).toMatchObject({ ...input, reference: 'x' })
  expect(list.input.safeParse({ due_lt: 'soon' }).success).toBe(false)
  expect(list.input.safeParse({ price: 1 }).success).toBe(false)
  expectTypeOf<z.input<typeof list.input>['quantity_gte']>().toEqualTypeOf<number | undefined>()
  expect(readFilter('quantity_gte', ['quantity'])).toEqual({ field: 'quantity', by: 'gte' })
  expect(readFilter('made_lt', ['made_lt'])).toEqual({ field: 'made_lt', by: 'value' })
})

test('a filter by several values accepts a list of 1 to 100 values', () => {
  const input = { status_in: ['open', 'nosuch'], quantity_in: [1, 1000] }
  expect(list.input.parse(input)).toMatchObject(input)
  const faults = (input: object) =>
    list.input.safeParse(input).error?.issues.map(({ path, message }) => [path, message])
  expect(faults({ quantity_in: [1, 0] })).toEqual([[['quantity_in', 1], 'must be a whole number from 1 to 1000']])
  expect(faults({ quantity_in: [] })).toEqual([[['quantity_in'], 'must be a list of 1 to 100 values']])
  expect(faults({ quantity_in: Array(101).fill(1) })).toEqual([[['quantity_in'], 'must be a list of 1 to 100 values']])
  expect(readFilter('quantity_in', ['quantity'])).toEqual({ field: 'quantity', by: 'in' })
  expectTypeOf<z.input<typeof list.input>['quantity_in']>().toEqualTypeOf<number[] | undefined>()
})

const messagesOf = (schema: z.ZodType, input: object) =>
  schema.safeParse(input).error?.issues.map(({ path, message }) => [path.join('.'), message])

test('a search consists of words of at least 2 characters', () => {
  expect(list.input.parse({ q: ' Ada  lo ', reference_contains: 'ab' })).toMatchObject({
    q: 'Ada  lo',
    reference_contains: 'ab',
  })
  expect(messagesOf(list.input, { q: 'ada l' })).toEqual([['q', 'must be words of at least 2 characters']])
  expect(messagesOf(list.input, { q: ' ' })?.[0]).toEqual(['q', 'must be text of 1 to 200 characters'])
  expectTypeOf<z.input<typeof list.input>['q']>().toEqualTypeOf<string | undefined>()
  expect(readFilter('reference_contains', ['reference'])).toEqual({ field: 'reference', by: 'contains' })
})

test('a filter with the name of another parameter is rejected', () => {
  const fields = { prefix: text(1, 100) }
  expect(() => collection({ noun: 'orders', description: '', fields, filters: ['prefix'] })).toThrow(
    'orders: a filter cannot have the name prefix, a parameter of every list',
  )
})

test('a contains filter needs a search index', () => {
  const fields = { reference: text(1, 100) }
  expect(() => collection({ noun: 'orders', description: '', fields, filters: ['reference_contains'] })).toThrow(
    'orders: the filter reference_contains needs reference in `search`',
  )
})

test('a summary accepts the declared groups and measures, and a prefix only with a group', () => {
  const { summarize } = orders.procedures
  expect(summarize.input.parse({ by: 'status', of: 'quantity', prefix: 'op', q: 'x1' })).toEqual({
    by: 'status',
    of: 'quantity',
    prefix: 'op',
    q: 'x1',
    limit: 100,
  })
  expect(messagesOf(summarize.input, { by: 'reference', of: 'price' })).toEqual([
    ['by', 'must be status'],
    ['of', 'must be quantity'],
  ])
  expect(messagesOf(summarize.input, { prefix: 'op' })).toEqual([
    ['prefix', 'requires by: the field of orders whose values begin with it'],
  ])
  expectTypeOf<z.input<typeof summarize.input>['by']>().toEqualTypeOf<'status' | undefined>()
})

test('groups that are not text or a choice, and measures that are not numbers, are rejected', () => {
  const fields = { reference: text(1, 100), quantity: whole(1, 9) }
  expect(() => collection({ noun: 'orders', description: '', fields, groups: ['quantity'] })).toThrow(
    'orders: records cannot be grouped by quantity: it must be text or a choice',
  )
  expect(() => collection({ noun: 'orders', description: '', fields, measures: ['reference'] })).toThrow(
    'orders: reference cannot be a measure: it must be a number',
  )
})

test('a row of an update of many has any field, an id and versions, without defaults', () => {
  const { updateMany } = orders.procedures
  const rows = [{ id: 7, quantity: 3, if_version: 2 }, { reference: 'x' }]
  expect(updateMany.input.parse({ orders: rows, key: 'reference' })).toEqual({
    orders: rows,
    partial: false,
    key: 'reference',
    create: false,
  })
  expect(messagesOf(updateMany.input, { orders: [{ id: 7, quantity: 0 }] })).toEqual([
    ['orders.0.quantity', 'must be a whole number from 1 to 1000'],
  ])
})

test('a change of all matching records sets and calculates fields, but no hidden and no unique ones', () => {
  const { input } = orders.procedures.updateWhere
  const changes = { set: { due: null }, add: { quantity: -1 }, multiply: { price: 1.1 } }
  expect(input.parse({ status: 'open', changes })).toEqual({ status: 'open', changes })
  const faultsOf = (changes: object) => messagesOf(input, { id_in: [1], changes })
  const rule = 'must have at least one field in set, add or multiply'
  expect(faultsOf({})).toEqual([['changes', rule]])
  expect(faultsOf({ set: {}, add: {} })).toEqual([['changes', rule]])
  expect(faultsOf({ set: { quantity: 1 }, add: { quantity: 1 } })).toEqual([
    ['changes.add.quantity', 'must be in only one of set, add and multiply'],
  ])
  expect(faultsOf({ multiply: { price: Number.POSITIVE_INFINITY } })).toEqual([
    ['changes.multiply.price', 'must be a number'],
  ])
  // A reference is no quantity.
  for (const how of ['add', 'multiply'])
    expect(input.safeParse({ id_in: [1], changes: { [how]: { user_id: 1 } } }).success).toBe(false)
  expectTypeOf<keyof NonNullable<z.input<typeof input>['changes']['add']>>().toEqualTypeOf<'quantity' | 'price'>()
  for (const changes of [{ set: { pin: '1234' } }, { set: { reference: 'x' } }, { add: { status: 1 } }]) {
    expect(input.safeParse({ id_in: [1], changes }).success).toBe(false)
  }
})

test('a write of all matching records requires a filter', () => {
  const { deleteWhere, updateWhere } = orders.procedures
  const names =
    'status, status_in, reference, reference_contains, quantity_gte, quantity_in, due_lt, created_at_lt, q, id_in, id_gte or id_lt'
  const missing = [['', `At least one filter is required: ${names}`]]
  expect(messagesOf(deleteWhere.input, {})).toEqual(missing)
  expect(messagesOf(deleteWhere.input, { status: undefined, idempotency_key: 'once' })).toEqual(missing)
  expect(messagesOf(updateWhere.input, { changes: { set: { quantity: 1 } } })).toEqual(missing)
  expect(messagesOf(deleteWhere.input, { id_in: [] })).toEqual([['id_in', 'must be a list of 1 to 10,000 ids']])
  expect(deleteWhere.input.parse({ q: 'lamp', id_in: [7, -1, 3e9] })).toEqual({ q: 'lamp', id_in: [7, 0, 0] })
})

test('a collection whose records cannot be deleted has no procedure that deletes many', () => {
  const { procedures } = collection({
    noun: 'orders',
    description: '',
    fields: { reference: text(1, 100) },
    omit: ['delete'],
  })
  expect(Object.keys(procedures)).not.toContain('deleteWhere')
})

test('a list filter on values that may contain commas is rejected', () => {
  const fields = { reference: text(1, 100) }
  expect(() => collection({ noun: 'orders', description: '', fields, filters: ['reference_in'] })).toThrow(
    'orders: the filter reference_in cannot be a list: in a URL, commas separate its values, and those of reference may contain commas',
  )
})

test('a reference accepts the id of a record and names its collection', () => {
  expect(create.input.safeParse({ reference: 'x', quantity: 1, price: 1, user_id: 0 }).error?.issues[0]?.message).toBe(
    'must be a whole number from 1 to 2147483647',
  )
  expect(z.toJSONSchema(reference('users'))).toMatchObject({
    type: 'integer',
    minimum: 1,
    maximum: 2147483647,
    'x-references': 'users',
  })
})

test('a default that its field rejects, and an optional field without a default, are rejected', () => {
  const declare = (quantity: z.ZodType) => () => collection({ noun: 'orders', description: '', fields: { quantity } })
  expect(declare(whole(1, 10).default(50))).toThrow(
    'orders: the default of quantity, 50, must be a whole number from 1 to 10',
  )
  expect(declare(whole(1, 10).optional())).toThrow(
    'orders: quantity is optional; declare the value to store if it is omitted, such as .nullable().default(null)',
  )
})

test('a list can be sorted by id, every visible field and the timestamps by default', () => {
  const sort = list.input.shape.sort.unwrap().options
  expect(sort.slice(0, 4)).toEqual(['id_asc', 'id_desc', 'reference_asc', 'reference_desc'])
  expect(sort.slice(-2)).toEqual(['updated_at_asc', 'updated_at_desc'])
  expect(sort).not.toContain('pin_asc')
})

test('the schema of an update has the roles of fields, and the schema of a create the roles of values', () => {
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

test('a choice has the same name wherever it occurs, unless the name or a value belongs to another one', () => {
  const size = z.enum(['s', 'm'])
  const declared = collection({
    noun: 'shirts',
    description: '',
    fields: {
      size: size.default('s'),
      neck_form: z.enum(['v', 'u']).nullable().default(null),
      result: z.enum(['1', '2']),
      fit: z.enum(['M', 'l']),
    },
    replace: { size: size.optional() },
    fieldRoles: { size: 'admin' },
  })
  const named = { $ref: '#/$defs/ShirtSize' }
  const { create, replace, update, get } = declared.procedures
  const inputs = [create, replace, update].map(({ input }) => z.toJSONSchema(input, { io: 'input' }))
  expect(inputs.map(({ properties }) => properties?.size)).toMatchObject([
    { ...named, default: 's' },
    { ...named, 'x-role': 'admin' },
    { ...named, 'x-role': 'admin' },
  ])
  expect(z.toJSONSchema(get.output).$defs).toMatchObject({
    VersionedShirt: {
      properties: {
        size: named,
        neck_form: { anyOf: [{ $ref: '#/$defs/ShirtNeckForm' }, { type: 'null' }] },
        result: { type: 'string', enum: ['1', '2'] },
        fit: { type: 'string', enum: ['M', 'l'] },
      },
    },
    ShirtSize: { enum: ['s', 'm'] },
    ShirtNeckForm: { enum: ['v', 'u'] },
  })
})

test('a filter that names no field is rejected at startup and at compile time', () => {
  const declare = () =>
    collection({
      noun: 'orders',
      description: '',
      fields: { reference: text(1, 100) },
      // @ts-expect-error there is no such field
      filters: ['referense_lt'],
    })
  expect(declare).toThrow(
    'orders: the filter referense_lt names no field; the fields are reference, each also with _lt, _lte, _gt, _gte, _in or _contains',
  )
})

test('a hidden field is described as a write-only password', () => {
  for (const { input } of [create, update]) {
    const { pin } = z.toJSONSchema(input, { io: 'input' }).properties ?? {}
    expect(pin).toMatchObject({ writeOnly: true, format: 'password' })
  }
})

test('a bound of times is exact for every operator, though stored times have milliseconds', () => {
  const filters = ['sent_at', 'sent_at_in', 'sent_at_lt', 'sent_at_lte', 'sent_at_gt', 'sent_at_gte'] as const
  const { procedures } = collection({ noun: 'notes', description: 'Notes.', fields: { sent_at: moment }, filters })
  const read = (time: string) =>
    procedures.list.input.parse(Object.fromEntries(filters.map((name) => [name, name.endsWith('_in') ? [time] : time])))
  const [here, next] = ['2026-01-01T00:00:00.194Z', '2026-01-01T00:00:00.195Z']
  expect(read('2026-01-01T01:00:00.1940+01:00')).toMatchObject({
    ...{ sent_at: here, sent_at_in: [here], sent_at_lt: here, sent_at_lte: here, sent_at_gt: here, sent_at_gte: here },
  })
  // Later than every time that can be stored.
  const none = '+010000-01-01T00:00:00.000Z'
  expect(read('2026-01-01T01:00:00.194001+01:00')).toMatchObject({
    ...{ sent_at: none, sent_at_in: [none], sent_at_lt: next, sent_at_lte: here, sent_at_gt: here, sent_at_gte: next },
  })
})

test('a list without filters is described by its order, and a write of many records has the statuses of its rows', () => {
  const { procedures } = collection({ noun: 'notes', description: 'Notes.', fields: { title: text(1, 9) } })
  expect(procedures.list.meta.openapi.description).toBe('Sort with `sort`.')
  expect(procedures.updateMany.errors).toEqual([404, 409, 412])
})

test.each([
  ['orderResults', 'orderResult', 'OrderResult'],
  ['orderStatuses', 'orderStatus', 'OrderStatus'],
  ['purchases', 'order', 'Order'],
])('%s is refused, because its schema would have a name of another collection', (noun, one, schema) => {
  expect(() => collection({ noun, one, description: '', fields: { title: text(1, 9) } })).toThrow(
    `${noun}: the schema ${schema} of the document is one of orders; choose another name with \`one\``,
  )
})

test('transitions are told in the description, and name a choice and its values', () => {
  const declare = (transitions: Record<string, Record<string, string[]>>) => () =>
    collection({
      noun: 'parcels',
      description: 'Parcels.',
      fields: { reference: text(1, 100), status: z.enum(['open', 'paid', 'void', 'sent']).default('open') },
      transitions,
    })
  expect(declare({ status: { open: ['paid', 'void'], paid: ['sent'] } })().description).toBe(
    'Parcels. `status` changes only from `open` to `paid` or `void` and from `paid` to `sent`.',
  )
  expect(declare({ reference: {} })).toThrow('parcels: reference can have no transitions: it must be a choice')
  expect(declare({ status: { open: ['gone'] } })).toThrow(
    'parcels: the transitions of status name gone: it must be open, paid, void or sent',
  )
})

test('a list can be under the records that its own refer to', () => {
  const declare = (nested: Record<string, `/${string}`>) => () =>
    collection({
      noun: 'visits',
      description: 'Visits.',
      fields: { guest_id: reference('users'), room: text(1, 9) },
      filters: ['guest_id'],
      nested,
    })
  const { list } = declare({ guest_id: '/api/users/{guest_id}/visits' })().procedures
  expect(list.meta.openapi.additionalBindings).toEqual([
    {
      path: '/api/users/{guest_id}/visits',
      parents: { guest_id: 'users.get' },
      operationId: 'listVisitsOfGuest',
      summary: 'List the visits of a guest',
    },
  ])
  const rule = 'it must be a reference, a filter and in the path'
  expect(declare({ room: '/rooms/{room}/visits' })).toThrow(
    `visits: /rooms/{room}/visits cannot be a list by room: ${rule}`,
  )
  expect(declare({ guest_id: '/users/{id}/visits' })).toThrow(
    `visits: /users/{id}/visits cannot be a list by guest_id: ${rule}`,
  )
})

test('answers can include the records of references whose names are free', () => {
  const { list, get } = collection({
    noun: 'stays',
    description: 'Stays.',
    fields: { guest_id: reference('users'), room: text(1, 9), room_id: reference('items'), host: reference('users') },
  }).procedures
  const guest = { field: 'guest_id', get: 'users.get', list: 'users.list', by: 'id_in', key: 'id' }
  expect(list.meta.openapi.includes).toEqual({ guest })
  expect(get.meta.openapi.includes).toEqual({ guest })
})
