import { createClient, InvalidInputError, NotFoundError } from '@resource/client'
import { createLocalClient } from '@resource/server/local'
import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'

test('the local client and the service read each other’s writes on the same database', async () => {
  await using server = await startTestServer()
  await using local = await createLocalClient({ databaseUrl: server.databaseUrl })
  const written = await server.client.items.create.mutate({ name: 'Lamp', price: 24.5 })
  expect(await local.items.get.query({ id: 1 })).toStrictEqual(written)

  await local.items.createMany.mutate({ items: [{ name: 'Rug', price: 3 }] })
  const names: string[] = []
  for await (const item of server.client.items.iterate({})) names.push(item.name)
  expect(names).toEqual(['Lamp', 'Rug'])
  expect(await local.items.list.query({})).toStrictEqual(await server.client.items.list.query({}))
})

test('its errors equal those of the HTTP client', async () => {
  await using server = await startTestServer()
  await using local = await createLocalClient({ databaseUrl: server.databaseUrl })
  const remote = createClient({ baseUrl: server.url })
  const failures = (client: typeof remote) =>
    Promise.all([
      client.items.create.mutate({ name: '', price: -1 }).catch((error: InvalidInputError) => error),
      client.users.get.query({ id: 9 }).catch((error: NotFoundError) => error),
    ])
  const [invalid, missing] = await failures(local)
  expect(invalid).toBeInstanceOf(InvalidInputError)
  expect(missing).toBeInstanceOf(NotFoundError)
  const detailsOf = (errors: object[]) =>
    errors.map((error) => {
      const { name, message, status, fields, data } = error as NotFoundError
      return { name, message, status, fields, data }
    })
  expect(detailsOf(await failures(local))).toEqual(detailsOf(await failures(remote)))
})

test('close releases the database', async () => {
  await using server = await startTestServer()
  const local = await createLocalClient({ databaseUrl: server.databaseUrl, retryForMs: 0 })
  await local.close()
  await expect(local.books.list.query({})).rejects.toMatchObject({ status: 500 })
})

test('a call does not wait for others of the same tick', async () => {
  await using server = await startTestServer()
  await using local = await createLocalClient({ databaseUrl: server.databaseUrl })
  const done: string[] = []
  await Promise.all([
    local.users.create
      .mutate({ name: 'Ada', email: 'ada@example.com', password: 'analytical' })
      .then(() => done.push('slow, for its password')),
    local.items.list.query({}).then(() => done.push('fast')),
  ])
  expect(done).toEqual(['fast', 'slow, for its password'])
})
