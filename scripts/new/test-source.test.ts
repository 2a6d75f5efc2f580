import { expect, test } from 'vitest'
import { parseField } from './fields.ts'
import { namesOf } from './names.ts'
import { testSource } from './test-source.ts'

const orders = namesOf('orders')
const fields = ['quantity:int:1..10', 'status:open|closed=open', 'user:ref:users'].map(parseField)

const target = { collection: 'users', path: '/api/users/1', refersTo: [] }

test('the tests of a record that refers to another create that record first', () => {
  const source = testSource(orders, fields, [target])
  expect(source).toContain('const counts = { ...none, users: 1 }\n')
  expect(source).toContain(`test('the user of an order cannot be deleted', async () => {
  await using server = await startWithReferences()
  await server.request('POST', '/orders', { json: first })
  expect((await server.request('DELETE', '/api/users/1')).status).toBe(409)
  expect((await server.request('GET', '/orders/1')).status).toBe(200)
})`)
  const cascading = testSource(orders, [parseField('user:ref:users:cascade')], [target])
  expect(cascading).toContain("test('an order is deleted with its user', async () => {")
})

test('a record is not expected to be deleted with its user if another record refers to the user', () => {
  const trip = { collection: 'trips', path: '/trips/1', refersTo: ['users'] }
  const fields = ['user:ref:users:cascade', 'trip:ref:trips:cascade'].map(parseField)
  const source = testSource(orders, fields, [target, trip])
  expect(source).not.toContain("test('an order is deleted with its user'")
  expect(source).toContain("test('an order is deleted with its trip'")
})

test('no test depends on which of two relations to a collection comes first', () => {
  const source = testSource(orders, ['user:ref:users', 'buyer:ref:users:cascade'].map(parseField), [target])
  expect(source).not.toMatch(/cannot be deleted|is deleted with/)
})
