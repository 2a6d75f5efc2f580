import { expect, test } from 'vitest'
import { searchColumnsIn } from '../../prisma/scripts/search-index.ts'
import { parseField } from './fields.ts'
import { withModel, withoutModel } from './model.ts'
import { namesOf } from './names.ts'

const orders = namesOf('orders')
const models = new Map([['users', 'User']])
const fields = ['quantity:int:1..10', 'status:open|closed=open', 'user:ref:users'].map(parseField)

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
  @@index([status(sort: Desc), id], map: "orders_status_id_desc_idx")
  @@index([user_id, id])
  @@index([created_at, id])
  @@index([updated_at, id])
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

test('a model has columns and indexes for its fields, and the referenced model has the back-relation', () => {
  const after = withModel(before, orders, fields, models)
  expect(after).toBe(`${before.replace('String\n', 'String\n  orders Order[]\n')}\n${model}`)
  expect(withoutModel(after, orders)).toBe(before)
})

test('a text field has a column with its search key, in the search index', () => {
  const after = withModel(before, orders, ['reference:text:unique', 'note:text?'].map(parseField), models)
  expect(after).toContain(`
  reference     String   @unique
  /// @search The reference in the form of \`searchKey\`.
  reference_key String   @default("")
  note          String?
  /// @search The note in the form of \`searchKey\`.
  note_key      String   @default("")
`)
  expect(searchColumnsIn(after)).toEqual(new Map([['orders', ['reference_key', 'note_key']]]))
  expect(withoutModel(after, orders)).toBe(before)
})

test('two relations to one model have distinct names', () => {
  const after = withModel(before, orders, ['buyer:ref:users', 'seller:ref:users:cascade?'].map(parseField), models)
  expect(after).toContain(`
  name String
  orders_buyer Order[] @relation("orders_buyer")
  orders_seller Order[] @relation("orders_seller")
`)
  expect(after).toContain(`
  buyer      User     @relation("orders_buyer", fields: [buyer_id], references: [id], onDelete: Restrict)
  buyer_id   Int
  seller     User?    @relation("orders_seller", fields: [seller_id], references: [id], onDelete: Cascade)
  seller_id  Int?
`)
})

test('a model referenced by another model is not removed', () => {
  const referredTo = model.replace('  version', '  trips      Trip[]\n  version')
  expect(() => withoutModel(`${before}\n${referredTo}`, orders)).toThrow(
    'orders: the model Trip refers to it. Remove Trip first.',
  )
})

test('an unknown model is not removed', () => {
  expect(() => withoutModel(before, orders)).toThrow('orders: no model Order. If its singular is irregular')
})

test('no two indexes of a model have the same name', () => {
  const after = withModel(before, orders, ['status:open|closed', 'status_desc:text'].map(parseField), models)
  // The names that Prisma gives to indexes without a name.
  const names = [...after.matchAll(/@@index\(\[(\w+)(?:\(sort: Desc\))?, id\](?:, map: "(\w+)")?\)/g)].map(
    ([, field, name]) => name ?? `orders_${field}_id_idx`,
  )
  expect(names).toContain('orders_status_desc_id_idx')
  expect(new Set(names).size).toBe(names.length)
})

test('a field whose index would have a longer name than PostgreSQL permits is rejected', () => {
  const add = (length: number, type: string, names = orders) =>
    withModel(before, names, [parseField(`${'n'.repeat(length)}:${type}`)], models)
  for (const [longest, type] of [
    [49, 'int'],
    [44, 'open|closed'],
  ] as const) {
    expect(add(longest, type)).toContain('n'.repeat(longest))
    expect(() => add(longest + 1, type)).toThrow('has 64 characters; must have at most 63')
  }
  expect(() => add(1, 'int', namesOf(`${'o'.repeat(45)}s`))).toThrow('created_at: the name of its index')
})

test('a resource with the name of a field in a model that it refers to is rejected', () => {
  const withColumn = before.replace('name String', 'name String\n  orders Int')
  expect(() => withModel(withColumn, orders, fields, models)).toThrow(
    'orders: the model User already has a field orders, so it cannot list the orders that refer to it. Choose another name.',
  )
})
