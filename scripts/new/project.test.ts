import { expect, test } from 'vitest'
import { exampleOf } from './project.ts'

test.each([
  [{ type: 'number', minimum: 0, maximum: 0.5 }, 0.5],
  [{ type: 'integer', minimum: -9, maximum: -5 }, -5],
  [{ type: 'integer', minimum: 1900, maximum: 2100 }, 1900],
  [{ type: 'number' }, 1],
])('the example of %j is within its bounds', (property, example) => {
  expect(exampleOf(property)).toBe(example)
})
