import { expect, test } from 'vitest'
import { Recent } from './recent.ts'

test('the values used most recently are kept, and at most twice as many', () => {
  const made: number[] = []
  const recent = new Recent<number, string>(100)
  const get = (key: number) =>
    recent.get(key, () => {
      made.push(key)
      return `value ${key}`
    })
  for (let key = 1; key <= 1_000; key++) expect([get(key), get(1)]).toEqual([`value ${key}`, 'value 1'])
  expect(made).toHaveLength(1_000)
  for (let key = 1_000; key >= 1; key--) get(key)
  expect(made[1_000]).toBe(900)
})
