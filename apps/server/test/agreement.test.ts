import type { CollectionFacts } from '@resource/contract'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { checkAgreement, type DeclaredTable, refuseJoint, refuseUncomputed } from '../src/store/agreement.ts'
import { checkCascades, roleToDelete } from '../src/store/cascades.ts'

const facts: CollectionFacts = {
  one: 'order',
  timestamps: false,
  hidden: [],
  readOnly: {},
  filters: ['quantity_gte'],
  sort: ['id', 'quantity'],
  search: ['note'],
  groups: [],
  measures: [],
  keys: [],
  purgeRole: 'admin',
  sortAliases: {},
  references: { user_id: 'users' },
  valueRoles: {},
  transitions: {},
  unindexed: {},
}
const fields = { quantity: z.int(), note: z.string().nullable().default(null), user_id: z.int() }
const agreeing: DeclaredTable = {
  columns: {
    id: 'int',
    quantity: 'int',
    note: 'text?',
    user_id: 'int',
    pin_hash: 'text?',
    note_key: 'text',
    version: 'int',
  },
  search: ['note_key'],
  unique: ['note'],
  indexed: ['id', 'quantity'],
  references: { user_id: { table: 'users', onDelete: 'Restrict' } },
}

interface Differences {
  facts?: Partial<CollectionFacts>
  fields?: Record<string, z.ZodType>
  table?: Partial<DeclaredTable>
}

function check({ facts: otherFacts, fields: otherFields, table }: Differences = {}) {
  const collection = {
    noun: 'orders',
    shown: ['id', 'quantity', 'version'],
    derived: ['pin_hash'],
    keyColumns: ['note'],
  }
  checkAgreement(
    { ...collection, facts: { ...facts, ...otherFacts }, fields: { ...fields, ...otherFields } },
    { ...agreeing, ...table },
  )
}

test('a declaration that agrees with its table is accepted', () => {
  expect(check).not.toThrow()
})

test('a search field whose column is not in the search index is refused', () => {
  expect(() => check({ table: { search: [] } })).toThrow(
    'orders: the model in prisma/schema.prisma marks no column note_key with @search',
  )
})

test('a key that is not unique is refused', () => {
  expect(() => check({ table: { unique: [] } })).toThrow(
    'orders: a key must be unique, but the model in prisma/schema.prisma has no @unique on note',
  )
})

test('a collection without a model is refused', () => {
  expect(() =>
    checkAgreement({ noun: 'orders', facts, fields, shown: [], derived: [], keyColumns: [] }, undefined),
  ).toThrow('orders: there is no table; add a model to prisma/schema.prisma')
})

test.each<[string, Differences, string]>([
  ['a field without a column', { fields: { color: z.string() } }, 'has no column for color'],
  [
    'a field whose type differs from its column',
    { fields: { quantity: z.string() } },
    'quantity is string here, but int in the model in prisma/schema.prisma',
  ],
  [
    'a datetime in a text column',
    { fields: { note: z.iso.datetime().nullable() } },
    'note is datetime here, but text? in the model in prisma/schema.prisma',
  ],
  [
    'a nullable field over a column that is not',
    { fields: { quantity: z.int().nullable() } },
    'quantity is nullable or optional here, but not nullable in the model in prisma/schema.prisma',
  ],
  [
    'a nullable column under a field that is not',
    { fields: { note: z.string() } },
    'note is nullable in the model in prisma/schema.prisma, but not here',
  ],
  [
    'a reference without a foreign key',
    { table: { references: {} } },
    'user_id refers to users here, but has no relation in the model in prisma/schema.prisma',
  ],
  [
    'a reference to a collection other than that of the foreign key',
    { table: { references: { user_id: { table: 'books', onDelete: 'Restrict' } } } },
    'user_id refers to books by a relation in the model in prisma/schema.prisma, but to users here',
  ],
  [
    'an undeclared foreign key',
    { facts: { references: {} } },
    'user_id refers to users by a relation in the model in prisma/schema.prisma, but to nothing here',
  ],
  [
    'a filter or sort without an index',
    { table: { indexed: ['id'] } },
    'lists are filtered or sorted by quantity without an index; add @@index([quantity, id]) to the model in prisma/schema.prisma',
  ],
])('%s is refused with a message that names it', (_, differences, message) => {
  expect(() => check(differences)).toThrow(message)
})

test('a filter without an index is accepted if the declaration gives the reason', () => {
  const unindexed = { quantity: 'a table of at most a hundred rows' }
  expect(() => check({ table: { indexed: ['id'] }, facts: { unindexed } })).not.toThrow()
})

test('a read-only field needs a default, or null, if no rule computes it', () => {
  const refuse = (total: z.ZodType) => () => refuseUncomputed('orders', { ...facts, readOnly: { total } })
  expect(refuse(z.number())).toThrow(
    'orders: no rule computes total, which is read-only; give it a default, or make it nullable',
  )
  expect(refuse(z.number().default(0))).not.toThrow()
  expect(refuse(z.number().nullable())).not.toThrow()
})

test('a column of several fields is made from shown ones', () => {
  const refuse =
    (from: string[], more = {}) =>
    () =>
      refuseJoint('orders', { label: { from, make: () => '', ...more } }, ['quantity', 'note'])
  const message = 'orders: label has several fields, so it must have only make, and only shown fields'
  expect(refuse(['quantity', 'pin'])).toThrow(message)
  expect(refuse(['quantity', 'note'], { check: async () => undefined })).toThrow(message)
  expect(refuse(['quantity', 'note'])).not.toThrow()
})

test('a cascade cannot bypass the role that a deletion requires', () => {
  const table = { references: { book_id: { table: 'books', onDelete: 'Cascade' } } } as const
  const check = (orders: 'writer' | 'admin' | undefined, books: 'writer' | 'admin') => () =>
    checkCascades('orders', table, orders, () => books)
  expect(check('admin', 'writer')).toThrow(
    'orders: deleting one can need the role admin, but deleting books, which cascades by book_id, only writer; give both the same role, or set onDelete: Restrict in the model in prisma/schema.prisma',
  )
  expect(check('writer', 'writer')).not.toThrow()
  expect(check('writer', 'admin')).not.toThrow()
  expect(check(undefined, 'writer')).not.toThrow()
})

test('the role that a deletion requires is the lowest of all procedures that delete', () => {
  const at = (method: string, access: string) => ({ access, meta: { openapi: { method } } })
  expect(roleToDelete({ update: at('PATCH', 'reader') })).toBeUndefined()
  expect(roleToDelete({ delete: at('DELETE', 'admin'), deleteWhere: at('DELETE', 'writer') })).toBe('writer')
})
