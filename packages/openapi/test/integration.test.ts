import { setTimeout } from 'node:timers/promises'
import { TRPCError } from '@trpc/server'
import express from 'express'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { mutation, query } from '../src/contract.ts'
import { expressHandlers, implement } from '../src/index.ts'
import { envelope } from './sky.ts'
import { resourceOf, serve } from './small.ts'

// Asynchronous schemas, errors of implementations, and other handlers next to those of a contract.

const unhandled: unknown[] = []
process.on('unhandledRejection', (cause) => unhandled.push(cause))
afterEach(async () => {
  await setTimeout(5)
  expect(unhandled.splice(0)).toEqual([])
})

const echoed = z.object({ seen: z.unknown() })
const echo = async (input: unknown) => ({ seen: input })
const inputOf = (input: unknown) => `input=${encodeURIComponent(JSON.stringify(input))}`

describe('a check or transform that is asynchronous', () => {
  const isFree = async (name: string) => setTimeout(1).then(() => name !== 'taken')
  const name = z.string().refine(isFree, { error: 'must be free' })
  const failing = z.string().superRefine((name) => {
    // A plain function that returns a promise.
    return name === 'broken' ? Promise.reject(new Error('secret')) : undefined
  })
  const contract = {
    things: resourceOf({
      find: query({
        input: z.object({
          name,
          size: z
            .string()
            .transform(async (text) => Number(text))
            .optional(),
        }),
        output: echoed,
        meta: { openapi: { method: 'GET', path: '/things' } },
      }),
      create: mutation({
        input: z.object({ name, label: failing.optional() }),
        output: echoed,
        meta: { openapi: { method: 'POST', path: '/things' } },
      }),
      any: mutation({
        input: z.object({ value: z.unknown().refine(async (value) => value !== 1, { error: 'must not be 1' }) }),
        output: echoed,
        meta: { openapi: { method: 'PATCH', path: '/things' } },
      }),
    }),
  }
  const implementation = { things: { find: echo, create: echo, any: echo } }

  test('is awaited over REST', async () => {
    const { request } = await serve(contract, implementation)
    const refused = { status: 400, body: { error: 'name: must be free', fields: ['name'] } }
    expect(await request('GET', '/things?name=taken')).toMatchObject(refused)
    const found = await request('GET', '/things?name=free&size=12')
    expect([found.status, found.body]).toEqual([200, { seen: { name: 'free', size: 12 } }])
    expect(await request('POST', '/things', { json: { name: 'taken' } })).toMatchObject(refused)
    expect((await request('POST', '/things', { json: { name: 'free' } })).body).toEqual({ seen: { name: 'free' } })
    expect(await request('PATCH', '/things', { json: { value: 1 } })).toMatchObject({ status: 400 })
    expect(await request('PATCH', '/things', { json: { value: 2 } })).toMatchObject({ status: 200 })
  })

  test('is awaited over tRPC', async () => {
    const { request } = await serve(contract, implementation)
    for (const find of ['things.find', 'things%2Efind']) {
      const refused = await request('GET', `/trpc/${find}?${inputOf({ name: 'taken' })}`)
      expect([refused.status, refused.body.error.message]).toEqual([400, 'name: must be free'])
      const found = await request('GET', `/trpc/${find}?${inputOf({ name: 'free', size: '12' })}`)
      expect(found.body.result.data).toEqual({ seen: { name: 'free', size: 12 } })
    }
  })

  test('that rejects is a 500 without details, on every attempt', async () => {
    const { request } = await serve(contract, implementation)
    for (const attempt of [1, 2]) {
      const { status, body } = await request('POST', '/things', { json: { name: 'free', label: 'broken' } })
      expect([attempt, status, body.error]).toEqual([attempt, 500, 'Internal server error (request request-1)'])
    }
    // The same in a contract without any other check.
    const other = {
      things: resourceOf({
        create: mutation({
          input: z.object({ label: failing }),
          output: echoed,
          meta: { openapi: { method: 'POST', path: '/things' } },
        }),
      }),
    }
    const small = await serve(other, { things: { create: echo } })
    expect((await small.request('POST', '/things', { json: { label: 'broken' } })).status).toBe(500)
    expect((await small.request('POST', '/things', { json: { label: 'fine' } })).status).toBe(200)
  })
})

describe('a TRPCError of an implementation', () => {
  const contract = {
    things: resourceOf({
      get: query({
        input: z.object({ code: z.string() }),
        output: echoed,
        meta: { openapi: { method: 'GET', path: '/things/{code}' } },
      }),
    }),
  }
  const get = async ({ code }: { code: string }): Promise<never> => {
    throw new TRPCError({ code: code as 'CONFLICT', message: `The words of ${code}` })
  }

  test.each([
    ['BAD_REQUEST', 400],
    ['PARSE_ERROR', 400],
    ['UNAUTHORIZED', 401],
    ['PAYMENT_REQUIRED', 402],
    ['FORBIDDEN', 403],
    ['NOT_FOUND', 404],
    ['METHOD_NOT_SUPPORTED', 405],
    ['TIMEOUT', 408],
    ['CONFLICT', 409],
    ['PRECONDITION_FAILED', 412],
    ['PAYLOAD_TOO_LARGE', 413],
    ['UNSUPPORTED_MEDIA_TYPE', 415],
    ['UNPROCESSABLE_CONTENT', 422],
    ['PRECONDITION_REQUIRED', 428],
    ['TOO_MANY_REQUESTS', 429],
    ['CLIENT_CLOSED_REQUEST', 499],
    ['NOT_IMPLEMENTED', 501],
    ['BAD_GATEWAY', 502],
    ['SERVICE_UNAVAILABLE', 503],
    ['GATEWAY_TIMEOUT', 504],
  ])('%s is a %d with its message', async (code, status) => {
    const { request } = await serve(contract, { things: { get } })
    const rest = await request('GET', `/things/${code}`)
    expect([rest.status, rest.body.error]).toEqual([status, `The words of ${code}`])
    const trpc = await request('GET', `/trpc/things.get?${inputOf({ code })}`)
    expect([trpc.status, trpc.body.error.message]).toEqual([status, `The words of ${code}`])
  })

  test('with INTERNAL_SERVER_ERROR or an unknown code is a 500 without details', async () => {
    const { request } = await serve(contract, { things: { get } })
    for (const code of ['INTERNAL_SERVER_ERROR', 'TEAPOT', 'constructor']) {
      const rest = await request('GET', `/things/${code}`)
      expect([rest.status, rest.body.error]).toEqual([500, 'Internal server error (request request-1)'])
      const trpc = await request('GET', `/trpc/things.get?${inputOf({ code })}`)
      expect([trpc.status, trpc.body.error.message]).toEqual([500, 'Internal server error'])
    }
  })
})

const things = resourceOf({
  get: query({
    input: z.object({ id: z.int({ error: 'must be a whole number' }) }),
    output: echoed,
    meta: { openapi: { method: 'GET', path: '/things/{id}' } },
  }),
  create: mutation({
    input: z.object({ name: z.string().optional(), list: z.array(z.int()).optional() }),
    output: z.object({ id: z.int(), seen: z.unknown() }),
    meta: {
      openapi: {
        method: 'POST',
        path: '/things',
        status: 201,
        bodyLimit: 100,
        headers: {
          Location: { description: 'Where it is.', value: ({ output }) => `/things/${output.id}` },
          Link: { description: 'Itself.', value: ({ path }) => `<${path}>; rel="self"` },
        },
      },
    },
  }),
})
const implementation = {
  things: { get: echo, create: async (input: unknown) => ({ id: 7, seen: input }) },
}

describe('behind a parser of bodies', () => {
  const parsers: [string, express.RequestHandler[]][] = [
    ['express.json', [express.json()]],
    ['express.json without strictness', [express.json({ strict: false })]],
    ['express.raw', [express.raw({ type: () => true })]],
    ['express.text', [express.text({ type: () => true })]],
    ['all parsers of Express', [express.urlencoded({ extended: true }), express.json(), express.text(), express.raw()]],
  ]
  test.each(parsers)('%s, the parsed body is used', async (_, before) => {
    const { request } = await serve({ things }, implementation, {}, { before })
    const created = await request('POST', '/things', { json: { name: 'é' } })
    expect([created.status, created.body]).toEqual([201, { id: 7, seen: { name: 'é' } }])
    const wrong = await request('POST', '/things', { json: { name: 1 } })
    expect([wrong.status, wrong.body.fields]).toEqual([400, ['name']])
    const listed = await request('POST', '/things', { json: [1] })
    expect([listed.status, listed.body.error]).toEqual([400, 'Body must be a JSON object'])
    expect((await request('POST', '/things')).body.error).toBe('No input data provided')
    const long = await request('POST', '/things', { json: { name: 'x'.repeat(100) } })
    expect([long.status, long.body.error]).toEqual([413, 'Body must be at most 100 bytes'])
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
    expect((await request('POST', '/things', { json: { name: 'a' }, headers: form })).status).toBe(415)
    const trpc = await request('POST', '/trpc/things.create', { json: { name: 'b' } })
    expect(trpc.body.result.data).toEqual({ id: 7, seen: { name: 'b' } })
    expect((await request('GET', '/things/3')).status).toBe(200)
  })

  test('a body that the parser rejects gets an error in the form of its path, without parts of the body', async () => {
    const { url } = await serve({ things }, implementation, {}, { before: [express.json({ limit: 50 })] })
    const send = async (body: string, headers = {}) => {
      const res = await fetch(`${url}/things`, {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json', ...headers },
      })
      return [res.status, await res.json()]
    }
    expect(await send('secret')).toEqual([400, { error: 'Body is not valid JSON', fields: [] }])
    expect(await send(`{"name":"${'x'.repeat(60)}"}`)).toEqual([413, { error: 'Body is too large', fields: [] }])
    expect((await send('{}', { 'Content-Encoding': 'brotli' }))[0]).toBe(415)
    expect((await send('{}', { 'Content-Type': 'application/json; charset=latin1' }))[0]).toBe(415)
  })
})

describe('mounted at a path', () => {
  test('responds there, with a Location and links that include the path', async () => {
    const { request } = await serve({ things }, implementation, {}, { mount: '/v1' })
    expect((await request('GET', '/v1/things/3')).body).toEqual({ seen: { id: 3 } })
    expect((await request('GET', '/v1/things/3?envelope=true')).body.data).toEqual({ seen: { id: 3 } })
    const { status, headers } = await request('POST', '/v1/things/', { json: {} })
    expect([status, headers.get('location'), headers.get('link')]).toEqual([
      201,
      '/v1/things/7',
      '</v1/things/>; rel="self"',
    ])
    expect((await request('OPTIONS', '/v1/things')).headers.get('allow')).toBe('POST, OPTIONS')
  })

  test('adds the path to a Location only if it begins with a single slash', async () => {
    const location = (value: string) =>
      query({
        input: z.object({}),
        output: z.object({}),
        meta: {
          openapi: { method: 'GET', path: '/', headers: { location: { description: 'There.', value: () => value } } },
        },
      })
    for (const [value, sent] of [
      ['/a', '/v1/a'],
      ['//sky/a', '//sky/a'],
      ['https://sky/a', 'https://sky/a'],
      ['a', 'a'],
    ] as const) {
      const contract = { things: resourceOf({ get: location(value) }) }
      const { request } = await serve(contract, { things: { get: async () => ({}) } }, {}, { mount: '/v1' })
      expect((await request('GET', '/v1')).headers.get('location')).toBe(sent)
    }
  })

  test('rejects in the error form of the path', async () => {
    const { request } = await serve({ things }, implementation, {}, { mount: '/v1' })
    expect((await request('GET', '/v1/things/x')).body.error).toBe('id: must be a whole number')
    expect((await request('DELETE', '/v1/things/1')).status).toBe(405)
    const missing = await request('GET', '/v1/things/1/parts')
    expect([missing.status, missing.body]).toEqual([404, { error: 'Path not found', fields: [] }])
    expect((await request('GET', '/v1/nothing?envelope=true')).body).toEqual({
      ok: false,
      code: 404,
      message: 'Path not found',
      details: 'GET /v1/nothing',
    })
    expect((await request('GET', '/v1/%zz')).status).toBe(400)
  })

  test('passes on unknown paths, and a later 404 has the error form of the path', async () => {
    const app = express()
    const { handle, notFound } = expressHandlers(
      { things },
      implement<{ things: typeof things }, object>({ things }, implementation),
      {
        envelope,
        context: () => ({}),
        requestId: () => '',
      },
    )
    app.use('/v1', handle)
    app.get('/things/1', (_req, res) => void res.json('elsewhere'))
    app.use(notFound)
    const server = app.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).json()
    expect(await get('/things/1')).toBe('elsewhere')
    expect(await get('/v1/things')).toEqual({ error: 'GET is not allowed here, only POST or OPTIONS', fields: [] })
    expect(await get('/v1/things/1/parts')).toEqual({ error: 'Path not found', fields: [] })
    expect(await get('/v2/things/1')).toMatchObject({ ok: false, details: 'GET /v2/things/1' })
    server.close()
  })
})

test('an input field named envelope in the query string is rejected at startup', () => {
  const taken = resourceOf({
    list: query({
      input: z.object({ envelope: z.string() }),
      output: echoed,
      meta: { openapi: { method: 'GET', path: '/things' } },
    }),
  })
  const options = { envelope, context: () => ({}), requestId: () => '' }
  expect(() => expressHandlers({ taken }, [], options)).toThrow(
    'taken.list: GET /things reads the field "envelope" from the query string, where "envelope" selects the envelope',
  )
})

test('an input field named envelope can be in a path or a body', async () => {
  const letters = resourceOf({
    get: query({
      input: z.object({ envelope: z.string() }),
      output: echoed,
      meta: { openapi: { method: 'GET', path: '/letters/{envelope}' } },
    }),
    send: mutation({
      input: z.object({ envelope: z.string() }),
      output: echoed,
      meta: { openapi: { method: 'POST', path: '/letters' } },
    }),
  })
  const { request } = await serve({ letters }, { letters: { get: echo, send: echo } })
  expect((await request('GET', '/letters/blue')).body).toEqual({ seen: { envelope: 'blue' } })
  expect((await request('POST', '/letters', { json: { envelope: 'red' } })).body).toEqual({ seen: { envelope: 'red' } })
})
