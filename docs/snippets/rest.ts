// The service through types generated from its OpenAPI document:
//   npx openapi-typescript http://127.0.0.1:3000/openapi.json -o api.d.ts --default-non-nullable=false
import createClient from 'openapi-fetch'
import type { paths } from './api.d.ts'

const client = createClient<paths>({ baseUrl: process.env.BASE_URL ?? 'http://127.0.0.1:3000' })

const created = await client.POST('/items/', { body: { name: 'Lamp', price: 24.5 } })
const item = created.data?.item

const listed = await client.GET('/items/', { params: { query: { price_lt: 30, sort: 'price_desc' } } })
const names = listed.data?.map(({ name }) => name) ?? []

const missing = await client.GET('/items/{item_id}', { params: { path: { item_id: 99 } } })
const message = missing.error?.message

console.log(item?.id, names.join(), missing.response.status, message)
