// The client of openapi-generator for TypeScript with fetch. Argument: the service's base URL.
import assert from 'node:assert/strict'
import { Configuration, ErrorMessageFromJSON, ItemsApi, ResponseError } from './generated/index.js'

const items = new ItemsApi(new Configuration({ basePath: process.argv[2] ?? '' }))

async function failure(call: Promise<unknown>) {
  const error = await call.catch((error: unknown) => error)
  assert(error instanceof ResponseError, `not an error response: ${error}`)
  return { status: error.response.status, message: ErrorMessageFromJSON(await error.response.json()).message }
}

// Create
const { item: rug } = await items.createItem({ createItemBody: { name: 'Rug', price: 16777217.25 } })
assert.deepEqual(rug, { id: 1, name: 'Rug', price: 16777217.25, category: null })

// Bulk create
const itemCreate = [1, 2, 3, 4, 5].map((n) => ({ name: `Lamp ${n}`, price: n, category: 'lighting' }))
const lamps = await items.createItems({ itemCreate })
assert.deepEqual(
  lamps.map((lamp) => lamp.id),
  [2, 3, 4, 5, 6],
)

// List with a filter and a cursor
const names: string[] = []
let pages = 0
for (let after: string | undefined = ''; after !== undefined; pages++) {
  const page = await items.listItemsRaw({ category: 'lighting', limit: 2, after })
  for (const { name } of await page.value()) names.push(name)
  after = /[?&]after=([\w-]+)>; rel="next"/.exec(page.raw.headers.get('Link') ?? '')?.[1]
}
assert.deepEqual(names, ['Lamp 1', 'Lamp 2', 'Lamp 3', 'Lamp 4', 'Lamp 5'])
assert.equal(pages, 3)

// Get with an ETag
const read = await items.getItemRaw({ itemId: rug.id })
assert.deepEqual(await read.value(), rug)
const ifMatch = read.raw.headers.get('ETag') ?? ''
assert.match(ifMatch, /^"1-/)

// Conditional update
const changed = await items.updateItem({ itemId: rug.id, updateItemBody: { price: 30 }, ifMatch })
assert.equal(changed.price, 30)
const stale = await failure(items.updateItem({ itemId: rug.id, updateItemBody: { price: 31 }, ifMatch }))
assert.equal(stale.status, 412)
assert.match(stale.message, /^Item has changed/)

// Validation error
const invalid = await failure(items.createItem({ createItemBody: { name: '', price: 1 } }))
assert.deepEqual(invalid, { status: 400, message: 'name: must be text of 1 to 200 characters' })

// Delete
assert.deepEqual(await items.deleteItem({ itemId: rug.id }), { message: 'Item deleted' })
assert.deepEqual(await failure(items.getItem({ itemId: rug.id })), { status: 404, message: 'Item not found' })

console.log('ok')
