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
  @@index([status(sort: Desc), id], map: "orders_status_desc_id_idx")
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
