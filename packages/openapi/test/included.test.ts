import { expect, test } from 'vitest'
import { z } from 'zod'
import { ApiError } from '../src/api-error.ts'
import { query } from '../src/contract.ts'
import { openApiDocument } from '../src/document.ts'
import { documentOptions, resourceOf, serve } from './small.ts'

const star = z.object({ name: z.string() }).meta({ id: 'Star' })
const stored = z.object({ id: z.int(), name: z.string(), secret: z.string(), version: z.int() })
const planet = z.object({ id: z.int(), star_id: z.int().nullable() }).meta({ id: 'Planet' })
const versioned = planet.extend({ version: z.int() })
const texts = { summary: 'Sky', description: 'Sky.', method: 'GET' } as const
const references = (noun: string) => ({
  field: `${noun}_id`,
  get: `${noun}s.get`,
  list: `${noun}s.list`,
  by: 'id_in',
  key: 'id',
})
const bound = { pickable: true, includes: { star: references('star'), moon: references('moon') } }

const contract = {
  stars: resourceOf({
    list: query({
      access: 'lists',
      input: z.strictObject({ limit: z.int().max(2) }),
      output: z.object({ stars: z.array(stored) }),
      meta: { openapi: { ...texts, path: '/stars', operationId: 'listStars', responseBody: 'stars' } },
    }),
    get: query({
      access: 'gets',
      input: z.object({ id: z.int() }),
      output: stored,
      meta: { openapi: { ...texts, path: '/stars/{id}', operationId: 'getStar', response: star, etag: 'version' } },
    }),
  }),
  planets: resourceOf({
    list: query({
      input: z.object({}),
      output: z.object({ planets: z.array(versioned) }),
      meta: {
        openapi: {
          ...texts,
          ...bound,
          path: '/planets',
          operationId: 'listPlanets',
          responseBody: 'planets',
          response: z.array(planet),
          envelope: 'planets',
        },
      },
    }),
    get: query({
      input: z.object({ id: z.int() }),
      output: versioned,
      meta: {
        openapi: {
          ...texts,
          ...bound,
          path: '/planets/{id}',
          operationId: 'getPlanet',
          response: planet,
          etag: 'version',
        },
      },
    }),
  }),
}

const sol = { id: 1, name: 'Sol', secret: 's', version: 3 }
const planets = [
  { id: 5, star_id: 1, version: 1 },
  { id: 6, star_id: 1, version: 1 },
  { id: 7, star_id: null, version: 1 },
  { id: 8, star_id: 9, version: 1 },
]
const found = new Map([[1, sol]])
const calls: unknown[] = []
let refused: string | undefined

const small = await serve(
  contract,
  {
    stars: {
      list: async (input, _context, shown) => {
        calls.push([input, shown])
        return { stars: [...found.values()] }
      },
      get: async () => sol,
    },
    planets: {
      list: async () => ({ planets }),
      get: async ({ id }) => planets.find((planet) => planet.id === id) as (typeof planets)[0],
    },
  },
  {
    authorize: (_context, access) => {
      if (access !== undefined && access === refused) throw new ApiError(403, 'No')
    },
  },
)
const get = async (path: string, headers = {}) => {
  const { status, body, headers: answered } = await small.request('GET', path, { headers })
  return { status, body, etag: answered.get('etag') }
}

test('a list contains the referenced records as their own query shows them, read at once', async () => {
  calls.length = 0
  expect((await get('/planets?include=star')).body).toEqual([
    { id: 5, star_id: 1, star: { name: 'Sol' } },
    { id: 6, star_id: 1, star: { name: 'Sol' } },
    { id: 7, star_id: null, star: null },
    { id: 8, star_id: 9, star: null },
  ])
  expect(calls).toEqual([[{ id_in: [1, 9], limit: 2 }, ['name', 'version', 'id']]])
})

test('a record contains it, also without its id, and in the envelope', async () => {
  expect((await get('/planets/5?include=star')).body).toEqual({ id: 5, star_id: 1, star: { name: 'Sol' } })
  expect((await get('/planets/5?include=star&fields=id')).body).toEqual({ id: 5, star: { name: 'Sol' } })
  expect((await get('/planets?include=star&fields=id&envelope=true')).body.data.planets[2]).toEqual({
    id: 7,
    star: null,
  })
  calls.length = 0
  expect((await get('/planets/7?include=star')).body).toEqual({ id: 7, star_id: null, star: null })
  expect((await get('/planets/7')).body).toEqual({ id: 7, star_id: null })
  expect(calls).toEqual([])
})

test('the ETag changes with the included record', async () => {
  const { etag } = await get('/planets/5?include=star')
  const status = async () => (await get('/planets/5?include=star', { 'If-None-Match': etag })).status
  expect(etag).toMatch(/^"1-Planet\.[0-9a-f]{6}-star\.1\.3\.Star\.[0-9a-f]{6}"$/)
  expect(await status()).toBe(304)
  found.set(1, { ...sol, version: 4 })
  expect(await status()).toBe(200)
  found.delete(1)
  expect(await status()).toBe(200)
  found.set(1, sol)
  expect((await get('/planets/5')).etag).toMatch(/^"1-Planet\.[0-9a-f]{6}"$/)
})

test('other names are a 400, also those of records that the contract does not have', async () => {
  for (const name of ['moon', '', 'star,', 'Star', 'star_id', '__proto__', 'star,star']) {
    expect([name, await get(`/planets?include=${name}`)]).toMatchObject([
      name,
      { status: 400, body: { error: 'include must be one or more of star, separated by commas', fields: ['include'] } },
    ])
  }
})

test('a caller who may not read the record, or a list of them, gets a 403', async () => {
  for (const access of ['lists', 'gets']) {
    refused = access
    expect((await get('/planets/5?include=star')).status).toBe(403)
    expect((await get('/planets/5')).status).toBe(200)
  }
  refused = undefined
})

test('the document has the parameter and the records', () => {
  const { paths } = openApiDocument(contract, documentOptions)
  const { parameters, responses } = paths?.['/planets/{id}']?.get ?? {}
  expect(parameters).toContainEqual(
    expect.objectContaining({
      name: 'include',
      schema: expect.objectContaining({ pattern: '^(?:star)(?:,(?:star))*$' }),
    }),
  )
  const schema = JSON.parse(JSON.stringify(responses))['200'].content['application/json'].schema
  expect(schema.required).toEqual(['id', 'star_id'])
  expect(schema.properties.star.anyOf).toEqual([{ $ref: '#/components/schemas/Star' }, { type: 'null' }])
})
