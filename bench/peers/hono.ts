// Hono's zod-openapi on its Node server, with Kysely.
import { serve } from '@hono/node-server'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { book, idText, item, itemChanges, listQuery, newBook, newUsers, userDetail, userSummary } from './schemas.ts'
import { isEquipped, port } from './settings.ts'
import { kyselyStore } from './stores/kysely.ts'

const store = kyselyStore()
const app = new OpenAPIHono()
if (isEquipped) (await import('./equipment/hono.ts')).equip(app)

const json = <S extends z.ZodType>(schema: S, description: string) => ({
  content: { 'application/json': { schema } },
  description,
})
const body = <S extends z.ZodType>(schema: S) => ({
  body: { content: { 'application/json': { schema } }, required: true },
})
const error = (description: string) => json(z.object({ error: z.string() }), description)
const message = (description: string) => json(z.object({ message: z.string() }), description)

app.openapi(
  createRoute({
    method: 'get',
    path: '/api/users/{id}',
    request: { params: z.object({ id: idText }) },
    responses: { 200: json(userDetail, 'The user.'), 404: error('No such user.') },
  }),
  async (c) => {
    const user = await store.findUser(c.req.valid('param').id)
    if (user === undefined) return c.json({ error: 'User not found' }, 404)
    const { id, name, email, role, created_at } = user
    return c.json({ id, name, email, role, created_at }, 200)
  },
)

app.openapi(
  createRoute({
    method: 'get',
    path: '/api/users',
    request: { query: listQuery },
    responses: { 200: json(z.array(userSummary), 'A page of users.') },
  }),
  async (c) => c.json(await store.listUsers(c.req.valid('query')), 200),
)

app.openapi(
  createRoute({
    method: 'post',
    path: '/books',
    request: body(newBook),
    responses: { 201: json(book, 'The created book.') },
  }),
  async (c) => c.json(await store.insertBook(c.req.valid('json')), 201),
)

app.openapi(
  createRoute({
    method: 'patch',
    path: '/items/{item_id}',
    request: { params: z.object({ item_id: idText }), ...body(itemChanges) },
    responses: { 200: json(item, 'The updated item.'), 404: message('No such item.') },
  }),
  async (c) => {
    const updated = await store.updateItem(c.req.valid('param').item_id, c.req.valid('json'))
    if (updated === undefined) return c.json({ message: 'Item not found' }, 404)
    return c.json(updated, 200)
  },
)

app.openapi(
  createRoute({
    method: 'post',
    path: '/api/users/bulk',
    request: body(newUsers),
    responses: { 201: json(z.array(userDetail), 'The created users.'), 409: error('An e-mail address is in use.') },
  }),
  async (c) => {
    const users = await store.insertUsers(c.req.valid('json'))
    if (users === undefined) return c.json({ error: 'An e-mail address is in use' }, 409)
    return c.json(users, 201)
  },
)

serve({ fetch: app.fetch, port, hostname: '127.0.0.1' })
