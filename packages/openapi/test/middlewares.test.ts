import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { createClient } from '../src/client/index.ts'
import { type Implementation, type Middleware, mutation, query } from '../src/contract.ts'
import { openApiDocument } from '../src/document.ts'
import { ApiError } from '../src/index.ts'
import { documentOptions, resourceOf, serve } from './small.ts'

const input = z.object({ id: z.int() })
const output = z.object({ id: z.int(), seen: z.string() })

const contract = {
  things: resourceOf({
    get: query({ input, output, errors: [404], meta: { openapi: { method: 'GET', path: '/things/{id}' } } }),
    take: mutation({
      input,
      output,
      errors: [404],
      errorData: { 409: z.object({ holder: z.string(), until: z.int() }) },
      meta: { openapi: { method: 'POST', path: '/things/{id}/holders' } },
    }),
  }),
}

const taken = new ApiError(409, 'It is taken', { data: { holder: 'Ann', until: 5, secret: 'x' } })
const plain: Implementation<typeof contract, object> = {
  things: {
    get: async ({ id }) => ({ id, seen: '' }),
    take: async () => {
      throw taken
    },
  },
}

test('middlewares wrap the function of a procedure, the first one outermost', async () => {
  const log: string[] = []
  const logging =
    (name: string): Middleware =>
    async (input, _context, next) => {
      log.push(`${name} ${JSON.stringify(input)}`)
      const output = await next()
      log.push(`${name} done`)
      return output
    }
  const { request } = await serve(contract, {
    things: {
      get: [
        logging('outer'),
        async ({ id }, context, next) => {
          const { seen } = await next({ id: id + 1 }, { ...context, caller: 'Ann' })
          return { id, seen: `${seen}!` }
        },
        logging('inner'),
        async ({ id }, context) => ({ id, seen: `${id} ${(context as { caller?: string }).caller}` }),
      ],
      take: plain.things.take,
    },
  })
  expect((await request('GET', '/things/1')).body).toEqual({ id: 1, seen: '2 Ann!' })
  expect(log).toEqual(['outer {"id":1}', 'inner {"id":2}', 'inner done', 'outer done'])
  // Invalid input does not reach middlewares.
  expect((await request('GET', '/things/x')).status).toBe(400)
  expect(log).toHaveLength(4)
})

test('a middleware can return its own result or throw, over REST and tRPC', async () => {
  const guard: Middleware<{ id: number }> = async ({ id }, _context, next) => {
    if (id === 1) return { id, seen: 'cached' }
    if (id === 2) throw new ApiError(404, 'No such thing')
    return next()
  }
  const { request } = await serve(contract, { things: { ...plain.things, get: [guard, plain.things.get as never] } })
  const over = (id: number) => `/trpc/things.get?input=${encodeURIComponent(`{"id":${id}}`)}`
  expect((await request('GET', '/things/1')).body).toEqual({ id: 1, seen: 'cached' })
  expect((await request('GET', over(1))).body.result.data).toEqual({ id: 1, seen: 'cached' })
  expect([(await request('GET', '/things/2')).status, (await request('GET', over(2))).status]).toEqual([404, 404])
  expect((await request('GET', '/things/3')).body).toEqual({ id: 3, seen: '' })
})

test('an error contains only the data that its contract declares', async () => {
  const { url } = await serve(contract, plain)
  const client = createClient<typeof contract>({ baseUrl: url })
  const error = await client.things.take.mutate({ id: 1 }).catch((error: unknown) => error)
  const data = client.things.take.errorData(error, 409)
  expectTypeOf(data).toEqualTypeOf<{ holder: string; until: number } | undefined>()
  expect(data).toEqual({ holder: 'Ann', until: 5 })
  for (const other of [new Error('another'), undefined, taken]) {
    expect(client.things.take.errorData(other, 409)).toBeUndefined()
  }
  // @ts-expect-error: errors with this status have no data
  expect(client.things.take.errorData(error, 404)).toBeUndefined()
  // @ts-expect-error: errors of this procedure have no data
  expect(client.things.get.errorData).toBeDefined()
})

test('undeclared error data is dropped, and invalid error data is a 500', async () => {
  const problems: Error[] = []
  const { request } = await serve(
    contract,
    {
      things: {
        get: async () => {
          throw new ApiError(404, 'No such thing', { data: { secret: 'x' } })
        },
        take: async () => {
          throw new ApiError(409, 'It is taken', { data: { holder: 7 } })
        },
      },
    },
    { onError: (problem) => void problems.push(problem.cause as Error) },
  )
  const lost = await request('GET', `/trpc/things.get?input=${encodeURIComponent('{"id":1}')}`)
  expect([lost.status, lost.body.error.message, lost.body.error.data.errorData]).toEqual([
    404,
    'No such thing',
    undefined,
  ])
  const broken = await request('POST', '/things/1/holders')
  expect([broken.status, broken.body.error]).toEqual([500, 'Internal server error (request request-1)'])
  expect(problems.at(-1)?.message).toBe('things.take: the data of its 409 error does not match the contract')
})

test('over REST, an error form with a data field contains the data, and the document describes it', async () => {
  const errorForm = {
    schema: z.object({ error: z.string() }),
    withData: (data: z.ZodType) => z.object({ error: z.string(), data }),
    body: ({ message, data }: { message: string; data?: unknown }) => ({
      error: message,
      ...((data as object) && { data }),
    }),
  }
  const showing = { things: { ...contract.things, errorForm } }
  const { request } = await serve(showing, plain)
  expect((await request('POST', '/things/1/holders')).body).toEqual({
    error: 'It is taken',
    data: { holder: 'Ann', until: 5 },
  })
  const document = openApiDocument(showing, documentOptions)
  const responses = document.paths?.['/things/{id}/holders']?.post?.responses as Record<string, unknown>
  expect(Object.keys(responses)).toContain('409')
  expect(JSON.stringify(responses['409'])).toContain('"data":{"type":"object","properties":{"holder":{"type":"string"}')
  expect(JSON.stringify(responses['404'])).not.toContain('holder')
})
