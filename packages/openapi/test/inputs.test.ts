import { setTimeout } from 'node:timers/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Contract, mutation, type Procedure, query } from '../src/contract.ts'
import { openApiDocument } from '../src/document.ts'
import { expressHandlers } from '../src/index.ts'
import { envelope } from './sky.ts'
import { documentOptions, resourceOf, type Small, serve } from './small.ts'

// Every zod schema can be read from a query string, path, header or body, or is rejected at startup.

const seen = z.object({ seen: z.unknown() })

function asking(input: z.ZodType, path: `/${string}` = '/things', headerParams = {}): Procedure {
  return query({
    input,
    output: seen,
    meta: { openapi: { method: 'GET', path, headerParams } },
  }) as unknown as Procedure
}

function sending(input: z.ZodType, more = {}): Procedure {
  return mutation({
    input,
    output: seen,
    meta: { openapi: { method: 'POST', path: '/things', ...more } },
  }) as unknown as Procedure
}

const serveOne = (procedure: Procedure): Promise<Small> =>
  serve({ things: resourceOf({ one: procedure }) }, { things: { one: async (input: unknown) => ({ seen: input }) } })

/** The input of the procedure, or the status and the error. */
async function ask({ request }: Small, method: string, path: string, sent = {}): Promise<unknown> {
  const { status, body } = await request(method, path, sent)
  return status === 200 ? body.seen : [status, body.error]
}

function documented(procedure: Procedure) {
  const { paths, components } = openApiDocument({ things: resourceOf({ one: procedure }) } as Contract, documentOptions)
  const operation = Object.values(paths ?? {})[0]?.[procedure.meta.openapi.method.toLowerCase() as 'get']
  // biome-ignore lint/suspicious/noExplicitAny: a serialized operation
  const printed = JSON.parse(JSON.stringify(operation)) as any
  const schema = printed.requestBody?.content['application/json'].schema
  // References are relative to the root of the schema.
  return { ...printed, body: JSON.parse(JSON.stringify({ ...schema, components })) }
}

describe('a list', () => {
  test('in a query string repeats its parameter', async () => {
    const input = z.object({ tag: z.array(z.string()).optional(), size: z.array(z.number()).nullable().default([7]) })
    const small = await serveOne(asking(input))
    expect(await ask(small, 'GET', '/things?tag=a&size=1&tag=b,c&size=-2.5')).toEqual({
      tag: ['a', 'b,c'],
      size: [1, -2.5],
    })
    expect(await ask(small, 'GET', '/things?tag=a')).toEqual({ tag: ['a'], size: [7] })
    expect(await ask(small, 'GET', '/things?size=x&size=1')).toMatchObject([400, /size\[0\]/])
    const [tag] = documented(asking(input)).parameters
    expect([tag.name, tag.style ?? 'form', tag.explode ?? true]).toEqual(['tag', 'form', true])
  })

  test('in a query string has commas between its values with `explode: false`', async () => {
    const commas = { param: { style: 'form', explode: false } } as const
    const input = z.object({ tag: z.array(z.string()).optional().meta(commas), size: z.array(z.int()).meta(commas) })
    const small = await serveOne(asking(input))
    expect(await ask(small, 'GET', '/things?tag=a,b&size=1')).toEqual({ tag: ['a', 'b'], size: [1] })
    expect(await ask(small, 'GET', '/things?size=1&size=2')).toEqual([400, 'size must be given once'])
    const [tag] = documented(asking(input)).parameters
    expect([tag.name, tag.style, tag.explode]).toEqual(['tag', 'form', false])
  })

  test('in a path or a header has commas between its values', async () => {
    const input = z.object({ ids: z.array(z.int()), names: z.array(z.string()) })
    const procedure = asking(input, '/things/{ids}', { 'X-Names': 'names' })
    const small = await serveOne(procedure)
    expect(await ask(small, 'GET', '/things/1,2', { headers: { 'X-Names': 'a,b' } })).toEqual({
      ids: [1, 2],
      names: ['a', 'b'],
    })
    for (const { style = 'simple', name } of documented(procedure).parameters.slice(0, 1)) {
      expect([name, style]).toEqual(['ids', 'simple'])
    }
  })

  test('in a union with a single value is read as the first option that fits', async () => {
    const small = await serveOne(asking(z.object({ size: z.union([z.int(), z.array(z.int()).min(2)]) })))
    expect(await ask(small, 'GET', '/things?size=1')).toEqual({ size: 1 })
    expect(await ask(small, 'GET', '/things?size=1&size=2')).toEqual({ size: [1, 2] })
  })

  test('is the only parameter that may be repeated', async () => {
    const small = await serveOne(asking(z.object({ tag: z.array(z.string()), one: z.string().optional() })))
    expect(await ask(small, 'GET', '/things?tag=a&one=1&one=2')).toEqual([400, 'one must be given once'])
    expect(await ask(small, 'GET', '/things?tag=a&envelope=false&envelope=false')).toEqual([
      400,
      'envelope must be given once',
    ])
  })

  test('with thousands of values is read in linear time', async () => {
    const small = await serveOne(asking(z.object({ tag: z.array(z.string()) })))
    const started = process.cpuUsage()
    expect(await ask(small, 'GET', `/things?${Array(2000).fill('tag=a').join('&')}`)).toEqual({
      tag: Array(2000).fill('a'),
    })
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(1000)
  })
})

describe('a value in a query string, a path or a header is read by its schema:', () => {
  const wanted: [string, z.ZodType, Record<string, unknown>][] = [
    ['a numeric literal', z.literal(1), { 1: 1, 2: 400, true: 400 }],
    ['a literal of a boolean', z.literal(true), { true: true, false: 400, 1: 400 }],
    ['literals of many types', z.literal(['a', 1, false]), { a: 'a', 1: 1, false: false, true: 400 }],
    ['a union of numeric literals', z.union([z.literal(1), z.literal(2)]), { 1: 1, 2: 2, 3: 400 }],
    ['a union of a literal and whole numbers', z.union([z.literal('all'), z.int()]), { all: 'all', 5: 5, x: 400 }],
    ['a number or text', z.union([z.string().max(3), z.number()]), { 5: 5, ab: 'ab', 12345: 12345, abcd: 400 }],
    ['text before a number that is too small', z.union([z.string(), z.number().min(9)]), { 5: '5', 10: 10 }],
    ['text of digits among literals', z.union([z.literal('1'), z.literal(2)]), { 1: '1', 2: 2 }],
    ['an enum with numeric values', z.enum({ Low: 1, High: 2 }), { 1: 1, 2: 2, Low: 400 }],
    ['a nullable number', z.number().nullable(), { 3: 3, null: 400 }],
    ['a transform', z.int().transform((size) => size * 2), { 4: 8, x: 400 }],
    ['a pipe', z.string().transform(Number).pipe(z.int()), { 4: 4, x: 400 }],
    ['a preprocess', z.preprocess((value) => value, z.int()), { 4: 4, x: 400 }],
    ['a coercion to a number', z.coerce.number(), { 4: 4, x: 400 }],
    ['a coercion to a date', z.coerce.date(), { '2026-01-02': '2026-01-02T00:00:00.000Z', x: 400 }],
    ['a stringbool', z.stringbool(), { yes: true, 0: false, x: 400 }],
    ['a readonly number with a fallback', z.number().readonly().catch(9), { 4: 4, x: 9 }],
    ['a lazy boolean', z.lazy(() => z.boolean()), { true: true, 1: 400 }],
    ['an intersection', z.intersection(z.number().min(1), z.number().max(3)), { 2: 2, 4: 400 }],
    ['anything', z.unknown(), { 4: '4', x: 'x' }],
    ['a template', z.templateLiteral(['v', z.int()]), { v1: 'v1', 1: 400 }],
  ]
  test.each(wanted)('%s', async (_, schema, values) => {
    const both = { one: asking(z.object({ it: schema })), two: asking(z.object({ it: schema }), '/paths/{it}') }
    const three = asking(z.object({ it: schema }), '/headers', { 'X-It': 'it' })
    const echo = async (input: unknown) => ({ seen: input })
    const contract = { things: resourceOf({ ...both, three }) }
    const small = await serve(contract, { things: { one: echo, two: echo, three: echo } })
    for (const [text, value] of Object.entries(values)) {
      const ways = [
        await small.request('GET', `/things?it=${text}`),
        await small.request('GET', `/paths/${text}`),
        await small.request('GET', '/headers', { headers: { 'X-It': text } }),
      ]
      const got = ways.map(({ status, body }) => (status === 200 ? body.seen.it : status))
      expect([text, ...got]).toEqual([text, value, value, value])
    }
  })
})

test('an asynchronous check that rejects causes no unhandled rejection in a union', async () => {
  const unhandled: unknown[] = []
  process.on('unhandledRejection', (cause) => unhandled.push(cause))
  const broken = z.string().refine(async () => {
    throw new Error('secret')
  })
  const small = await serveOne(asking(z.object({ it: z.union([z.int(), broken]), if: z.string().optional() })))
  expect(await ask(small, 'GET', '/things?it=x')).toEqual([500, 'Internal server error (request request-1)'])
  expect(await ask(small, 'GET', '/things?it=5')).toEqual({ it: 5 })
  await setTimeout(5)
  expect(unhandled).toEqual([])
})

test('a whole number that is too large is rejected instead of rounded', async () => {
  const small = await serveOne(asking(z.object({ size: z.int(), id: z.int() }), '/things/{id}'))
  for (const path of [
    '/things/1?size=9007199254740993',
    '/things/99999999999999999999?size=1',
    `/things/-${'9'.repeat(400)}?size=1`,
  ]) {
    expect(await ask(small, 'GET', path)).toMatchObject([
      400,
      expect.stringMatching(/^(size|id): Too (big|small): expected int/),
    ])
  }
  expect(await ask(small, 'GET', '/things/9007199254740991?size=1')).toEqual({ id: 9007199254740991, size: 1 })
})

test('unknown fields of a body are passed by a loose input and rejected by a strict one', async () => {
  const loose = await serveOne(sending(z.looseObject({ a: z.string() })))
  expect(await ask(loose, 'POST', '/things', { json: { a: 'x', z: [1] } })).toEqual({ a: 'x', z: [1] })
  const strict = await serveOne(sending(z.strictObject({ a: z.string() })))
  expect(await ask(strict, 'POST', '/things', { json: { a: 'x', z: 1 } })).toEqual([
    400,
    'z: is not a recognized field',
  ])
  const plain = await serveOne(sending(z.object({ a: z.string() })))
  expect(await ask(plain, 'POST', '/things', { json: { a: 'x', z: 1 } })).toEqual({ a: 'x' })
})

describe('a body', () => {
  const shape = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('circle'), radius: z.number({ error: 'must be a number' }) }),
    z.object({ kind: z.literal('square'), side: z.number() }),
  ])

  test('can be a discriminated union in one field', async () => {
    const procedure = sending(z.object({ shape }), { body: 'shape' })
    const small = await serveOne(procedure)
    expect(await ask(small, 'POST', '/things', { json: { kind: 'circle', radius: 1 } })).toEqual({
      shape: { kind: 'circle', radius: 1 },
    })
    expect(await ask(small, 'POST', '/things', { json: { kind: 'circle' } })).toEqual([
      400,
      'Missing required fields: radius',
    ])
    expect(await ask(small, 'POST', '/things', { json: { kind: 'line' } })).toMatchObject([400, /kind/])
  })

  test('can be a discriminated union as the whole input', async () => {
    const procedure = sending(shape)
    const small = await serveOne(procedure)
    expect(await ask(small, 'POST', '/things', { json: { kind: 'circle', radius: 1, side: 2 } })).toEqual({
      kind: 'circle',
      radius: 1,
    })
    expect(await ask(small, 'POST', '/things', { json: { kind: 'square', side: 2 } })).toEqual({
      kind: 'square',
      side: 2,
    })
    expect(await ask(small, 'POST', '/things', { json: { kind: 'square', side: 'x' } })).toMatchObject([400, /side/])
    expect(await ask(small, 'POST', '/things', { json: {} })).toMatchObject([400, /kind/])
    const { body: schema } = documented(procedure)
    const isValid = new Ajv2020({ strict: false }).compile(schema)
    expect(
      [{ kind: 'circle', radius: 1 }, { kind: 'square', side: 1 }, { kind: 'circle', side: 1 }, {}].map((body) =>
        isValid(body),
      ),
    ).toEqual([true, true, false, false])
  })

  test('can be a union with a field in the path', async () => {
    const input = z.union([z.object({ id: z.int(), name: z.string() }), z.object({ id: z.int(), age: z.int() })])
    const procedure = sending(input, { path: '/things/{id}' })
    const small = await serveOne(procedure)
    expect(await ask(small, 'POST', '/things/3', { json: { name: 'Ann' } })).toEqual({ id: 3, name: 'Ann' })
    expect(await ask(small, 'POST', '/things/3', { json: { age: 30 } })).toEqual({ id: 3, age: 30 })
    expect(await ask(small, 'POST', '/things/x', { json: { age: 30 } })).toMatchObject([400, /id/])
    const { body: schema } = documented(procedure)
    const isValid = new Ajv2020({ strict: false }).compile(schema)
    expect([{ name: 'Ann' }, { age: 30 }, { id: 3 }].map((body) => isValid(body))).toEqual([true, true, false])
  })

  test('can be an object with a transform', async () => {
    const small = await serveOne(
      sending(z.object({ a: z.int(), b: z.int() }).transform(({ a, b }) => ({ sum: a + b }))),
    )
    expect(await ask(small, 'POST', '/things', { json: { a: 1, b: 2 } })).toEqual({ sum: 3 })
  })

  test('can contain any JSON', async () => {
    const small = await serveOne(sending(z.object({ it: z.json(), list: z.array(z.json()).optional() })))
    const json = { it: { a: [1, { b: null }] }, list: [[true]] }
    expect(await ask(small, 'POST', '/things', { json })).toEqual(json)
  })

  test('can be an intersection of objects', async () => {
    const small = await serveOne(sending(z.intersection(z.object({ a: z.int() }), z.object({ b: z.int().optional() }))))
    expect(await ask(small, 'POST', '/things', { json: { a: 1, b: 2 } })).toEqual({ a: 1, b: 2 })
  })
})

describe('is rejected at startup:', () => {
  const start = (procedure: Procedure) => () => {
    const contract = { things: resourceOf({ one: procedure }) }
    expressHandlers(contract, [{ name: 'things.one' } as never], { envelope, context: () => ({}), requestId: () => '' })
  }
  const inQuery = (types: string) =>
    `things.one: GET /things reads the field "it" from the query string, which cannot carry ${types}`

  test.each<[string, z.ZodType, string]>([
    ['an object', z.object({ a: z.string() }), 'object'],
    ['an optional record', z.record(z.string(), z.string()).optional(), 'record'],
    ['a list of lists', z.array(z.array(z.string())), 'array of array'],
    ['a list of objects', z.array(z.object({})), 'array of object'],
    ['a tuple', z.tuple([z.string(), z.int()]), 'tuple'],
    ['a bigint', z.bigint(), 'bigint'],
    ['a date', z.date(), 'date'],
    ['a map', z.map(z.string(), z.string()), 'map'],
    ['null only', z.null(), 'null'],
    ['objects of two kinds', z.union([z.object({}), z.record(z.string(), z.int())]), 'object, record'],
  ])('%s in a query string', (_, schema, types) => {
    expect(start(asking(z.object({ it: schema })))).toThrow(inQuery(types))
  })

  test('an object in a path or a header', () => {
    const input = z.object({ it: z.object({}) })
    expect(start(asking(input, '/things/{it}'))).toThrow(
      'things.one: GET /things/{it} reads the field "it" from the path, which cannot carry object',
    )
    expect(start(asking(input, '/things', { 'X-It': 'it' }))).toThrow(
      'things.one: GET /things reads the field "it" from the header X-It, which cannot carry object',
    )
  })

  test.each<[string, z.ZodType, string]>([
    ['a bigint', z.bigint(), 'bigint'],
    ['a date', z.date().optional(), 'date'],
    ['a set', z.set(z.string()), 'set'],
    ['a list of dates', z.array(z.date()), 'array of date'],
  ])('%s in a body', (_, schema, types) => {
    expect(start(sending(z.object({ it: schema })))).toThrow(
      `things.one: POST /things reads the field "it" from the body, which cannot carry ${types}`,
    )
  })

  test('optional fields of an input that is not a plain object', () => {
    const optional = ['a']
    const either = z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])
    expect(start(sending(either, { optional }))).toThrow('things.one: "optional" needs an input that is a plain object')
    const refined = z.object({ a: z.string() }).refine(() => true)
    expect(start(sending(refined, { optional }))).toThrow(
      'things.one: "optional" needs an input that is a plain object',
    )
  })

  test('an input without fields', () => {
    expect(start(asking(z.string()))).toThrow(
      'things.one: its input must be an object, or a union of objects, for REST',
    )
    expect(start(sending(z.array(z.string())))).toThrow('things.one: its input must be an object')
  })
})

const scalar: fc.Arbitrary<z.ZodType> = fc.oneof(
  fc.constantFrom<z.ZodType[]>(
    z.string(),
    z.string().min(2),
    z.int(),
    z.int().min(3),
    z.number().max(2),
    z.boolean(),
    z.enum(['a', 'true', '1']),
    z.enum({ One: 1, Two: 2 }),
    z.literal(1),
    z.literal('1'),
    z.literal(true),
    z.literal([2, 'a', false]),
    z.string().regex(/^[a-z]+$/),
  ),
)
const either = fc.array(scalar, { minLength: 2, maxLength: 3 }).map((options) => z.union(options as [z.ZodType]))
const some = fc.oneof({ arbitrary: scalar, weight: 3 }, either)
const list = fc.oneof(
  some.map((schema) => z.array(schema)),
  some.map((schema) => z.array(schema).min(2)),
)
const field = fc
  .tuple(
    fc.oneof({ arbitrary: some, weight: 2 }, list),
    fc.constantFrom('plain', 'optional', 'transform', 'refine', 'readonly'),
  )
  .map(([schema, how]): z.ZodType => {
    if (how === 'optional') return schema.optional()
    if (how === 'transform') return schema.transform((value) => ({ value }))
    if (how === 'refine') return (schema as z.ZodString).refine(async () => true)
    return how === 'readonly' ? schema.readonly() : schema
  })
const one = fc.constantFrom<(string | number | boolean)[]>(
  'a',
  'ab',
  '1',
  'true',
  'x,y',
  '',
  1,
  2,
  5,
  -3,
  0.5,
  true,
  false,
)
const value = fc.oneof(one, fc.array(one, { minLength: 1, maxLength: 2 }))

/** All possible values of the text of a value in a query string. */
function meanings(value: unknown): unknown[] {
  const texts = (Array.isArray(value) ? value : [value]).map(String)
  const each = texts.map((text) => [
    text,
    ...(/^-?\d+(\.\d+)?$/.test(text) ? [Number(text)] : []),
    ...(text === 'true' || text === 'false' ? [text === 'true'] : []),
  ])
  const lists = each.reduce<unknown[][]>(
    (made, next) => made.flatMap((list) => next.map((one) => [...list, one])),
    [[]],
  )
  return texts.length === 1 ? [...lists, ...(each[0] as unknown[])] : lists
}

test('document, REST and tRPC accept the same inputs and read the same values', async () => {
  let accepted = 0
  let rejected = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(field, { minLength: 4, maxLength: 4 }),
      fc.array(value, { minLength: 8, maxLength: 8 }),
      async (fields, values) => {
        const procedures: Record<string, Procedure> = {}
        for (const [index, schema] of fields.entries()) {
          const input = z.object({ it: schema })
          procedures[`ask${index}`] = asking(input, `/asked/${index}`)
          procedures[`send${index}`] = sending(input, { path: `/sent/${index}` })
        }
        const echo = async (input: unknown) => ({ seen: input })
        const things = Object.fromEntries(Object.keys(procedures).map((name) => [name, echo]))
        const small = await serve({ things: resourceOf(procedures) }, { things })
        const ajv = new Ajv2020({ strict: false })
        for (const [index] of fields.entries()) {
          const [parameter] = documented(procedures[`ask${index}`] as Procedure).parameters
          const inQuery = ajv.compile(parameter.schema)
          const { body } = documented(procedures[`send${index}`] as Procedure)
          const inBody = ajv.compile(body)
          const trpc = async (it: unknown) => {
            const { status, body } = await small.request('POST', `/trpc/things.send${index}`, { json: { it } })
            return status === 200 ? JSON.stringify(body.result.data.seen) : undefined
          }
          for (const value of values) {
            const where = `${index} ${JSON.stringify(value)} ${JSON.stringify(parameter.schema)}`
            const sent = await small.request('POST', `/sent/${index}`, { json: { it: value } })
            const given = sent.status === 200 ? JSON.stringify(sent.body.seen) : undefined
            expect([where, sent.status]).toEqual([where, inBody({ it: value }) ? 200 : 400])
            expect([where, given]).toEqual([where, await trpc(value)])

            const texts = new URLSearchParams(
              (Array.isArray(value) ? value : [value]).map((one) => ['it', String(one)] as [string, string]),
            )
            const asked = await small.request('GET', `/asked/${index}?${texts}`)
            const possible = meanings(value).filter((meaning) => inQuery(meaning))
            expect([where, asked.status]).toEqual([where, possible.length > 0 ? 200 : 400])
            if (asked.status === 200) {
              accepted++
              const readings = await Promise.all(possible.map(trpc))
              expect(readings).toContain(JSON.stringify(asked.body.seen))
            } else rejected++
          }
        }
      },
    ),
    { numRuns: 25, seed: 4113 },
  )
  // Both outcomes are frequent.
  expect(Math.min(accepted, rejected)).toBeGreaterThan(150)
})
