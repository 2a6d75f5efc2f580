import { createTRPCClient, httpLink } from '@trpc/client'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { type Implementation, mutation, query, type RouterOf, resource } from '../src/contract.ts'
import { implement, trpcRouter } from '../src/index.ts'

// `tsc` checks these tests: a line under @ts-expect-error that compiles is an error.

const stars = resource({
  tag: 'Stars',
  description: 'Far away.',
  errorForm: { schema: z.string(), body: ({ message }) => message },
  procedures: {
    get: query({
      input: z.object({ id: z.int(), far: z.boolean().default(true) }),
      output: z.object({ id: z.int(), name: z.string() }),
      meta: { openapi: { method: 'GET', path: '/stars/{id}' } },
    }),
    name: mutation({
      input: z.object({ id: z.int(), name: z.string() }),
      output: z.object({ name: z.string() }),
      meta: { openapi: { method: 'PUT', path: '/stars/{id}' } },
    }),
  },
})
const contract = { stars }
type Contract = typeof contract
interface Context {
  caller: string
}

const get = async ({ id }: { id: number }) => ({ id, name: 'Vega' })
const name = async ({ name }: { name: string }) => ({ name })

test('a matching implementation compiles', () => {
  expect(implement<Contract, Context>(contract, { stars: { get, name } })).toHaveLength(2)
  implement<Contract, Context>(contract, {
    stars: {
      get: async (input, context) => {
        expectTypeOf(input).toEqualTypeOf<{ id: number; far: boolean }>()
        expectTypeOf(context).toEqualTypeOf<Context>()
        return { id: input.id, name: context.caller }
      },
      name,
    },
  })
})

test('a mismatched implementation does not compile', () => {
  type Stars = Implementation<Contract, Context>
  // @ts-expect-error a missing resource
  const noResource: Stars = {}
  // @ts-expect-error a missing procedure
  const missing: Stars = { stars: { get } }
  // @ts-expect-error an extra procedure
  const extra: Stars = { stars: { get, name, explode: name } }
  // @ts-expect-error an output of the wrong type
  const wrongOutput: Stars = { stars: { get: async ({ id }) => ({ id: String(id), name: 'Vega' }), name } }
  // @ts-expect-error an output without a field
  const incompleteOutput: Stars = { stars: { get: async ({ id }) => ({ id }), name } }
  // @ts-expect-error a field that the input does not have
  const unknownField: Stars = { stars: { get: async ({ ident }) => ({ id: ident, name: 'Vega' }), name } }
  // @ts-expect-error an input of another type
  const wrongInput: Stars = { stars: { get: async ({ id }: { id: string }) => ({ id: Number(id), name: id }), name } }
  // @ts-expect-error a result that is not a promise
  const noPromise: Stars = { stars: { get: ({ id }) => ({ id, name: 'Vega' }), name } }
  // @ts-expect-error a context property that does not exist
  const wrongContext: Stars = { stars: { get: async ({ id }, { nobody }) => ({ id, name: nobody }), name } }
  expect([
    noResource,
    missing,
    extra,
    wrongOutput,
    incompleteOutput,
    unknownField,
    wrongInput,
    noPromise,
    wrongContext,
  ]).toHaveLength(9)
})

test('an implementation that a cast hides from the compiler is refused at start, by name', () => {
  const start = (stars: object) => () => implement<Contract, Context>(contract, { stars } as never)
  expect(start({ get })).toThrow('No implementation of stars.name: add a function for each')
  expect(start({ get: undefined })).toThrow('No implementation of stars.get, stars.name: add a function for each')
  expect(() => implement<Contract, Context>(contract, {} as never)).toThrow(
    'No implementation of stars.get, stars.name',
  )
})

test('a client is typed by the contract', () => {
  const client = createTRPCClient<RouterOf<Contract>>({ links: [httpLink({ url: 'http://127.0.0.1:9' })] })
  const calls = () => [
    client.stars.get.query({ id: 1 }),
    client.stars.get.query({ id: 1, far: false }),
    client.stars.name.mutate({ id: 1, name: 'Vega' }),
    // @ts-expect-error an unknown resource
    client.comets.get.query({ id: 1 }),
    // @ts-expect-error an unknown procedure
    client.stars.explode.mutate({ id: 1 }),
    // @ts-expect-error a mutation called as a query
    client.stars.name.query({ id: 1, name: 'Vega' }),
    // @ts-expect-error a query called as a mutation
    client.stars.get.mutate({ id: 1 }),
    // @ts-expect-error an input of the wrong type
    client.stars.get.query({ id: '1' }),
    // @ts-expect-error a missing input
    client.stars.name.mutate({ id: 1 }),
  ]
  expect(calls).toBeTypeOf('function')
  expectTypeOf(client.stars.get.query).returns.resolves.toEqualTypeOf<{ id: number; name: string }>()
})

test('the header functions of a binding are typed by input and output', () => {
  const shine = query({
    input: z.object({ far: z.boolean().default(true) }),
    output: z.object({ magnitude: z.number() }),
    meta: {
      openapi: {
        method: 'GET',
        path: '/shine',
        headers: {
          'X-Far': { description: 'As sent.', value: ({ input }) => input.far?.toString() },
          // @ts-expect-error the output has no such field
          'X-Wrong': { description: 'Nothing.', value: ({ output }) => output.colour },
        },
      },
    },
  })
  expect(shine.type).toBe('query')
})

test('a router accepts contexts with and without request headers, but not with headers of another type', () => {
  expect(trpcRouter<{ caller: string }>([])).toBeDefined()
  expect(trpcRouter<{ headers?: { 'x-depth'?: string } }>([])).toBeDefined()
  // @ts-expect-error headers are those of a request
  expect(trpcRouter<{ headers: number }>([])).toBeDefined()
})
