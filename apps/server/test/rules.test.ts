import { expect, test } from 'vitest'
import type { AllRules, CollectionRules } from '../src/store/collection.ts'
import type { Compute } from '../src/store/record-rules.ts'

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

test('a rule that computes anything but read-only fields, or that writes, does not compile', () => {
  type Total = Compute<{ id: number; price: number; amount: number; total: number; version: number }, 'total'>
  const right: Total = ({ after }) => ({ total: after.price * after.amount })
  const reading: Total = async ({ before }, { tx }) => ({ total: before?.total ?? (await tx.items.count({})) })
  // @ts-expect-error requests set the price
  const other: Total = ({ after }) => ({ total: 1, price: after.price })
  // @ts-expect-error there is no such field
  const misspelled: Total = () => ({ totl: 1 })
  const writing: Total = async (_, { tx }) => {
    // @ts-expect-error a check can write
    await tx.items.write([])
    return {}
  }
  expect([right, reading, other, misspelled, writing]).toHaveLength(5)
})

test('a check has the record before its change or after it', () => {
  const known: CollectionRules<'items'> = { check: ({ before, after }) => void (before ?? after).price }
  // @ts-expect-error a new record has none before
  const created: CollectionRules<'items'> = { check: ({ before }) => void before.price }
  expect([known, created]).toHaveLength(2)
})

test('a scope names fields of the records and values that they have', () => {
  const subject: CollectionRules<'books'> = { scope: (caller) => ({ author: caller.subject }) }
  const listed: CollectionRules<'items'> = { scope: () => ({ price: { lt: 5 }, category: { in: ['lamp'] } }) }
  const nothing: CollectionRules<'items'> = { scope: ({ role }) => (role === 'admin' ? undefined : 'nothing') }
  // @ts-expect-error books have no owner
  const unknown: CollectionRules<'books'> = { scope: () => ({ owner: 'ada' }) }
  // @ts-expect-error a price is a number
  const wrong: CollectionRules<'items'> = { scope: () => ({ price: '5' }) }
  expect([subject, listed, nothing, unknown, wrong]).toHaveLength(5)
})
