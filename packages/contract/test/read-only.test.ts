import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { collection } from '../src/collection.ts'
import { decimal, hidden, moment, readOnly, text, whole } from '../src/fields.ts'

const invoices = collection({
  noun: 'invoices',
  description: 'Invoices.',
  fields: {
    price: decimal(0, 1000),
    amount: whole(1, 99).default(1),
    total: readOnly(decimal(0, 99_000)),
    stage: readOnly(z.enum(['draft', 'issued']).default('draft')),
    issued_at: readOnly(moment.nullable().default(null)),
  },
  filters: ['total', 'total_gte', 'stage', 'stage_in', 'issued_at_lt'],
  groups: ['stage'],
  measures: ['total'],
})
const { create, createMany, get, list, replace, summarize, update, updateMany, updateWhere } = invoices.procedures
const shown = ['id', 'price', 'amount', 'total', 'stage', 'issued_at']

test('a read-only field is in every record, as readOnly in the document, and in no input', () => {
  expect(Object.keys(get.output.shape)).toEqual([...shown, 'version'])
  expect(Object.keys(create.input.shape)).toEqual(['price', 'amount', 'idempotency_key'])
  expect(Object.keys(createMany.input.shape.invoices.element.shape)).toEqual(['price', 'amount'])
  expect(Object.keys(replace.input.shape)).toEqual(['id', 'price', 'amount', 'if_version', 'idempotency_key'])
  expect(Object.keys(update.input.shape)).toEqual(['price', 'amount', 'id', 'if_version', 'idempotency_key'])
  expect(Object.keys(updateMany.input.shape.invoices.element.shape)).toEqual(['price', 'amount', 'id', 'if_version'])
  const fields = Object.entries<z.ZodType>(get.output.shape)
  expect(fields.flatMap(([name, field]) => (z.toJSONSchema(field).readOnly ? [name] : []))).toEqual([
    'total',
    'stage',
    'issued_at',
  ])
  for (const changes of [{ set: { total: 1 } }, { add: { total: 1 } }, { multiply: { total: 2 } }])
    expect(updateWhere.input.safeParse({ id_in: [1], changes }).error?.issues[0]?.code).toBe('unrecognized_keys')
})

test('a read-only field is filtered, sorted and summarized', () => {
  const input = { total: 3, total_gte: 2, stage_in: ['draft'], issued_at_lt: '2026-01-01T00:00:00.000Z' }
  expect(list.input.parse({ ...input, sort: 'total_desc' })).toMatchObject(input)
  expect(summarize.input.parse({ by: 'stage', of: 'total' })).toMatchObject({ by: 'stage', of: 'total' })
  expect(JSON.stringify(z.toJSONSchema(list.input, { io: 'input' }))).not.toContain('readOnly')
  expect(Object.keys(invoices.collection.readOnly)).toEqual(['total', 'stage', 'issued_at'])
})

test('the types of a read-only field are in records, not in inputs', () => {
  expectTypeOf<z.output<typeof get.output>['total']>().toEqualTypeOf<number>()
  expectTypeOf<z.output<typeof get.output>['stage']>().toEqualTypeOf<'draft' | 'issued'>()
  expectTypeOf<z.input<typeof create.input>>().not.toHaveProperty('total')
  expectTypeOf<z.input<typeof update.input>>().not.toHaveProperty('total')
  expectTypeOf<z.input<typeof replace.input>>().not.toHaveProperty('total')
  const fields = { code: text(1, 9), number: readOnly(text(1, 9)) }
  // @ts-expect-error no row can name its record by a field that no request has
  collection({ noun: 'invoices', description: '', fields, keys: ['number'] })
  // @ts-expect-error nobody can set it
  collection({ noun: 'invoices', description: '', fields, fieldRoles: { number: 'admin' } })
})

test('a field that is hidden and read-only, and so never seen nor set, is rejected', () => {
  const fields = { code: text(1, 9), pin: readOnly(hidden(text(4, 8))) }
  expect(() => collection({ noun: 'invoices', description: '', fields })).toThrow(
    'invoices: pin is hidden, so it cannot be read-only',
  )
})
