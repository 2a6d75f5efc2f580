import { expect, test } from 'vitest'
import { z } from 'zod'
import { query } from '../src/contract.ts'
import { openApiDocument } from '../src/document.ts'
import { documentOptions, resourceOf, serve } from './small.ts'

const moon = z.object({ id: z.int(), name: z.string(), mass: z.number().nullable() }).meta({ id: 'Moon' })
const versioned = moon.extend({ version: z.int() })
const label = moon
  .pick({ id: true, name: true })
  .transform(({ id, name }) => ({ key: id, title: name }))
  .pipe(z.object({ key: z.int(), title: z.string() }))
  .meta({ id: 'Label' })
const texts = { summary: 'Moons', description: 'Moons.' }

const moons = resourceOf({
  list: query({
    input: z.object({ planet: z.string().optional() }),
    output: z.object({ moons: z.array(versioned), total: z.int() }),
    meta: {
      openapi: {
        ...texts,
        method: 'GET',
        path: '/moons',
        operationId: 'listMoons',
        responseBody: 'moons',
        response: z.array(moon),
        envelope: 'moons',
        pickable: true,
        additionalBindings: [{ path: '/labels', operationId: 'listLabels', response: z.array(label) }],
      },
    },
  }),
  get: query({
    input: z.object({ id: z.int() }),
    output: versioned,
    meta: {
      openapi: {
        ...texts,
        method: 'GET',
        path: '/moons/{id}',
        operationId: 'getMoon',
        response: moon,
        envelope: 'moon',
        etag: 'version',
        pickable: true,
      },
    },
  }),
})

const titan = { id: 6, name: 'Titan', mass: 1.3, version: 4 }
let read: readonly string[] | undefined

const small = await serve(
  { moons },
  {
    moons: {
      list: async (_input, _context, shown) => {
        read = shown
        return { moons: [titan, { id: 7, name: 'Rhea', mass: null, version: 1 }], total: 2 }
      },
      get: async (_input, _context, shown) => {
        read = shown
        return titan
      },
    },
  },
)
const get = async (path: string, headers = {}) => {
  const { status, body, headers: answered } = await small.request('GET', path, { headers })
  return { status, body, etag: answered.get('etag') }
}

test('an answer has the picked fields in their declared order, and only these are asked for', async () => {
  const small = await get('/moons?fields=mass,id')
  expect(JSON.stringify(small.body)).toBe('[{"id":6,"mass":1.3},{"id":7,"mass":null}]')
  expect(read).toEqual(['id', 'mass'])
  expect((await get('/moons/6?fields=name')).body).toEqual({ name: 'Titan' })
  expect(read).toEqual(['name', 'version'])
  expect((await get('/moons/6?fields=name,name')).body).toEqual({ name: 'Titan' })
  expect((await get('/moons/6')).body).toEqual({ id: 6, name: 'Titan', mass: 1.3 })
})

test('fields can be picked in the envelope, and of an answer that renames them', async () => {
  expect((await get('/moons/6?fields=id&envelope=true')).body).toEqual({
    ok: true,
    data: { moon: { id: 6 } },
    meta: {},
  })
  expect((await get('/moons?envelope=true&fields=id')).body).toEqual({
    ok: true,
    data: { moons: [{ id: 6 }, { id: 7 }] },
    meta: { total: 2 },
  })
  expect((await get('/labels?fields=title')).body).toEqual([{ title: 'Titan' }, { title: 'Rhea' }])
  expect(read).toEqual(['id', 'name'])
})

test('other names are a 400 that lists what is allowed', async () => {
  const refused = { error: 'fields must be one or more of id, name and mass, separated by commas', fields: ['fields'] }
  for (const fields of [
    'version',
    '',
    'id,',
    'id,,name',
    'Id',
    'id, name',
    '__proto__',
    'constructor',
    'id,name,mass,id',
  ]) {
    expect([fields, await get(`/moons/6?fields=${fields}`)]).toMatchObject([fields, { status: 400, body: refused }])
  }
  expect((await get('/labels?fields=name')).body.error).toBe(
    'fields must be one or more of key and title, separated by commas',
  )
  expect((await get('/moons?fields=id&fields=name')).body.error).toBe('fields must be given once')
})

test('the ETag depends on the picked fields, in any order', async () => {
  const { etag } = await get('/moons/6?fields=id,name')
  const [whole, wrapped] = [await get('/moons/6'), await get('/moons/6?fields=id,name&envelope=true')]
  expect(etag).toMatch(/^"4-Moon\.[0-9a-f]{6}-id\.name"$/)
  expect(wrapped.etag).toMatch(/^"4-Moon\.[0-9a-f]{6}-envelope-id\.name"$/)
  expect((await get('/moons/6?fields=name,id')).etag).toBe(etag)
  expect((await get('/moons/6?fields=mass,name,id')).etag).toBe(whole.etag)
  expect((await get('/moons/6?fields=id,name', { 'If-None-Match': etag })).status).toBe(304)
  expect((await get('/moons/6?fields=id', { 'If-None-Match': etag })).status).toBe(200)
  expect((await get('/moons/6', { 'If-None-Match': etag })).status).toBe(200)
})

test('the document lists the parameter', () => {
  const { paths } = openApiDocument({ moons }, documentOptions)
  expect(paths?.['/moons']?.get?.parameters).toContainEqual(
    expect.objectContaining({
      in: 'query',
      name: 'fields',
      schema: expect.objectContaining({ maxLength: 12, pattern: '^(?:id|name|mass)(?:,(?:id|name|mass))*$' }),
    }),
  )
})

test('a response without fields, and an input field of the same name, are errors at startup', async () => {
  const broken = (binding: object, input = {}) => {
    const openapi = { ...texts, method: 'GET', path: '/names', pickable: true, ...binding } as const
    const names = resourceOf({
      list: query({ input: z.object(input), output: z.array(z.string()), meta: { openapi } }),
    })
    return serve({ names }, { names: { list: async () => [] } })
  }
  await expect(broken({})).rejects.toThrow(
    'names.list: GET /names: fields can be picked only of a record, or of a list of them',
  )
  await expect(broken({ response: z.array(moon) }, { fields: z.string() })).rejects.toThrow(
    'names.list: GET /names reads the field "fields" from the query string, where "fields" selects fields of the answer; give the field another name',
  )
})
