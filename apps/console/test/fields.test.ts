import { expect, test } from 'vitest'
import { z } from 'zod'
import { draftErrors, draftOf, faultText, fieldOf, inputOf } from '../src/resources/field.ts'
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

test('a text that is no number asks for one, with a decimal point; the bounds are named if a number exceeds them', () => {
  const fields = [fieldOf('price', 'Price', z.number().max(1_000)), fieldOf('count', 'Count', z.int())]
  const errorsOf = (price: string, count: string) => draftErrors(fields, { price, count })
  const whole = 'Enter a whole number, such as 12'
  expect(errorsOf('12,5', '12,5')).toEqual({ price: 'Enter a number, such as 12.5', count: whole })
  expect(errorsOf('12,5x', 'two')).toEqual({ price: 'Enter a number, such as 12.50', count: whole })
  expect(errorsOf('1000.5', '2').price).toMatch(/1,?000/)
})

test('an error of an imported row has the text of the form, and a rule of the service is shown as it is', () => {
  const fields = [
    fieldOf('name', 'Name', z.string().min(1)),
    fieldOf('price', 'Price', z.number().max(1_000)),
    fieldOf('email', 'E-mail', z.email()),
  ]
  const textOf = (error: string, value?: unknown) =>
    faultText(error, fields, { [error.slice(0, error.indexOf(':'))]: value })
  expect(textOf('name: is required')).toBe('Enter a name')
  expect(textOf('price: must be a number', 'abc')).toBe('Enter a number, such as 12.50')
  expect(textOf('price: must be a number to 1e3', 2_000)).toBe('Price must be a number to 1,000')
  expect(textOf('email: must be valid', 'olivia@')).toBe('Enter an e-mail address, such as name@example.org')
  expect(draftErrors(fields, { name: '', price: 'abc', email: 'olivia@' })).toEqual({
    name: 'Enter a name',
    price: 'Enter a number, such as 12.50',
    email: 'Enter an e-mail address, such as name@example.org',
  })
  expect(textOf('email: already in line 9', 'a@example.org')).toBe('E-mail already in line 9')
  expect(textOf('has 3 cells, the first line has 2')).toBe('has 3 cells, the first line has 2')
})

test('many records can get another reference, and no sum with its id', () => {
  const count = fieldOf('count', 'Count', z.int().nullable())
  const user = { ...fieldOf('user_id', 'User', z.int().nullable()), refersTo: 'users' as const }
  expect(howsOf(count)).toEqual(['set', 'add', 'subtract', 'add percent', 'subtract percent', 'remove'])
  expect(howsOf(user)).toEqual(['set', 'remove'])
  expect(readTyped(count, 'set', '+5')).toEqual({ how: 'add', text: '5' })
  expect(readTyped(user, 'set', '+5')).toEqual({ how: 'set', text: '+5' })
})
