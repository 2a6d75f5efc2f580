import { expect, test } from 'vitest'
import { parseField } from './fields.ts'
import { namesOf } from './names.ts'
import { testSource } from './test-source.ts'

test('the tests name two records, a refused value of each field, and what each filter finds', () => {
  const fields = ['quantity:int:1..10', 'status:open|closed=open', 'user:ref:users', 'total:int:readonly=0'].map(
    parseField,
  )
  expect(testSource(namesOf('order-lines'), fields)).toBe(`import { testCollection } from './collection-tests.ts'

testCollection('orderLines', ${JSON.stringify({
    first: { quantity: 1, status: 'open', user_id: 1 },
    second: { quantity: 2, status: 'closed', user_id: 1 },
    invalid: { quantity: 0, status: 'not-open', user_id: 'none' },
    lists: { 'quantity_gte=2': [2], 'status=open': [1], 'user_id=1': [1, 2] },
  })})
`)
})
