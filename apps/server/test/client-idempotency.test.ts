import { createClient } from '@resource/client'
import { createResourceOptions } from '@resource/client/query'
import { createLocalClient } from '@resource/server/local'
import { createTestServer } from '@resource/server/testing'
import { dehydrate, hydrate, onlineManager, QueryClient } from '@tanstack/react-query'
import { afterEach, expect, test } from 'vitest'

afterEach(() => onlineManager.setOnline(true))

const book = { title: 'Kindred', author: 'Octavia E. Butler', published_date: '1979-06-01' }

test('writes whose keys the caller gives happen once each, by every way of the client', async () => {
  await using server = await createTestServer()
  const client = createClient({ baseUrl: server.url })
  const single = createClient({ baseUrl: server.url, batch: false })
  await using local = await createLocalClient({ databaseUrl: server.databaseUrl })
  const queryClient = new QueryClient()
  const { books } = createResourceOptions(client, queryClient)
  const ways: Record<string, (key: string) => Promise<unknown>> = {
    'a key in the input': (key) => client.books.create.mutate({ ...book, idempotency_key: key }),
    'a key in the options': (key) => client.books.create.mutate(book, { idempotencyKey: key }),
    'without batches': (key) => single.books.create.mutate({ ...book, idempotency_key: key }),
    'without HTTP': (key) => local.books.create.mutate({ ...book, idempotency_key: key }),
    'a TanStack mutation': (key) =>
      queryClient
        .getMutationCache()
        .build(queryClient, books.create.mutationOptions())
        .execute({ ...book, idempotency_key: key }),
  }
  const names = Object.keys(ways)
  for (const name of names) {
    for (let times = 0; times < 2; times++) {
      const calls = Array.from({ length: 40 }, (_, n) => ways[name]?.(`${name.replaceAll(' ', '-')}-${n}`))
      await Promise.all(calls)
    }
  }
  expect((await client.books.list.query({ count: true, limit: 1 })).total).toBe(5 * 40)
})

test('every write procedure keeps the key of its input', async () => {
  await using server = await createTestServer({ seed: { books: [book] } })
  const bodies: string[] = []
  const client = createClient({
    baseUrl: server.url,
    fetch: (url, init) => {
      bodies.push(String(init?.body))
      return fetch(url, init)
    },
  })
  const idempotency_key = 'mine'
  await client.books.createMany.mutate({ books: [book], idempotency_key })
  await client.books.replace.mutate({ id: 1, ...book, title: 'Fledgling', idempotency_key })
  await client.books.updateMany.mutate({ books: [{ id: 1, title: 'Dawn' }], idempotency_key })
  await client.books.updateWhere.mutate({ q: 'dawn', changes: { set: { author: 'O. E. B.' } }, idempotency_key })
  await client.books.deleteWhere.mutate({ q: 'none', idempotency_key })
  await client.books.delete.mutate({ id: 1, idempotency_key })
  expect(bodies.map((body) => JSON.parse(body)[0].idempotency_key)).toEqual(bodies.map(() => 'mine'))
})

test.each([
  ['before it was sent', false],
  ['after the service had carried it out', true],
])('a mutation that goes offline %s, is persisted and resumed after a reload, writes once', async (_, wasSent) => {
  await using server = await createTestServer()
  const page = (fetch?: typeof globalThis.fetch) => {
    const client = createClient({ baseUrl: server.url, retryForMs: 0, fetch })
    const queryClient = new QueryClient()
    const { create } = createResourceOptions(client, queryClient).books
    queryClient.setMutationDefaults(create.mutationKey(), create.mutationOptions({ retry: 1, retryDelay: 0 }))
    return { client, queryClient, mutationKey: create.mutationKey() }
  }
  const first = page(async (...request) => {
    await fetch(...request)
    onlineManager.setOnline(false)
    throw new TypeError('the connection was lost')
  })
  onlineManager.setOnline(wasSent)
  const variables = { ...book, idempotency_key: 'mine' }
  const mutation = first.queryClient.getMutationCache().build(first.queryClient, { mutationKey: first.mutationKey })
  void mutation.execute(variables)
  await expect.poll(() => mutation.state.isPaused).toBe(true)
  const stored = JSON.stringify(dehydrate(first.queryClient))

  const second = page()
  onlineManager.setOnline(true)
  hydrate(second.queryClient, JSON.parse(stored))
  await second.queryClient.resumePausedMutations()
  await second.queryClient.resumePausedMutations()
  const { books } = await second.client.books.list.query({})
  expect(books.map(({ title }) => title)).toEqual(['Kindred'])
})
