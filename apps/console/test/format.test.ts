import { expect, test } from 'vitest'
import { errorMessage } from '../src/ui/format.ts'

test('an error message becomes a sentence with one full stop', () => {
  expect(errorMessage(new Error('price: must be a number'))).toBe('price: must be a number.')
  expect(errorMessage(new Error('It is already in use.'))).toBe('It is already in use.')
})
