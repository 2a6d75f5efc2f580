import { type Kind, ReferenceViolation, UniqueViolation } from '@resource/database'
import { expect, test } from 'vitest'
import { type RowMappingOptions, rowMapping, searchColumns } from '../src/store/row-mapping.ts'

const facts = {
  one: 'order',
  timestamps: true,
  hidden: ['pin'],
  readOnly: {},
  sortAliases: {},
  filters: ['due_lt', 'due_gte', 'quantity', 'quantity_lt', 'quantity_in'],
  search: ['note'],
  groups: [],
  measures: [],
  keys: [],
  purgeRole: 'admin' as const,
  sort: ['id'],
  references: {},
  valueRoles: {},
  transitions: {},
  unindexed: {},
}
const columns: Record<string, Kind> = {
  id: 'int',
  quantity: 'int',
  due: 'date?',
  pin_hash: 'text?',
  created_at: 'date',
  updated_at: 'date',
  version: 'int',
}

function rowsOf(options: Partial<RowMappingOptions> = {}) {
  const fields = ['quantity', 'due']
  const shown = ['id', 'quantity', 'due', 'created_at', 'updated_at', 'version']
  const derived = { pin_hash: { from: 'pin', make: (pin: string) => `<${pin}>` } }
  return rowMapping({ facts, fields, shown, derived, columns, unique: ['quantity', 'pin_hash'], ...options })
}

test('a new row has timestamps, dates as Date, and the values derived from hidden fields', () => {
  const now = new Date('2026-02-03T04:05:06.789Z')
  const row = rowsOf().created({ quantity: 2, due: '2026-03-01T00:00:00Z', pin: '12' }, undefined, now)
  expect(row).toEqual({
    quantity: 2,
    due: new Date('2026-03-01T00:00:00.000Z'),
    pin_hash: '<12>',
    created_at: now,
    updated_at: now,
  })
})

test('the search text of a field that is null is empty', () => {
  const options = { fields: ['note'], derived: searchColumns(['note']) }
  const { created } = rowsOf(options)
  const now = new Date('2026-02-03T04:05:06.789Z')
  expect(created({ note: null }, undefined, now)).toMatchObject({ note: null, note_key: '' })
  expect(created({ note: 'Ein Haus' }, undefined, now)).toMatchObject({ note_key: 'ein haus' })
})

test('a record shows times as text and hides columns that are not fields', () => {
  const at = new Date('2026-02-03T04:05:06.789Z')
  const row = { id: 7, quantity: 2, due: null, pin_hash: '<12>', created_at: at, updated_at: at, version: 1 }
  expect(rowsOf().present(row)).toEqual({
    id: 7,
    quantity: 2,
    due: null,
    created_at: '2026-02-03T04:05:06.789Z',
    updated_at: '2026-02-03T04:05:06.789Z',
    version: 1,
  })
})

test('bounds of one column are combined and compare dates as dates', () => {
  const where = rowsOf().where({ due_gte: '2026-01-01T00:00:00Z', due_lt: '2026-02-01T00:00:00Z', quantity: 3 })
  expect(where).toEqual({
    due: { gte: new Date('2026-01-01T00:00:00.000Z'), lt: new Date('2026-02-01T00:00:00.000Z') },
    quantity: 3,
  })
})

test('filters of one field are combined', () => {
  const rows = rowsOf()
  expect(rows.where({ quantity_in: [1, 2, 3] })).toEqual({ quantity: { in: [1, 2, 3] } })
  expect(rows.where({ quantity_in: [1, 2, 3], quantity_lt: 3 })).toEqual({ quantity: { in: [1, 2, 3], lt: 3 } })
  expect(rows.where({ quantity_in: [1, 2, 3], quantity: 2 })).toEqual({ quantity: { in: [2] } })
  expect(rows.where({ quantity: 4, quantity_in: [1, 2] })).toEqual({ quantity: { in: [] } })
  expect(rows.where({ quantity: 4, quantity_lt: 3 })).toEqual({ quantity: { in: [4], lt: 3 } })
})

test('a duplicate value and the id of a missing record are a 409 that names the field', () => {
  const { refused } = rowsOf()
  const ofHidden = new UniqueViolation(['pin_hash'])
  expect(refused(ofHidden)).toBe(ofHidden)
  expect(refused(new UniqueViolation(['quantity'], { index: 2 }))).toMatchObject({
    status: 409,
    message: 'quantity: already in use by another order',
    fields: [{ field: 'quantity', message: 'already in use by another order' }],
  })
  expect(refused(new ReferenceViolation(['quantity', 'due'], { index: 0 }))).toMatchObject({
    status: 409,
    message: 'quantity: must be the id of an existing record; due: must be the id of an existing record',
    fields: [
      { field: 'quantity', message: 'must be the id of an existing record' },
      { field: 'due', message: 'must be the id of an existing record' },
    ],
  })
})

test('a key is looked up in the unique column of its field, or in a unique column derived from it', () => {
  const rows = rowsOf()
  const byQuantity = rows.keyColumn('quantity')
  expect([byQuantity.column, byQuantity.valueOf({ quantity: 2 })]).toEqual(['quantity', 2])
  const byPin = rows.keyColumn('pin')
  expect([byPin.column, byPin.valueOf({ pin: '12' }), byPin.valueOf({})]).toEqual(['pin_hash', '<12>', undefined])
})
