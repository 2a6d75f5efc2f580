import { expect, test } from 'vitest'
import { z } from 'zod'
import { fieldsOf } from '../src/fields.ts'

test('a nullable field has a --no flag, and so does a boolean whose default is not false', () => {
  const fields = fieldsOf(
    z.object({
      paid: z.boolean(),
      gift: z.boolean().default(true),
      urgent: z.boolean().default(false),
      checked: z.boolean().nullable(),
      note: z.string().nullable(),
      title: z.string(),
    }),
  )
  expect(Object.fromEntries(fields.map(({ name, negatedValue }) => [name, negatedValue]))).toEqual({
    paid: false,
    gift: false,
    urgent: undefined,
    checked: null,
    note: null,
    title: undefined,
  })
})

test('a field whose name begins with no_ has a flag of its own, because --no- negates another', () => {
  const fields = fieldsOf(z.object({ no_show: z.boolean(), note: z.string() }))
  expect(fields.map(({ flag }) => flag)).toEqual(['--field-no-show', '--note'])
})
