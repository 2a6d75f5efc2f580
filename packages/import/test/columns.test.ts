import { expect, test } from 'vitest'
import { guessColumns } from '../src/columns.ts'

const FIELDS = [
  { name: 'id', names: ['item_id'] },
  { name: 'name', names: ['Name'] },
  { name: 'price' },
  { name: 'published_date', names: ['Published date'] },
]

test.each<[column: string, field: string | undefined]>([
  ['name', 'name'],
  ['Item name', 'name'],
  ['PRÍCE', 'price'],
  ['Prise', 'price'],
  ['prices', 'price'],
  ['nmae', 'name'],
  ['pirce', 'price'],
  ['Published-Date', 'published_date'],
  ['published', 'published_date'],
  ['item_id', 'id'],
  ['ID', 'id'],
  // Too short or too different, or a similar name of the id.
  ['pr', undefined],
  ['prize money', undefined],
  ['order id', undefined],
  ['constructor', undefined],
  ['__proto__', undefined],
  ['toString', undefined],
  ['hasOwnProperty', undefined],
])('the column %s is the field %s', (column, field) => {
  expect(guessColumns([column], FIELDS).get(column)).toBe(field)
})

test('a field has one column: the one with the same name, if any', () => {
  expect([...guessColumns(['Prise', 'Price', 'price'], FIELDS)]).toEqual([['price', 'price']])
})

test('a column that could be several fields is none, and assigned columns stay', () => {
  const fields = [{ name: 'home_address' }, { name: 'work_address' }]
  expect(guessColumns(['address'], fields).size).toBe(0)
  const assigned = new Map([
    ['address', 'work_address'],
    ['constructor', 'home_address'],
  ])
  expect(guessColumns(['address', 'constructor', 'home_address'], fields, assigned)).toEqual(assigned)
})
