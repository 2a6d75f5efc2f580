import { expect, test } from 'vitest'
import { z } from 'zod'
import { draftErrors, draftOf, fieldOf, inputOf } from '../src/resources/field.ts'
import { howsOf, readTyped } from '../src/table/edit-many.ts'

const status = z.enum(['open', 'closed'])

test('a boolean field is a choice, and files contain true or false', () => {
  const fields = [fieldOf('paid', 'Paid', z.boolean()), fieldOf('gift', 'Gift', z.boolean().default(true))]
  expect(fields.map(({ choices }) => choices)).toEqual([
    ['false', 'true'],
    ['false', 'true'],
  ])
  expect(draftOf(fields)).toEqual({ paid: 'false', gift: 'true' })
  expect(draftOf(fields, { paid: true, gift: false })).toEqual({ paid: 'true', gift: 'false' })
  expect(inputOf(fields, { paid: ' true', gift: 'false' })).toEqual({ paid: true, gift: false })
  expect(Object.keys(draftErrors(fields, { paid: 'yes', gift: 'true' }))).toEqual(['paid'])
})

test('a nullable choice starts with its default, and an empty choice is null', () => {
  const fields = [
    fieldOf('status', 'Status', status.nullable().default(null)),
    fieldOf('next', 'Next', status.nullable().default('closed')),
    fieldOf('last', 'Last', status),
  ]
  expect(draftOf(fields)).toEqual({ status: '', next: 'closed', last: 'open' })
  expect(inputOf(fields, { status: '', next: '', last: 'open' })).toEqual({ status: null, next: null, last: 'open' })
})

test('many records can get another reference, and no sum with its id', () => {
  const count = fieldOf('count', 'Count', z.int().nullable())
  const user = { ...fieldOf('user_id', 'User', z.int().nullable()), refersTo: 'users' as const }
  expect(howsOf(count)).toEqual(['set', 'add', 'subtract', 'add percent', 'subtract percent', 'remove'])
  expect(howsOf(user)).toEqual(['set', 'remove'])
  expect(readTyped(count, 'set', '+5')).toEqual({ how: 'add', text: '5' })
  expect(readTyped(user, 'set', '+5')).toEqual({ how: 'set', text: '+5' })
})
