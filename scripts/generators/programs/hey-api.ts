// The client of @hey-api/openapi-ts with fetch. Argument: the service's base URL.
import assert from 'node:assert/strict'
import { client } from './generated/client.gen.js'
import { createItem, createItems, deleteItem, getItem, listItems, updateItem } from './generated/sdk.gen.js'

client.setConfig({ baseUrl: process.argv[2] ?? '' })

// Create
const { data: created } = await createItem({ body: { name: 'Rug', price: 16777217.25 } })
assert(created)
const rug = created.item
assert.deepEqual(rug, { id: 1, name: 'Rug', price: 16777217.25, category: null })

// Bulk create
const body = [1, 2, 3, 4, 5].map((n) => ({ name: `Lamp ${n}`, price: n, category: 'lighting' }))
const { data: lamps } = await createItems({ body })
assert.deepEqual(
  lamps?.map((lamp) => lamp.id),
  [2, 3, 4, 5, 6],
)

// List with a filter and a cursor
const names: string[] = []
let pages = 0
for (let after: string | undefined = ''; after !== undefined; pages++) {
  const page: Awaited<ReturnType<typeof listItems>> = await listItems({
    query: { category: 'lighting', limit: 2, after },
  })
  for (const { name } of page.data ?? []) names.push(name)
  after = /[?&]after=([\w-]+)>; rel="next"/.exec(page.response?.headers.get('Link') ?? '')?.[1]
}
assert.deepEqual(names, ['Lamp 1', 'Lamp 2', 'Lamp 3', 'Lamp 4', 'Lamp 5'])
assert.equal(pages, 3)

// Get with an ETag
const path = { item_id: rug.id }
const read = await getItem({ path })
assert.deepEqual(read.data, rug)
const headers = { 'If-Match': read.response?.headers.get('ETag') ?? '' }
assert.match(headers['If-Match'], /^"1-/)

// Conditional update
const changed = await updateItem({ path, headers, body: { price: 30 } })
assert.equal(changed.data?.price, 30)
const stale = await updateItem({ path, headers, body: { price: 31 } })
assert.equal(stale.response?.status, 412)
assert.match(stale.error?.message ?? '', /^Item has changed/)

// Validation error
const invalid = await createItem({ body: { name: '', price: 1 } })
assert.equal(invalid.response?.status, 400)
assert.deepEqual(invalid.error, { message: 'name: must be text of 1 to 200 characters' })

// Delete
const deleted = await deleteItem({ path })
assert.deepEqual(deleted.data, { message: 'Item deleted' })
const missing = await getItem({ path })
assert.deepEqual(missing.error, { message: 'Item not found' })

console.log('ok')
