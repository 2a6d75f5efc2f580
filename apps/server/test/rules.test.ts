import { expect, test } from 'vitest'
import type { AllRules, CollectionRules } from '../src/store/collection.ts'

// `tsc` checks these tests: a line under @ts-expect-error that compiles is an error.

test('rules that lack a declared procedure do not compile', () => {
  // @ts-expect-error users.setStatus and users.deleteByStatus have no implementation
  const none: AllRules = {}
  // @ts-expect-error the rules of users have no procedures
  const derivedOnly: CollectionRules<'users'> = { derived: {} }
  // @ts-expect-error both are missing
  const empty: CollectionRules<'users'> = { procedures: () => ({}) }
  const partial: CollectionRules<'users'> = {
    // @ts-expect-error deleteByStatus is missing
    procedures: ({ update }) => ({ setStatus: (input, context) => update(input, context) as never }),
  }
  const books: CollectionRules<'books'> = {}
  expect([none, derivedOnly, empty, partial, books]).toHaveLength(5)
})
