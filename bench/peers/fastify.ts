// Fastify 5 with Drizzle: zod validates requests, Fastify's compiled serializers write responses.
import Fastify from 'fastify'
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { book, idText, item, itemChanges, listQuery, newBook, newUsers, userDetail, userSummary } from './schemas.ts'
import { isEquipped, port } from './settings.ts'
import { drizzleStore } from './stores/drizzle.ts'

const store = drizzleStore()
const equipment = isEquipped ? await import('./equipment/fastify.ts') : undefined
const app = Fastify(equipment?.options).setValidatorCompiler(validatorCompiler).withTypeProvider<ZodTypeProvider>()
await equipment?.equip(app)
const shape = (schema: z.ZodType) => z.toJSONSchema(schema, { target: 'draft-7' })
const error = { '4xx': shape(z.object({ error: z.string() })) }
const message = { '4xx': shape(z.object({ message: z.string() })) }

app.get(
  '/api/users/:id',
  { schema: { params: z.object({ id: idText }), response: { 200: shape(userDetail), ...error } } },
  async ({ params }, reply) => (await store.findUser(params.id)) ?? reply.code(404).send({ error: 'User not found' }),
)

app.get(
  '/api/users',
  { schema: { querystring: listQuery, response: { 200: shape(z.array(userSummary)) } } },
  ({ query }) => store.listUsers(query),
)

app.post('/books', { schema: { body: newBook, response: { 201: shape(book) } } }, async ({ body }, reply) =>
  reply.code(201).send(await store.insertBook(body)),
)

app.patch(
  '/items/:item_id',
  { schema: { params: z.object({ item_id: idText }), body: itemChanges, response: { 200: shape(item), ...message } } },
  async ({ params, body }, reply) =>
    (await store.updateItem(params.item_id, body)) ?? reply.code(404).send({ message: 'Item not found' }),
)

app.post(
  '/api/users/bulk',
  { schema: { body: newUsers, response: { 201: shape(z.array(userDetail)), ...error } } },
  async ({ body }, reply) => {
    const users = await store.insertUsers(body)
    if (users === undefined) return reply.code(409).send({ error: 'An e-mail address is in use' })
    return reply.code(201).send(users)
  },
)

await app.listen({ port, host: '127.0.0.1' })
