// openapi-fetch with the types of openapi-typescript. Argument: the service's base URL.
import assert from 'node:assert/strict'
// biome-ignore lint/correctness/noUndeclaredDependencies: the check installs it next to this program.
import createClient from 'openapi-fetch'
import type { paths } from './generated/types.js'

const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' })

// Create
const { data: created } = await client.POST('/items/', { body: { name: 'Rug', price: 16777217.25 } })
assert(created)
const rug = created.item
assert.deepEqual(rug, { id: 1, name: 'Rug', price: 16777217.25, category: null })

// Bulk create
const body = [1, 2, 3, 4, 5].map((n) => ({ name: `Lamp ${n}`, price: n, category: 'lighting' }))
const { data: lamps } = await client.POST('/items/bulk', { body })
assert.deepEqual(
  lamps?.map((lamp) => lamp.id),
  [2, 3, 4, 5, 6],
)

// List with a filter and a cursor
const names: string[] = []
let pages = 0
for (let after: string | undefined = ''; after !== undefined; pages++) {
  const query = { category: 'lighting', limit: 2, after }
  const page: { data?: { name: string }[]; response: Response } = await client.GET('/items/', { params: { query } })
  for (const { name } of page.data ?? []) names.push(name)
  after = /[?&]after=([\w-]+)>; rel="next"/.exec(page.response.headers.get('Link') ?? '')?.[1]
}
assert.deepEqual(names, ['Lamp 1', 'Lamp 2', 'Lamp 3', 'Lamp 4', 'Lamp 5'])
assert.equal(pages, 3)

// Get with an ETag
const path = { item_id: rug.id }
const read = await client.GET('/items/{item_id}', { params: { path } })
assert.deepEqual(read.data, rug)
const header = { 'If-Match': read.response.headers.get('ETag') ?? '' }
assert.match(header['If-Match'], /^"1-/)

// Conditional update
const changed = await client.PATCH('/items/{item_id}', { params: { path, header }, body: { price: 30 } })
assert.equal(changed.data?.price, 30)
const stale = await client.PATCH('/items/{item_id}', { params: { path, header }, body: { price: 31 } })
assert.equal(stale.response.status, 412)
assert.match(stale.error?.message ?? '', /^Item has changed/)

// Validation error
const invalid = await client.POST('/items/', { body: { name: '', price: 1 } })
assert.equal(invalid.response.status, 400)
assert.deepEqual(invalid.error, { message: 'name: must be text of 1 to 200 characters' })

// Delete
const deleted = await client.DELETE('/items/{item_id}', { params: { path } })
assert.deepEqual(deleted.data, { message: 'Item deleted' })
const missing = await client.GET('/items/{item_id}', { params: { path } })
assert.deepEqual(missing.error, { message: 'Item not found' })

console.log('ok')
