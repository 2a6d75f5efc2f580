import { expect, test } from 'vitest'
import { z } from 'zod'
import { fieldsOf } from '../src/fields.ts'

test('a field has a --no flag where it may be null, and a boolean where it is not false by itself', () => {
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
  expect(Object.fromEntries(fields.map(({ name, negative }) => [name, negative]))).toEqual({
    paid: false,
    gift: false,
    urgent: undefined,
    checked: null,
    note: null,
    title: undefined,
  })
})
