import { expect, test } from 'vitest'
import { InternedSql } from './interned-sql.ts'

test('the same pieces return the same object until 10,000 other texts have been built', () => {
  const start = new InternedSql('SELECT ')
  const built = () => start.append('"id"').append(' FROM "users"')
  const first = built()
  expect(first.text).toBe('SELECT "id" FROM "users"')
  for (let n = 2; n < 10_000; n++) start.append(`"field${n}"`)
  expect(built()).toBe(first)
  start.append('"another"')
  expect(built()).not.toBe(first)
  expect(built()).toBe(built())
  expect(built().text).toBe(first.text)
})
