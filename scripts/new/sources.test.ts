import { expect, test } from 'vitest'
import { withModel, withNoun, withoutModel, withoutNoun } from './edits.ts'
import { parseField } from './fields.ts'
import { namesOf } from './names.ts'
import { backRelations, declarationSource, modelSource, testSource } from './sources.ts'

const orders = namesOf('orders')
const models = new Map([['users', 'User']])
const fields = ['quantity:int:1..10', 'status:open|closed=open', 'user:ref:users'].map(parseField)

test('a declaration has the fields, their imports and their filters', () => {
  expect(declarationSource(orders, fields)).toBe(`import { z } from 'zod'
import { collection } from './collection.ts'
import { whole, must } from './fields.ts'
import { reference } from './reference.ts'

export const orders = collection({
noun: 'orders',
description: "Orders with quantity, status and user.",
fields: { quantity: whole(1, 10),
status: z.enum(["open","closed"], must("open or closed")).default("open"),
user_id: reference("users"), },
timestamps: true,
filters: ["quantity_gte","quantity_lte","status","user_id"],
})`)
})

test('a declaration says the singular and the path that do not follow from the noun', () => {
  const source = declarationSource(namesOf('order-boxes'), fields)
  expect(source).toContain("noun: 'orderBoxes',\none: 'orderBox',")
  expect(source).toContain("path: '/order-boxes',")
})

const model = `model Order {
  id         Int      @id @default(autoincrement())
  quantity   Int
  status     String
  user       User     @relation(fields: [user_id], references: [id], onDelete: Restrict)
  user_id    Int
  version    Int      @default(1)
  created_at DateTime
  updated_at DateTime

  @@index([quantity, id])
  @@index([status, id])
  @@index([status(sort: Desc), id], map: "orders_status_desc_id_idx")
  @@index([user_id, id])
  @@map("orders")
}
`
const before = `model User {
  id   Int    @id
  name String

  @@index([name, id])
  @@map("users")
}
`

test('a model has a column and an index for each field, and relations', () => {
  expect(modelSource(orders, fields, models)).toBe(model)
})

test('the model that is referred to gets the other side of the relation, and loses it again', () => {
  const after = withModel(before, model, backRelations(orders, fields, models))
  expect(after).toBe(`${before.replace('String\n', 'String\n  orders Order[]\n')}\n${model}`)
  expect(withoutModel(after, orders)).toBe(before)
})

test('two relations to one model have names', () => {
  const two = ['buyer:ref:users', 'seller:ref:users:cascade?'].map(parseField)
  expect(modelSource(orders, two, models)).toContain(`
  buyer      User     @relation("orders_buyer", fields: [buyer_id], references: [id], onDelete: Restrict)
  buyer_id   Int
  seller     User?    @relation("orders_seller", fields: [seller_id], references: [id], onDelete: Cascade)
  seller_id  Int?
`)
  expect(backRelations(orders, two, models)).toEqual([
    { model: 'User', line: 'orders_buyer Order[] @relation("orders_buyer")' },
    { model: 'User', line: 'orders_seller Order[] @relation("orders_seller")' },
  ])
})

test('a model that another one refers to is not removed', () => {
  const referredTo = model.replace('  version', '  trips      Trip[]\n  version')
  expect(() => withoutModel(`${before}\n${referredTo}`, orders)).toThrow(
    'orders: the model Trip refers to it. Remove that one before it.',
  )
})

test('a model that is not there is not removed', () => {
  expect(() => withoutModel(before, orders)).toThrow('orders: there is no model Order. If it has another singular')
})

test('the list gets a line and a name, and loses them again', () => {
  const list = "import { keys } from './keys.ts'\n\nexport const written = { users, keys }\n"
  const longer = withNoun(list, orders)
  expect(longer).toBe(
    "import { orders } from './orders.ts'\nimport { keys } from './keys.ts'\n\nexport const written = { users, orders, keys }\n",
  )
  expect(withoutNoun(longer, orders)).toBe(list)
})

test('the promises of a record that refers to another begin with that one', () => {
  const target = { collection: 'users', create: '/api/users', json: { name: 'Ada' }, path: '/api/users/1' }
  const source = testSource(orders, fields, [target])
  expect(source).toContain(`await server.request('POST', '/api/users', { json: {"name":"Ada"} })`)
  expect(source).toContain(`test('the user of an order cannot be deleted', async () => {
  await using server = await startWithReferences()
  await server.request('POST', '/orders', { json: first })
  expect((await server.request('DELETE', '/api/users/1')).status).toBe(409)
  expect((await server.request('GET', '/orders/1')).status).toBe(200)
})`)
  const cascading = testSource(orders, [parseField('user:ref:users:cascade')], [target])
  expect(cascading).toContain("test('an order is deleted with its user', async () => {")
})
