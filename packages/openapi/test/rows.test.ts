import { expect, test } from 'vitest'
import { z } from 'zod'
import { mutation } from '../src/contract.ts'
import { FieldError } from '../src/index.ts'
import { resourceOf, serve } from './small.ts'

const row = z.object({ name: z.string('must be text'), size: z.number('must be a number').optional() })

const change = mutation({
  input: z.object({
    rows: z.array(row, 'must be an array of rows').min(1, 'must not be empty'),
    partial: z.boolean('must be true or false').default(false),
    note: z.string().optional(),
  }),
  output: z.object({ results: z.array(z.unknown()) }),
  meta: {
    openapi: {
      method: 'PATCH',
      path: '/rows',
      body: 'rows',
      headerParams: { Note: 'note' },
      responseBody: 'results',
      response: z.array(z.unknown()),
    },
  },
  rows: { field: 'rows', partial: 'partial' },
})

const served = () =>
  serve(
    { things: resourceOf({ change }) },
    {
      things: {
        change: async ({ rows, partial, note }) => ({
          results: rows.map((row: unknown) =>
            row instanceof FieldError ? [row.message, row.fields] : [row, partial, note ?? null],
          ),
        }),
      },
    },
  )

test('with a whole body the other fields come from the query string', async () => {
  const { request } = await served()
  const json = [{ name: 'a' }]
  const { status, body } = await request('PATCH', '/rows?partial=true', { json, headers: { Note: 'n' } })
  expect([status, body]).toEqual([200, [[{ name: 'a' }, true, 'n']]])
  expect((await request('PATCH', '/rows', { json })).body).toEqual([[{ name: 'a' }, false, null]])
  expect(await request('PATCH', '/rows?partial=maybe', { json })).toMatchObject({
    status: 400,
    body: { error: 'partial: must be true or false' },
  })
  expect(await request('PATCH', '/rows?size=1', { json })).toMatchObject({ status: 400 })
})

test('with partial success each invalid row is an error with paths relative to the row', async () => {
  const { request } = await served()
  const json = [{ name: 'a' }, { name: 1, size: 'x' }, { name: 'c', size: 2 }, {}]
  const faults = [
    { field: 'name', message: 'must be text, not a number' },
    { field: 'size', message: 'must be a number, not text' },
  ]
  expect((await request('PATCH', '/rows?partial=true', { json })).body).toEqual([
    [{ name: 'a' }, true, null],
    ['name: must be text, not a number; size: must be a number, not text', faults],
    [{ name: 'c', size: 2 }, true, null],
    ['Missing required fields: name', [{ field: 'name', message: 'is required' }]],
  ])
  expect((await request('PATCH', '/rows?partial=true', { json: [1] })).body).toEqual([
    ['Invalid input: expected object, received number', []],
  ])
})

test('without partial success, and for errors outside the rows, the request is rejected', async () => {
  const { request } = await served()
  expect(await request('PATCH', '/rows', { json: [{ name: 'a' }, { name: 1 }] })).toMatchObject({
    status: 400,
    body: { error: '[1].name: must be text, not a number' },
  })
  expect(await request('PATCH', '/rows?partial=true', { json: [] })).toMatchObject({
    status: 400,
    body: { error: 'Body: must not be empty' },
  })
  expect(await request('PATCH', '/rows?partial=true', { json: {} })).toMatchObject({ status: 400 })
})
