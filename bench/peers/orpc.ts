// oRPC's OpenAPI handler on node:http, with Drizzle.
import { createServer, type RequestListener } from 'node:http'
import { OpenAPIHandler } from '@orpc/openapi/node'
import { ORPCError, os } from '@orpc/server'
import { z } from 'zod'
import { book, idText, item, itemChanges, listQuery, newBook, newUsers, userDetail, userSummary } from './schemas.ts'
import { isEquipped, port } from './settings.ts'
import { drizzleStore } from './stores/drizzle.ts'

const store = drizzleStore()

const handler = new OpenAPIHandler({
  getUser: os
    .route({ method: 'GET', path: '/api/users/{id}' })
    .input(z.object({ id: idText }))
    .output(userDetail)
    .handler(async ({ input }) => {
      const user = await store.findUser(input.id)
      if (user === undefined) throw new ORPCError('NOT_FOUND', { message: 'User not found' })
      return user
    }),

  listUsers: os
    .route({ method: 'GET', path: '/api/users' })
    .input(listQuery)
    .output(z.array(userSummary))
    .handler(({ input }) => store.listUsers(input)),

  createBook: os
    .route({ method: 'POST', path: '/books', successStatus: 201 })
    .input(newBook)
    .output(book)
    .handler(({ input }) => store.insertBook(input)),

  updateItem: os
    .route({ method: 'PATCH', path: '/items/{item_id}', inputStructure: 'detailed' })
    .input(z.object({ params: z.object({ item_id: idText }), body: itemChanges }))
    .output(item)
    .handler(async ({ input: { params, body } }) => {
      const updated = await store.updateItem(params.item_id, body)
      if (updated === undefined) throw new ORPCError('NOT_FOUND', { message: 'Item not found' })
      return updated
    }),

  createUsers: os
    .route({ method: 'POST', path: '/api/users/bulk', successStatus: 201 })
    .input(newUsers)
    .output(z.array(userDetail))
    .handler(async ({ input }) => {
      const users = await store.insertUsers(input)
      if (users === undefined) throw new ORPCError('CONFLICT', { message: 'An e-mail address is in use' })
      return users
    }),
})

const serve: RequestListener = async (req, res) => {
  const { matched } = await handler.handle(req, res)
  if (!matched) res.writeHead(404).end()
}
const listener = isEquipped ? (await import('./equipment/orpc.ts')).equip(serve) : serve
createServer(listener).listen(port, '127.0.0.1')
