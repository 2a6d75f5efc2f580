import type { Procedure } from '@resource/openapi/contract'
import { expect, expectTypeOf, test } from 'vitest'
import { type AppRouter, type Contract, contract, type Input, type Output } from '../src/index.ts'

/** `METHOD path` of each binding, by procedure. */
function bindingsOf(noun: keyof Contract): Record<string, string[]> {
  const procedures = Object.entries(contract[noun].procedures as Record<string, Procedure>)
  return Object.fromEntries(
    procedures.map(([verb, { meta }]) => {
      const { additionalBindings = [], method, path } = meta.openapi
      const others = additionalBindings.map((binding) => `${binding.method ?? method} ${binding.path}`)
      return [verb, [`${method} ${path}`, ...others]]
    }),
  )
}

/** The bindings that every collection has at its path for many records. */
const manyOf = (base: string) => ({
  summarize: [`GET ${base}/summaries`],
  updateMany: [`PATCH ${base}/bulk`],
  updateWhere: [`PATCH ${base}`],
  deleteWhere: [`DELETE ${base}`],
})

test('U22 users have three APIs', () => {
  expect(bindingsOf('users')).toEqual({
    ...manyOf('/api/users'),
    list: ['GET /api/users', 'GET /users', 'GET /api/users/'],
    get: ['GET /api/users/{id}', 'GET /users/{user_id}', 'GET /api/users/{id}/'],
    create: ['POST /api/users', 'POST /users', 'POST /api/users/'],
    createMany: ['POST /api/users/bulk'],
    replace: ['PUT /api/users/{id}', 'PUT /api/users/{id}/'],
    update: ['PATCH /api/users/{id}', 'PUT /users/{user_id}', 'PATCH /api/users/{id}/'],
    setStatus: ['PATCH /api/users/{id}/status'],
    delete: ['DELETE /api/users/{id}', 'DELETE /users/{user_id}', 'DELETE /api/users/{id}/'],
  })
})

test('books and items have one API each', () => {
  expect(bindingsOf('books')).toEqual({
    ...manyOf('/books'),
    list: ['GET /books'],
    get: ['GET /books/{id}'],
    create: ['POST /books'],
    createMany: ['POST /books/bulk'],
    replace: ['PUT /books/{id}'],
    delete: ['DELETE /books/{id}'],
  })
  expect(bindingsOf('items')).toEqual({
    ...manyOf('/items'),
    updateWhere: ['PATCH /items/'],
    deleteWhere: ['DELETE /items/'],
    list: ['GET /items/'],
    get: ['GET /items/{item_id}'],
    create: ['POST /items/'],
    createMany: ['POST /items/bulk'],
    replace: ['PUT /items/{item_id}'],
    update: ['PATCH /items/{item_id}'],
    delete: ['DELETE /items/{item_id}'],
  })
})

test('the types of inputs and outputs match the contract', () => {
  expectTypeOf<Input<'items', 'create'>>().toEqualTypeOf<{
    name: string
    price: number
    category: string | null
    idempotency_key?: string | undefined
  }>()
  expectTypeOf<Output<'books', 'get'>>().toEqualTypeOf<{
    id: number
    title: string
    author: string
    published_date: string
    version: number
  }>()
  expectTypeOf<AppRouter['users']['get']['_def']['$types']['input']>().toEqualTypeOf<{ id: number }>()
  expectTypeOf<Output<'users', 'get'>>().not.toHaveProperty('password')
})
