// Express, tRPC, trpc-to-openapi and Prisma, set up as in their READMEs.
import { initTRPC, TRPCError } from '@trpc/server'
import { createExpressMiddleware } from '@trpc/server/adapters/express'
import express from 'express'
import { createOpenApiExpressMiddleware, type OpenApiMeta } from 'trpc-openapi'
import { z } from 'zod'
import {
  book,
  fullUser,
  id,
  item,
  itemUpdate,
  listInput,
  newBook,
  newUsers,
  userDetail,
  userSummary,
} from './schemas.ts'
import { port } from './settings.ts'
import { prismaStore } from './stores/prisma.ts'

const store = await prismaStore()
const t = initTRPC.meta<OpenApiMeta>().create()

async function findUser(id: number) {
  const user = await store.findUser(id)
  if (user === undefined) throw new TRPCError({ code: 'NOT_FOUND', message: 'User not found' })
  return user
}

const router = t.router({
  users: t.router({
    get: t.procedure
      .input(z.object({ id }))
      .output(fullUser)
      .query(({ input }) => findUser(input.id)),

    // A procedure has one path and one output schema, so the smaller REST response needs a second procedure.
    detail: t.procedure
      .meta({ openapi: { method: 'GET', path: '/api/users/{id}' } })
      .input(z.object({ id }))
      .output(userDetail)
      .query(({ input }) => findUser(input.id)),

    list: t.procedure
      .meta({ openapi: { method: 'GET', path: '/api/users' } })
      .input(listInput)
      .output(z.array(userSummary))
      .query(({ input }) => store.listUsers(input)),

    // trpc-to-openapi does not support a top-level array as the body.
    createMany: t.procedure
      .meta({ openapi: { method: 'POST', path: '/api/users/bulk' } })
      .input(z.object({ users: newUsers }))
      .output(z.array(userDetail))
      .mutation(async ({ input }) => {
        const users = await store.insertUsers(input.users)
        if (users === undefined) throw new TRPCError({ code: 'CONFLICT', message: 'An e-mail address is in use' })
        return users
      }),
  }),

  books: t.router({
    create: t.procedure
      .meta({ openapi: { method: 'POST', path: '/books' } })
      .input(newBook)
      .output(book)
      .mutation(({ input }) => store.insertBook(input)),
  }),

  items: t.router({
    update: t.procedure
      .meta({ openapi: { method: 'PATCH', path: '/items/{item_id}' } })
      .input(itemUpdate)
      .output(item)
      .mutation(async ({ input: { item_id, ...changes } }) => {
        const updated = await store.updateItem(item_id, changes)
        if (updated === undefined) throw new TRPCError({ code: 'NOT_FOUND', message: 'Item not found' })
        return updated
      }),
  }),
})

const created = new Set(['books.create', 'users.createMany'])
const app = express()
app.use(express.json({ limit: '1mb' }))
app.use('/trpc', createExpressMiddleware({ router }))
app.use(
  createOpenApiExpressMiddleware({
    router,
    responseMeta: ({ paths, errors }) => (errors.length === 0 && created.has(paths?.[0] ?? '') ? { status: 201 } : {}),
  }),
)
app.listen(port, '127.0.0.1')
