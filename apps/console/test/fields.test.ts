import { expect, test } from 'vitest'
import { z } from 'zod'
import { draftErrors, draftOf, fieldOf, inputOf } from '../src/resources/field.ts'

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
