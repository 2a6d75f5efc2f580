import { expect, test } from 'vitest'
import { deletionCases, testCollection } from './collection-tests.ts'

// As `npm run new` writes it for a new collection.
testCollection('books', {
  first: { title: 'First', author: 'First', published_date: '2026-01-31' },
  second: { title: 'Second', author: 'Second', published_date: '2026-02-28' },
  invalid: { title: '', author: '', published_date: '2026-02-30' },
  lists: { 'author=First': [1], 'published_date_gte=2026-02-28': [2] },
})

const cascade = (table: string) => ({ table, onDelete: 'Cascade' as const })
const restrict = (table: string) => ({ table, onDelete: 'Restrict' as const })
const users = { references: {} }

test('a record keeps the record that it refers to, or is deleted with it', () => {
  const orders = { references: { user_id: restrict('users'), order_id: cascade('orders') } }
  expect(deletionCases('lines', { users, orders: { references: {} }, lines: orders })).toEqual([
    { relation: 'user', target: 'users', isKept: true },
    { relation: 'order', target: 'orders', isKept: false },
  ])
})

test('a record is not expected to be deleted with its user if another record refers to the user', () => {
  const trips = { references: { user_id: restrict('users') } }
  const orders = { references: { user_id: cascade('users'), trip_id: cascade('trips') } }
  expect(deletionCases('orders', { users, trips, orders })).toEqual([
    { relation: 'trip', target: 'trips', isKept: false },
  ])
})

test('no case depends on which of two relations to a collection comes first', () => {
  const orders = { references: { user_id: restrict('users'), buyer_id: cascade('users') } }
  expect(deletionCases('orders', { users, orders })).toEqual([])
})
