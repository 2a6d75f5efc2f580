import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { mutation } from '../src/contract.ts'
import { startSky } from './serve.ts'
import { resourceOf, serve } from './small.ts'

const sky = await startSky()
afterAll(() => sky[Symbol.asyncDispose]())

const STRICT = { Prefer: 'handling=strict' }
const earth = { name: 'Earth', kind: 'rock', radius: 6371 }

function create(json: unknown, headers: Record<string, string> = STRICT, path = '/planets') {
  return sky.request('POST', path, { json, headers })
}

describe('with Prefer: handling=strict', () => {
  test('an unknown field of a body is a 400 that names it', async () => {
    const { status, body } = await create({ ...earth, colour: 'blue', moons: 1 })
    expect([status, body.fault]).toEqual([400, 'colour: is not a recognized field; moons: is not a recognized field'])
  })

  test('an unknown field is named by its path in the request', async () => {
    const { status, body } = await create([earth, { ...earth, colour: 'blue' }], STRICT, '/planets/bulk')
    expect([status, body.fault]).toEqual([400, '[1].colour: is not a recognized field'])
  })

  test('fields of the response are allowed, so that a caller can send back what it has read', async () => {
    const { body } = await sky.request('GET', '/planets/6')
    const json = { ...body, name: 'Kronos' }
    const { status, body: changed } = await sky.request('PUT', '/planets/6', { json, headers: STRICT })
    expect([status, changed.name]).toEqual([200, 'Kronos'])
  })

  test('a field that a header carries is rejected in the body, where it has no effect', async () => {
    const { body: planet } = await sky.request('GET', '/planets/6')
    const json = { ...planet, if_version: [99] }
    const { status, body } = await sky.request('PUT', '/planets/6', { json, headers: STRICT })
    expect([status, body.fault]).toEqual([400, 'if_version: must be sent as the header If-Match, not in the body'])
  })

  test('an alias of a field is a recognized field', async () => {
    const { name, ...others } = earth
    expect((await create({ ...others, title: name }, STRICT, '/planets/')).status).toBe(200)
  })

  test('the preference is recognized in each of its forms', async () => {
    for (const prefer of [
      'handling="strict"',
      'respond-async, Handling=strict',
      'handling=strict; foo=1, wait=5',
      'x="a,b", handling=strict',
    ]) {
      expect([prefer, (await create({ ...earth, colour: 'blue' }, { Prefer: prefer })).status]).toEqual([prefer, 400])
    }
    for (const prefer of [
      'handling=lenient',
      'xhandling=strict',
      'return=minimal',
      'x="a, handling=strict"',
      'handling=lenient, handling=strict',
    ]) {
      expect([prefer, (await create({ ...earth, colour: 'blue' }, { Prefer: prefer })).status]).toEqual([prefer, 201])
    }
  })

  test('an error lists at most a thousand unknown fields', async () => {
    const names = Array.from({ length: 5000 }, (_, n) => `field${n}`)
    const json = { ...earth, ...Object.fromEntries(names.map((name) => [name, 1])) }
    const headers = { ...STRICT, Accept: 'application/json, application/problem+json' }
    const { status, body } = await create(json, headers)
    expect([status, body.fields.length]).toEqual([400, 1000])
  })

  test('unknown fields of nested objects and of unions are found', async () => {
    const size = z.object({ width: z.number() })
    const procedure = mutation({
      input: z.object({
        size: size.nullable().default(null),
        shape: z.union([size, z.object({ height: z.number() })]),
      }),
      output: z.object({ id: z.number() }),
      meta: { openapi: { method: 'POST', path: '/things' } },
    })
    const things = await serve(
      { things: resourceOf({ create: procedure }) },
      { things: { create: async () => ({ id: 1 }) } },
    )
    const ask = async (json: unknown) => {
      const { status, body } = await things.request('POST', '/things', { json, headers: STRICT })
      return [status, body.error]
    }
    expect(await ask({ size: { width: 1, depth: 2 }, shape: { height: 1 } })).toEqual([
      400,
      'size.depth: is not a recognized field',
    ])
    expect(await ask({ shape: { height: 1, depth: 2 } })).toEqual([400, 'shape.depth: is not a recognized field'])
    expect(await ask({ size: null, shape: { width: 1, height: 1 }, id: 1 })).toEqual([200, undefined])
  })

  test('a nested loose object takes any field, next to objects that do not', async () => {
    const procedure = mutation({
      input: z.object({ tags: z.looseObject({ color: z.string() }), size: z.object({ width: z.number() }) }),
      output: z.object({ id: z.number() }),
      meta: { openapi: { method: 'POST', path: '/things' } },
    })
    const things = await serve(
      { things: resourceOf({ create: procedure }) },
      { things: { create: async () => ({ id: 1 }) } },
    )
    const statusOf = async (json: unknown) =>
      (await things.request('POST', '/things', { json, headers: STRICT })).status
    expect(await statusOf({ tags: { color: 'red', more: { any: 1 } }, size: { width: 1 } })).toBe(200)
    expect(await statusOf({ tags: { color: 'red' }, size: { width: 1, more: 1 } })).toBe(400)
  })
})

test('without the preference unknown fields of a body are ignored', async () => {
  const { status, body } = await create({ ...earth, colour: 'blue' }, {})
  expect([status, 'colour' in body]).toEqual([201, false])
})

describe('with Accept: application/problem+json', () => {
  const PROBLEM = { Accept: 'application/json, application/problem+json' }

  test('an error lists the invalid fields as data', async () => {
    const { status, headers, body } = await create({ name: 'Earth' }, PROBLEM)
    expect(headers['content-type']).toBe('application/problem+json')
    expect([status, body]).toEqual([
      400,
      {
        type: 'about:blank',
        status: 400,
        code: 'bad_request',
        detail: 'Missing required fields: radius',
        fields: [{ field: 'radius', message: 'is required' }],
      },
    ])
  })

  test('a success and the envelope are as without it', async () => {
    const found = await sky.request('GET', '/planets/6', { headers: PROBLEM })
    expect([found.status, found.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
    const missing = await sky.request('GET', '/planets/99?envelope=true', { headers: PROBLEM })
    expect([missing.status, missing.body.ok, missing.headers['content-type']]).toEqual([
      404,
      false,
      'application/json; charset=utf-8',
    ])
  })

  test('q=0 does not ask for problem details', async () => {
    for (const accept of ['application/json, application/problem+json;q=0', 'application/problem+json; Q=0.00, */*']) {
      const { body } = await sky.request('GET', '/planets/99', { headers: { Accept: accept } })
      expect([accept, Object.keys(body)]).toEqual([accept, ['fault']])
    }
  })

  test('a wildcard does not ask for problem details', async () => {
    const { body } = await sky.request('GET', '/planets/99', { headers: { Accept: 'application/*' } })
    expect(Object.keys(body)).toContain('fault')
  })
})

test('a long name in an error is not cut through a character', async () => {
  const name = `${'a'.repeat(59)}😀😀`
  const { body } = await create({ ...earth, [name]: 1 })
  expect(body.fault).toBe(`${'a'.repeat(59)}\ufffd…: is not a recognized field`)
})

test('a change with read-only fields alone is a 400 with every handling', async () => {
  const order = z.object({ note: z.string(), total: z.number().meta({ readOnly: true }) })
  const change = mutation({
    input: order.pick({ note: true }).partial(),
    output: order,
    meta: { openapi: { method: 'PATCH', path: '/order' } },
  })
  const { request } = await serve(
    { order: resourceOf({ change }) },
    { order: { change: async () => ({ note: '', total: 1 }) } },
  )
  for (const headers of [{}, STRICT]) {
    const { status, body } = await request('PATCH', '/order', { json: { total: 9 }, headers })
    expect([status, body.error]).toEqual([400, 'No recognized field: total; the fields are: note'])
  }
})
