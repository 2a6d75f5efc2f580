import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { initTRPC, TRPCError } from '@trpc/server'
import express from 'express'
import type { OpenApiMeta } from 'trpc-openapi'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fromRouter, type RouterOptions } from '../src/from-router/from-router.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests access bodies of any shape
type Body = any

interface Context {
  caller: string
}

// In development mode, errors include stack traces.
const t = initTRPC.meta<OpenApiMeta>().context<Context>().create({ isDev: false })

function at(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: `/${string}`) {
  return t.procedure.meta({ openapi: { method, path } })
}

const seen = z.object({ seen: z.unknown() })

const router = t.router({
  hello: at('GET', '/hello/{name}')
    .input(z.object({ name: z.string(), times: z.number().default(1), loud: z.boolean().optional() }))
    .output(seen)
    .query(({ input }) => ({ seen: input })),
  users: t.router({
    create: at('POST', '/users')
      .input(z.object({ name: z.string().min(2), born: z.date().optional(), worth: z.bigint().optional() }))
      .output(z.object({ name: z.string(), born: z.string().optional(), worth: z.string().optional() }))
      .mutation(({ input: { name, born, worth } }) => ({
        name,
        born: born?.toISOString(),
        worth: worth?.toString(),
      })),
    strict: at('PUT', '/users/{id}')
      .input(z.strictObject({ id: z.number(), name: z.string() }))
      .output(seen)
      .mutation(({ input }) => ({ seen: input })),
    remove: at('DELETE', '/users/{id}')
      .input(z.object({ id: z.number() }))
      .output(z.void())
      .mutation(() => undefined),
  }),
  fixed: at('POST', '/hello/fixed')
    .input(z.void())
    .output(z.string())
    .mutation(() => 'fixed'),
  search: at('GET', '/search')
    .input(
      z.object({
        tag: z.array(z.string()).optional(),
        size: z.array(z.number()).optional(),
        since: z.date().optional(),
        envelope: z.string().optional(),
      }),
    )
    .output(seen)
    .query(({ input }) => ({ seen: { ...input, since: input.since?.getTime() } })),
  whoami: at('GET', '/whoami')
    .output(seen)
    .query(({ ctx }) => ({ seen: ctx })),
  touch: at('POST', '/touch')
    .input(z.void())
    .output(z.string())
    .mutation(({ input }) => `${input}`),
  fail: at('GET', '/fail/{how}')
    .input(z.object({ how: z.string() }))
    .output(z.string())
    .query(({ input: { how } }) => {
      if (how === 'conflict') throw new TRPCError({ code: 'CONFLICT', message: 'It is taken' })
      if (how === 'said') throw new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message: 'The printer is on fire' })
      if (how === 'output') return 3 as never
      throw new Error('password=hunter2')
    }),
  hidden: t.procedure
    .meta({ openapi: { method: 'GET', path: '/hidden', enabled: false } })
    .output(z.string())
    .query(() => 'hidden'),
  plain: t.procedure.query(() => 'plain'),
})

type Options = Pick<RouterOptions<typeof router, unknown, object>, 'responseMeta' | 'onError' | 'maxBodySize'> & {
  createContext?: () => Context
}

interface Sent {
  json?: unknown
  raw?: string
  headers?: Record<string, string>
}

/** Serves the router with both handlers. Each request is sent to both, and their responses must be equal. */
async function serve(options: Options = {}) {
  const createContext = () => ({ caller: 'somebody' })
  const served = fromRouter(router)
  const { handle, notFound } = served.express({ createContext, ...options })
  const viaFetch = served.fetch({ createContext, ...options, prefix: '/api' })
  const server = createServer(express().use('/api', handle, notFound)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => server.close())
  const { port } = server.address() as AddressInfo
  return async (method: string, path: string, { json, raw, headers = {} }: Sent = {}) => {
    const body = json === undefined ? raw : JSON.stringify(json)
    const init = {
      method,
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body }),
    }
    const url = `http://127.0.0.1:${port}/api${path}`
    const [one, other] = await Promise.all([read(await fetch(url, init)), read(await viaFetch(new Request(url, init)))])
    expect(other).toEqual(one)
    return one
  }
}

const SERVER_HEADERS = new Set([
  'connection',
  'date',
  'keep-alive',
  'x-powered-by',
  'content-length',
  'transfer-encoding',
])

async function read(response: Response): Promise<{ status: number; body: Body; headers: Record<string, string> }> {
  const text = await response.text()
  const headers = [...response.headers].filter(([name]) => !SERVER_HEADERS.has(name))
  return {
    status: response.status,
    body: text === '' ? undefined : JSON.parse(text),
    headers: Object.fromEntries(headers),
  }
}

const request = await serve()

describe('inputs', () => {
  test.each([
    ['GET', '/hello/Ann?times=3&loud=false', undefined, { name: 'Ann', times: 3, loud: false }],
    ['GET', '/hello/J%C3%BCrgen%2F/', undefined, { name: 'Jürgen/', times: 1 }],
    ['GET', '/HELLO/Ann', undefined, { name: 'Ann', times: 1 }],
    ['GET', '/hello/Ann?name=Bob&utm_source=mail', undefined, { name: 'Ann', times: 1 }],
    ['GET', '/search?tag=a&tag=b&size=1', undefined, { tag: ['a', 'b'], size: [1] }],
    ['GET', '/search?tag=a,b&envelope=true', undefined, { tag: ['a,b'], envelope: 'true' }],
    ['GET', '/search?since=2026-01-02', undefined, { since: Date.UTC(2026, 0, 2) }],
    ['PUT', '/users/7', { name: 'Ann' }, { id: 7, name: 'Ann' }],
    ['GET', '/hello/Ann?times=9007199254740993', undefined, { name: 'Ann', times: 9007199254740992 }],
    ['PUT', '/users/7', { name: 'Ann', id: 8 }, { id: 7, name: 'Ann' }],
  ])('%s %s', async (method, path, json, expected) => {
    expect(await request(method, path, { json })).toMatchObject({ status: 200, body: { seen: expected } })
  })

  test('dates and bigints are read from JSON text', async () => {
    const json = { name: 'Ann', born: '2001-02-03T04:05:06Z', worth: '123456789012345678901' }
    expect((await request('POST', '/users', { json })).body).toEqual({
      name: 'Ann',
      born: '2001-02-03T04:05:06.000Z',
      worth: '123456789012345678901',
    })
  })

  test('invalid input is a 400 with the issues of the parser', async () => {
    const refused = (...issues: object[]) => ({
      status: 400,
      body: { message: 'Input validation failed', code: 'BAD_REQUEST', issues },
    })
    expect(await request('GET', '/hello/Ann?times=many')).toMatchObject(refused({ path: ['times'] }))
    expect(await request('GET', '/hello/Ann?times=1&times=2')).toMatchObject(refused({ path: ['times'] }))
    expect(await request('GET', '/search?since=soon')).toMatchObject(refused({ path: ['since'] }))
    expect(await request('POST', '/users', { json: { name: 'A', born: 'x', worth: 1.5 } })).toMatchObject(
      refused({ path: ['name'] }, { path: ['born'] }, { path: ['worth'] }),
    )
    expect(await request('PUT', '/users/7', { json: { name: 'Ann', age: 3 } })).toMatchObject(
      refused({ code: 'unrecognized_keys', keys: ['age'] }),
    )
    for (const raw of ['[]', '"x"', 'null', '']) {
      expect(await request('POST', '/users', { raw })).toMatchObject(refused({ path: ['name'] }))
    }
  })

  test('names of Object.prototype are ordinary fields', async () => {
    const raw = '{"name":"Ann","__proto__":{"polluted":true}}'
    expect(await request('PUT', '/users/7', { raw })).toMatchObject({ status: 400 })
    expect((await request('GET', '/hello/Ann?__proto__=x&constructor=y')).body).toEqual({
      seen: { name: 'Ann', times: 1 },
    })
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test('an invalid body is rejected before createContext is called', async () => {
    let contexts = 0
    const strict = await serve({
      maxBodySize: 16,
      createContext: () => {
        contexts++
        return { caller: 'somebody' }
      },
    })
    expect(await strict('POST', '/users', { raw: '{' })).toMatchObject({
      status: 400,
      body: { code: 'PARSE_ERROR', message: 'Failed to parse request body' },
    })
    expect(await strict('POST', '/users', { raw: 'x', headers: { 'Content-Type': 'text/plain' } })).toMatchObject({
      status: 415,
      body: { code: 'UNSUPPORTED_MEDIA_TYPE' },
    })
    expect(await strict('POST', '/users', { raw: '{"name":"Anna"  }' })).toMatchObject({
      status: 413,
      body: { code: 'PAYLOAD_TOO_LARGE', message: 'Body must be at most 16 bytes' },
    })
    expect(contexts).toBe(0)
    expect(await strict('POST', '/users', { raw: '{"name":"Anna" }' })).toMatchObject({ status: 200 })
    // One for each handler.
    expect(contexts).toBe(2)
  })
})

describe('answers', () => {
  test('include those of procedures without input or output', async () => {
    expect(await request('POST', '/touch')).toMatchObject({ status: 200, body: 'undefined' })
    const removed = await request('DELETE', '/users/7')
    expect([removed.status, removed.body]).toEqual([200, undefined])
    expect((await request('GET', '/whoami')).body).toEqual({ seen: { caller: 'somebody' } })
  })

  test('are a 405 for another method and a 404 for a path that is not exposed', async () => {
    const wrong = await request('PATCH', '/users')
    expect([wrong.status, wrong.body.code, wrong.headers.allow]).toEqual([405, 'METHOD_NOT_SUPPORTED', 'POST, OPTIONS'])
    for (const path of ['/hidden', '/plain', '/users.create', '/']) {
      expect(await request('GET', path)).toMatchObject({
        status: 404,
        body: { message: 'Not found', code: 'NOT_FOUND' },
      })
    }
  })

  test.each([
    ['conflict', 409, 'CONFLICT', 'It is taken'],
    ['said', 500, 'INTERNAL_SERVER_ERROR', 'The printer is on fire'],
    ['output', 500, 'INTERNAL_SERVER_ERROR', 'Output validation failed'],
    ['unexpected', 500, 'INTERNAL_SERVER_ERROR', 'Internal server error'],
  ])('an error, %s', async (how, status, code, message) => {
    expect(await request('GET', `/fail/${how}`)).toMatchObject({ status, body: { code, message } })
  })

  test('get status, headers and cookies from responseMeta, which gets the errors', async () => {
    const answered: unknown[] = []
    const meta = await serve({
      responseMeta: ({ type, paths, ctx, errors, data }) => {
        answered.push([type, paths, ctx, errors.map(({ code }) => code), data])
        const headers = new Headers({ 'X-Type': type, 'content-type': 'application/vnd.api+json' })
        headers.append('Set-Cookie', 'a=1')
        headers.append('Set-Cookie', 'b=2')
        return { ...(errors.length === 0 && { status: 202 }), headers }
      },
    })
    const fine = await meta('GET', '/whoami')
    expect([fine.status, fine.headers]).toEqual([
      202,
      { 'content-type': 'application/vnd.api+json', 'set-cookie': 'b=2', 'x-type': 'query' },
    ])
    await meta('GET', '/fail/conflict')
    await meta('GET', '/nowhere')
    const context = { caller: 'somebody' }
    const one = ['query', ['whoami'], context, [], [{ seen: context }]]
    const two = ['query', ['fail'], context, ['CONFLICT'], [undefined]]
    const three = ['unknown', undefined, undefined, ['NOT_FOUND'], [undefined]]
    expect(answered).toEqual([one, one, two, two, three, three])
  })

  test('pass the original error to onError', async () => {
    const errors: unknown[] = []
    const failing = await serve({
      onError: ({ error, path, input, ctx }) => void errors.push([error.message, path, input, ctx?.caller]),
    })
    await failing('GET', '/fail/unexpected')
    await failing('POST', '/nowhere')
    const one = ['password=hunter2', 'fail', { how: 'unexpected' }, 'somebody']
    const two = ['Not found', undefined, undefined, undefined]
    expect(errors).toEqual([one, one, two, two])
  })

  test("use the message of the router's error formatter", async () => {
    const own = initTRPC.meta<OpenApiMeta>().create({
      errorFormatter: ({ shape }) => ({ ...shape, message: 'Ask Ann', help: 'ann@example.com' }),
    })
    const fetching = fromRouter(
      own.router({
        fail: own.procedure
          .meta({ openapi: { method: 'GET', path: '/fail' } })
          .output(z.string())
          .query(() => {
            throw new Error('secret')
          }),
      }),
    ).fetch()
    expect(await read(await fetching(new Request('http://here/fail')))).toMatchObject({
      status: 500,
      body: { message: 'Ask Ann', code: 'INTERNAL_SERVER_ERROR', help: 'ann@example.com' },
    })
  })
})

test('a failing hook is a 500 without details, and a failing onError is a warning', async () => {
  const warnings: string[] = []
  const unhandled: unknown[] = []
  const warn = ({ message }: Error) => void warnings.push(message)
  const reject = (cause: unknown) => void unhandled.push(cause)
  process.on('warning', warn).on('unhandledRejection', reject)
  const failing = async (options: Options) => (await serve(options))('GET', '/whoami')
  const plain = { status: 500, body: { error: 'Internal server error' } }
  const broken = () => {
    throw new Error('secret')
  }
  expect(await failing({ responseMeta: broken })).toMatchObject(plain)
  expect(await failing({ responseMeta: async () => broken() })).toMatchObject(plain)
  expect(await failing({ responseMeta: () => ({ headers: { 'X-A': '€' } }) })).toMatchObject(plain)
  expect(await failing({ responseMeta: () => ({ status: 101 }) })).toMatchObject(plain)
  expect(await failing({ responseMeta: async () => ({ status: 203 }) })).toMatchObject({ status: 203 })
  const empty = await failing({ responseMeta: () => ({ status: 204 }) })
  expect([empty.status, empty.body]).toEqual([204, undefined])
  for (const onError of [async () => broken(), broken]) {
    const reporting = await serve({ onError })
    expect(await reporting('GET', '/nowhere')).toMatchObject({ status: 404 })
  }
  await setImmediate()
  process.off('warning', warn).off('unhandledRejection', reject)
  expect(unhandled).toEqual([])
  expect(warnings.filter((text) => text.startsWith('onError failed'))).toHaveLength(4)
})

test('cookies of createContext and responseMeta are all sent', async () => {
  const fetching = fromRouter(router).fetch({
    createContext: ({ resHeaders }) => {
      resHeaders.append('Set-Cookie', 'a=1')
      return { caller: '' }
    },
    responseMeta: () => ({ headers: { 'Set-Cookie': ['b=2', 'c=3'] } }),
  })
  const { headers } = await fetching(new Request('http://here/whoami'))
  expect(headers.getSetCookie()).toEqual(['a=1', 'b=2', 'c=3'])
})

test('each method is matched against its own paths', async () => {
  const { body } = await request('GET', '/hello/fixed')
  expect(body).toEqual({ seen: { name: 'fixed', times: 1 } })
  expect((await request('POST', '/hello/fixed')).body).toBe('fixed')
  expect(await request('PUT', '/hello/fixed')).toMatchObject({ status: 405 })
  expect(await request('GET', '/whoami', { headers: { Accept: 'text/html' } })).toMatchObject({ status: 200 })
})

test('the fetch handler passes the response headers to createContext', async () => {
  const fetching = fromRouter(router).fetch({
    createContext: ({ req, resHeaders, info }) => {
      resHeaders.append('Set-Cookie', 'seen=1')
      return { caller: `${req.headers.get('x-caller')} ${info.type} ${info.url?.pathname}` }
    },
  })
  const response = await fetching(new Request('http://here/whoami', { headers: { 'X-Caller': 'Ann' } }))
  expect([await response.json(), response.headers.getSetCookie()]).toEqual([
    { seen: { caller: 'Ann query /whoami' } },
    ['seen=1'],
  ])
})

test('the signal of a procedure aborts when the client disconnects, which is a 499', async () => {
  const controller = new AbortController()
  const own = initTRPC.meta<OpenApiMeta>().create()
  const codes: string[] = []
  const fetching = fromRouter(
    own.router({
      wait: own.procedure
        .meta({ openapi: { method: 'GET', path: '/wait' } })
        .output(z.string())
        .query(({ signal }) => {
          controller.abort()
          signal?.throwIfAborted()
          return 'not aborted'
        }),
    }),
  ).fetch({ onError: ({ error }) => void codes.push(error.code) })
  const response = await fetching(new Request('http://here/wait', { signal: controller.signal }))
  expect([response.status, codes]).toEqual([499, ['CLIENT_CLOSED_REQUEST']])
})

test('the document is that of trpc-openapi, and a router that it cannot describe is rejected at startup', () => {
  const document = fromRouter(router).document({ title: 'Old', version: '1.0.0', baseUrl: '/api' })
  expect(Object.keys(document.paths ?? {})).toEqual([
    '/hello/{name}',
    '/users',
    '/users/{id}',
    '/hello/fixed',
    '/search',
    '/whoami',
    '/touch',
    '/fail/{how}',
  ])
  const bare = t.router({ bare: at('GET', '/bare').query(() => 'bare') })
  expect(() => fromRouter(bare)).toThrow('[query.bare] - Output parser expects a Zod validator')
})
