import { contract } from '@resource/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { CHARACTERS, JSON_VALUES } from './fuzz/values.ts'

interface Def {
  shape?: Record<string, z.ZodType>
  element?: z.ZodType
  innerType?: z.ZodType
  in?: z.ZodType
  options?: readonly z.ZodType[]
  entries?: Record<string, string>
}

// For each field the lists contain at least one valid value; the bounds of a number are added to them.
const TEXTS = [
  'Ann',
  'ann@example.com',
  '2020-02-29',
  '2026-11-22T10:00:00.000Z',
  'id_desc',
  'reader',
  'users.get',
  'applied',
  '42-mi5k3w8q',
  '01989f2e-6a00-7c3e-8a51-3f0f4d1c9b20',
]
const OTHERS = [1, 30, 12.5, 1000, 2 ** 31 - 1, 2 ** 31, Number.MAX_SAFE_INTEGER, 1e300, true, {}, null, undefined]
const text = fc.oneof(fc.constantFrom(...CHARACTERS), fc.string({ unit: 'binary' }))
const wrong = fc.oneof(fc.constantFrom(...JSON_VALUES, ...OTHERS), text)

/** A mostly valid value for a schema, with an invalid part now and then. */
function valueFor(schema: z.ZodType): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: validFor(schema), weight: 30 }, { arbitrary: wrong, weight: 1 })
}

function validFor(schema: z.ZodType): fc.Arbitrary<unknown> {
  const { shape, element, innerType, in: input, options, entries } = schema.def as Def
  const inner = innerType ?? input
  if (inner !== undefined) {
    const empty = [null, undefined].filter((value) => schema.safeParse(value).success)
    return fc.oneof({ arbitrary: validFor(inner), weight: 4 }, ...empty.map((value) => fc.constant(value)))
  }
  if (options !== undefined) return fc.oneof(...options.map(validFor))
  if (element !== undefined) return fc.array(valueFor(element), { maxLength: 3 })
  if (entries !== undefined) return fc.constantFrom(...Object.values(entries))
  if (shape === undefined) {
    const { minValue, maxValue } = schema as z.ZodNumber
    const values = [...TEXTS, ...OTHERS, minValue, maxValue]
    return fc.constantFrom(...values.filter((value) => schema.safeParse(value).success))
  }
  const fields = Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, valueFor(field)]))
  return fc.oneof(
    { arbitrary: fc.record(fields), weight: 4 },
    fc.record(fields, { requiredKeys: [] }),
    fc.record({ ...fields, unknown: wrong }),
  )
}

const schemas = Object.entries(contract).flatMap(([noun, { procedures }]) =>
  Object.entries(procedures).flatMap(([verb, { input, output, meta }]) => {
    const { additionalBindings = [], ...first } = meta.openapi as { additionalBindings?: { response?: z.ZodType }[] }
    const responses = [first as { response?: z.ZodType }, ...additionalBindings].map(({ response }) => response)
    return [input, output, ...responses]
      .filter((schema): schema is z.ZodType => schema !== undefined)
      .map((schema, index) => ({ name: `${noun}.${verb} ${index}`, schema }))
  }),
)
// A range that contains none of the values above, as `npm run new cars year:int:1900..1999` declares it.
schemas.push({ name: 'a number in a narrow range', schema: z.object({ year: z.int().min(1900).max(1999) }) })

describe('a compiled schema of the contract', () => {
  test('is compiled completely, without a fallback to the zod parser', () => {
    expect(schemas.length).toBeGreaterThan(60)
    for (const { schema } of schemas) z.compile(schema, { strict: true })
  })

  test.each(schemas)('gives the same result as the zod parser for every value: $name', ({ schema }) => {
    const compiled = z.compile(schema)
    let accepted = 0
    fc.assert(
      fc.property(valueFor(schema), (value) => {
        const sent = structuredClone(value)
        const answer = compiled.safeParse(value)
        expect(value).toEqual(sent)
        const expected = schema.safeParse(value)
        expect(answer).toEqual(expected)
        // The fields have the same order.
        expect(JSON.stringify(answer.data)).toBe(JSON.stringify(expected.data))
        if (answer.success) accepted++
      }),
      { numRuns: 100, seed: 1781 },
    )
    expect(accepted).toBeGreaterThan(0)
  })
})
