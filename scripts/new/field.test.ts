import { expect, test } from 'vitest'
import { searchColumnsIn } from '../../prisma/scripts/search-index.ts'
import { withFields } from './declaration.ts'
import { addedField, withEntries } from './field.ts'
import { parseField } from './fields.ts'
import { withColumns } from './model.ts'
import { namesOf } from './names.ts'
import { withCases } from './test-source.ts'

const orders = namesOf('orders')
const added = (...texts: string[]) => texts.map((text) => addedField(parseField(text)))

const models = `model User {
  id     Int     @id
  orders Order[]

  @@index([id])
  @@map("users")
}

model Order {
  id         Int      @id
  buyer      User     @relation(fields: [buyer_id], references: [id], onDelete: Restrict)
  buyer_id   Int
  version    Int      @default(1)
  created_at DateTime

  @@index([created_at, id])
  @@map("orders")
}
`

test('a field of existing records is nullable without a default, and they have the default otherwise', () => {
  expect(added('note:text', 'size:s|l=l', 'due:date?')).toMatchObject([
    { nullable: true, default: null },
    { nullable: false, default: 'l', existing: 'l' },
    { nullable: true, default: null },
  ])
  expect(() => added('code:text:unique=A')).toThrow('code: existing records would share the default of a unique field.')
})

test('entries are added at the end of a list or object, whatever brackets its texts and comments have', () => {
  const source = "collection({ fields: { a: text(1, 2), // it's ]\n b: must('}') }, search: ['a'] })"
  expect(withEntries(source, 'fields', ['c: 1', 'd: 2'])).toBe(
    "collection({ fields: { a: text(1, 2), // it's ]\n b: must('}'),\nc: 1,\nd: 2,\n}, search: ['a'] })",
  )
  expect(withEntries(source, 'search', ["'c'"])).toContain("search: ['a',\n'c',\n] })")
  expect(withEntries(source, 'groups', ["'c'"])).toContain("},\ngroups: ['c'], search")
  expect(withEntries(source, 'groups', [])).toBe(source)
  expect(() => withEntries('', 'fields', ['c'])).toThrow('no fields that a field could be added to')
})

test('a declaration gets the fields, what they import, and their filters', () => {
  const source =
    "import { text } from './fields.ts'\nexport const orders = collection({\nfields: { code: text(1, 9) },\n})\n"
  expect(withFields(source, added('note:text', 'size:s|l=l'))).toBe(`import { z } from 'zod'
import { must } from './fields.ts'
import { text } from './fields.ts'
export const orders = collection({
fields: { code: text(1, 9),
note: text(1, 200).nullable().default(null),
size: z.enum(["s","l"], must("s or l")).default("l"),
},
groups: ["size"],
search: ["note"],
filters: ["note_contains", "size"],
})
`)
})

test('the example of a record and the list of sortable fields get the fields, if a declaration has them', () => {
  const source = "collection({ fields: { a: text(1, 2) }, sort: ['id', 'a'], example: { id: 7, a: 'A' } })"
  expect(withFields(source, added('due:date?', 'size:int:1..9=2'))).toContain(
    "sort: ['id', 'a',\n\"due\",\n\"size\",\n], example: { id: 7, a: 'A',\ndue: null,\nsize: 2,\n} })",
  )
})

test('a model gets columns and indexes before its own, and the referenced model a named back-relation', () => {
  const after = withColumns(models, orders, added('note:text=Éa', 'seller:ref:users'), new Map([['users', 'User']]))
  expect(after).toContain(`
  buyer_id   Int
  note       String   @default("Éa")
  /// @search The note in the form of \`searchKey\`.
  note_key   String   @default("éa")
  seller     User?    @relation("orders_seller", fields: [seller_id], references: [id], onDelete: Restrict)
  seller_id  Int?
  version    Int      @default(1)
`)
  // Existing records share a value, so that a descending list needs an index of its own.
  expect(after).toContain(`
  @@index([created_at, id])
  @@index([note, id])
  @@index([note(sort: Desc), id], map: "orders_note_id_desc_idx")
  @@index([seller_id, id])
  @@index([seller_id(sort: Desc), id], map: "orders_seller_id_id_desc_idx")
  @@map`)
  expect(after).toContain('  orders Order[]\n  orders_seller Order[] @relation("orders_seller")\n')
  expect(searchColumnsIn(after)).toEqual(new Map([['orders', ['note_key']]]))
})

test('a field that the model has, and an unknown model, are refused', () => {
  expect(() => withColumns(models, orders, added('buyer_id:int'), new Map())).toThrow('orders: buyer_id already exists')
  expect(() => withColumns(models, namesOf('trips'), added('note:text'), new Map())).toThrow('trips: no model Trip')
})

test('the tests get values of the new fields', () => {
  const source = "testCollection('orders', { first: { code: 'A' }, second: { code: 'B' }, invalid: {}, lists: {} })"
  expect(withCases(source, added('size:s|l')).replaceAll('\n', '')).toBe(
    'testCollection(\'orders\', { first: { code: \'A\',"size": "s",}, second: { code: \'B\',"size": "l",}, invalid: {"size": "not-s",}, lists: {"size=s": [1],} })',
  )
})
