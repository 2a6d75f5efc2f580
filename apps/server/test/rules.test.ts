import { expect, test } from 'vitest'
import type { AllRules, CollectionRules } from '../src/store/collection.ts'

// `tsc` checks these tests: a line under @ts-expect-error that compiles is an error.

test('rules that lack a declared procedure do not compile', () => {
  // @ts-expect-error users.setStatus has no implementation
  const none: AllRules = {}
  // @ts-expect-error the rules of users have no procedures
  const derivedOnly: CollectionRules<'users'> = { derived: {} }
  // @ts-expect-error it is missing
  const empty: CollectionRules<'users'> = { procedures: () => ({}) }
  const books: CollectionRules<'books'> = {}
  expect([none, derivedOnly, empty, books]).toHaveLength(4)
})
