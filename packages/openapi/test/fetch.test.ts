import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Implementation, mutation, query } from '../src/contract.ts'
import { ApiError, type FetchOptions, fetchHandler, implement } from '../src/index.ts'
import { envelope } from './sky.ts'
import { resourceOf } from './small.ts'

// `startSky` also sends each request of the other tests to the fetch handler and compares the responses.

const input = z.object({ id: z.int() })
const contract = {
  things: resourceOf({
    get: query({ input, output: input, meta: { openapi: { method: 'GET', path: '/things/{id}' } } }),
    make: mutation({
      input,
      output: input,
      meta: {
        openapi: {
          method: 'POST',
          path: '/things',
          status: 201,
          bodyLimit: 20,
          headers: { Location: { description: 'Where it is.', value: ({ output }) => `/things/${output.id}` } },
        },
      },
    }),
  }),
}

const same = async ({ id }: { id: number }) => ({ id })

function handler(
  options: Partial<FetchOptions<object>> = {},
  implementation: Implementation<typeof contract, object> = { things: { get: same, make: same } },
) {
  return fetchHandler(contract, implement<typeof contract, object>(contract, implementation), {
    envelope,
    context: () => ({}),
    requestId: () => 'request-1',
    ...options,
  })
}

const post = (body: string | ReadableStream, path = '/things') =>
  new Request(`http://here${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  })

async function read(response: Response | Promise<Response>) {
  const { status, headers } = await response
  return { status, body: await (await response).json(), type: headers.get('content-type') }
}

test('the contract is served under the prefix', async () => {
  for (const prefix of ['/api', '/api/'] as const) {
    const handle = handler({ prefix })
    expect(await read(handle(new Request('http://here/api/things/7?')))).toEqual({
      status: 200,
      body: { id: 7 },
      type: 'application/json; charset=utf-8',
    })
    const made = await handle(post('{"id":8}', '/api/things'))
    expect([made.status, made.headers.get('location')]).toEqual([201, '/api/things/8'])
    for (const path of ['/things/7', '/apithings/7', '/api', '/api/other', '/']) {
      expect(await read(handle(new Request(`http://here${path}`)))).toMatchObject({ status: 404 })
    }
  }
})

test('a prefix can contain characters that URLs encode', async () => {
  const handle = handler({ prefix: '/é b' })
  expect(await read(handle(new Request('http://here/é b/things/7')))).toMatchObject({ status: 200, body: { id: 7 } })
  expect(await read(handle(new Request('http://here/things/7')))).toMatchObject({ status: 404 })
})

test('a HEAD gets the headers of the GET without a body', async () => {
  const response = await handler()(new Request('http://here/things/7', { method: 'HEAD' }))
  expect([response.status, response.headers.get('content-length'), response.body]).toEqual([200, '8', null])
})

test('a body over the limit is rejected and read no further, with any Content-Length', async () => {
  let pulled = 0
  const endless = new ReadableStream({
    pull: (controller) => {
      pulled++
      controller.enqueue(new TextEncoder().encode('0123456789'))
    },
  })
  expect(await read(handler()(post(endless)))).toMatchObject({
    status: 413,
    body: { error: 'Body must be at most 20 bytes' },
  })
  expect(pulled).toBeLessThan(6)
  expect(await read(handler()(post('{"id":1,       "a":1}')))).toMatchObject({ status: 413 })
  expect(await read(handler()(post('{"id":1,      "a":1}')))).toMatchObject({ status: 201 })
})

test('an incomplete body is a 400, and a body that was already read is a 500', async () => {
  const broken = new ReadableStream({
    pull: (controller) => controller.error(new Error('secret')),
  })
  expect(await read(handler()(post(broken)))).toMatchObject({
    status: 400,
    body: { error: 'Body is incomplete' },
  })
  const problems: unknown[] = []
  const consumed = post('{"id":1}')
  await consumed.text()
  expect(await read(handler({ onError: (problem) => void problems.push(problem.cause) })(consumed))).toMatchObject({
    status: 500,
    body: { error: 'Internal server error (request request-1)' },
  })
  expect(problems).toEqual([new Error('The body has already been read: pass the handler a clone of the request')])
})

test('the chunks of a body are joined', async () => {
  const pieces = ['{"i', 'd":', '12}'].map((text) => new TextEncoder().encode(text))
  const body = new ReadableStream({
    pull: (controller) => {
      const piece = pieces.shift()
      if (piece === undefined) controller.close()
      else controller.enqueue(piece)
    },
  })
  expect(await read(handler()(post(body)))).toMatchObject({ status: 201, body: { id: 12 } })
})

test('each hook gets the original request', async () => {
  const seen: unknown[] = []
  const asked = new Request('http://here/things/x')
  const handle = handler({
    context: (request, procedures, route) => {
      seen.push(request === asked, procedures, route)
      return {}
    },
    headers: async (request) => ({ 'X-Path': new URL(request.url).pathname }),
    onError: (problem, request) => void seen.push(problem.status, request === asked),
  })
  const response = await handle(asked)
  expect([response.status, response.headers.get('x-path')]).toEqual([400, '/things/x'])
  expect(seen).toEqual([true, ['things.get'], '/things/{id}', 400, true])
})

test('an error that a hook throws or rejects with is the response', async () => {
  const refusal = new ApiError(401, 'Who are you?')
  for (const context of [
    () => Promise.reject(refusal),
    () => {
      throw refusal
    },
  ]) {
    expect(await read(handler({ context })(new Request('http://here/things/7')))).toMatchObject({ status: 401 })
  }
  const headers = () => Promise.reject(new Error('secret'))
  expect(await read(handler({ headers })(new Request('http://here/things/7')))).toMatchObject({ status: 500 })
})

test('a client that disconnects is a 499, not a failure of the service', async () => {
  const statuses: number[] = []
  const controller = new AbortController()
  const get = async (_: { id: number }, context: object) => {
    const { signal } = context as { signal: AbortSignal }
    controller.abort()
    await setTimeout(10_000, undefined, { signal })
    return { id: 1 }
  }
  const handle = handler(
    { context: ({ signal }) => ({ signal }), onError: ({ status }) => void statuses.push(status) },
    { things: { get, make: same } },
  )
  const response = await handle(new Request('http://here/things/7', { signal: controller.signal }))
  expect([response.status, statuses]).toEqual([499, [499]])
})

test('the fragment of a URL, which clients do not send, is ignored', async () => {
  const { status, body } = await read(handler()(new Request('http://x/things/1#a?id=2')))
  expect([status, body]).toEqual([200, { id: 1 }])
})
