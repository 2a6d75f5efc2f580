import { expect, test } from 'vitest'
import { RowMapping, type RowMappingOptions } from '../src/store/row-mapping.ts'

const facts = {
  one: 'order',
  timestamps: true,
  hidden: ['pin'],
  sortAliases: {},
  filters: ['due_lt', 'due_gte', 'quantity'],
}
const columns = {
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
  const table = { columns } as unknown as RowMappingOptions['table']
  const derived = { pin_hash: { from: 'pin', make: (pin: string) => `<${pin}>` } }
  return new RowMapping({ noun: 'orders', facts, fields, shown, derived, table, ...options })
}

test('a field without a column, and a resource without a table, are refused at start by name', () => {
  expect(() => rowsOf({ fields: ['quantity', 'due', 'color'] })).toThrow(
    'orders: the model in prisma/schema.prisma has no column for color',
  )
  expect(() => rowsOf({ table: undefined })).toThrow(
    'orders: there is no table; prisma/schema.prisma needs a model for it',
  )
})

test('a new row has its times, its dates as dates, and what is made of hidden fields', () => {
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

test('a record shows times as text, and no column that is not a field', () => {
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

test('bounds of one column hold together, and compare dates as dates', () => {
  const where = rowsOf().where({ due_gte: '2026-01-01T00:00:00Z', due_lt: '2026-02-01T00:00:00Z', quantity: 3 })
  expect(where).toEqual({
    due: { gte: new Date('2026-01-01T00:00:00.000Z'), lt: new Date('2026-02-01T00:00:00.000Z') },
    quantity: 3,
  })
})
