import { type ClientOptions, createClient, requestIdOf, type ServiceError } from '@resource/client'
import { createResourceOptions, ResourceProvider, useResource } from '@resource/client/react'
import { createTestServer } from '@resource/server/testing'
import {
  CancelledError,
  QueryClient,
  QueryClientProvider,
  skipToken,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { Window } from 'happy-dom'
import { createElement } from 'react'
import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest'
import { startStubServer } from './stub-server.ts'

// React needs a document; requests still use the fetch of Node.js.
const window = Object.assign(new Window({ url: 'http://localhost' }), { fetch })
let createRoot: typeof import('react-dom/client').createRoot
beforeAll(async () => {
  Object.assign(globalThis, { window, document: window.document })
  ;({ createRoot } = await import('react-dom/client'))
})
afterAll(() => window.happyDOM.close())

/** Renders `component` with a client of `url`; `await using` removes it. */
function show(url: string, component: () => unknown, live = false, options: Partial<ClientOptions> = {}) {
  const client = createClient({ baseUrl: url, ...options })
  const queryClient = new QueryClient()
  const container = window.document.createElement('div')
  const root = createRoot(container as never)
  const children = createElement(ResourceProvider, { client, live }, createElement(component as never))
  root.render(createElement(QueryClientProvider, { client: queryClient }, children))
  return {
    text: () => container.textContent,
    click: (name: string) => (container.querySelector(`#${name}`) as unknown as { click: () => void }).click(),
    [Symbol.asyncDispose]: async () => {
      root.unmount()
      queryClient.clear()
    },
  }
}

const button = (id: string, onClick: () => void) => createElement('button', { type: 'button', id, key: id, onClick })

/** The number of requests for a procedure. */
const requestCount = (log: string[], procedure: string) =>
  log.map((line) => JSON.parse(line) as { path?: string }).filter(({ path }) => path?.includes(procedure)).length

test('a mutation refreshes the lists and records of its collection, and no other collection', async () => {
  await using server = await createTestServer({
    seed: {
      items: [{ name: 'Lamp', price: 1 }],
      books: [{ title: 'T', author: 'A', published_date: '2020-01-01' }],
    },
  })
  await using page = show(server.url, () => {
    const resource = useResource()
    const items = useQuery(resource.items.list.queryOptions({ sort: 'name_asc' }))
    const first = useQuery(resource.items.get.queryOptions({ id: 1 }))
    const books = useQuery(resource.books.list.queryOptions({}))
    const create = useMutation(resource.items.create.mutationOptions())
    const update = useMutation(resource.items.update.mutationOptions())
    return [
      `${items.data?.items.map(({ name }) => name).join()};${first.data?.price};${books.data?.books.length}`,
      button('create', () => create.mutate({ name: 'Rug', price: 2 })),
      button('update', () => update.mutate({ id: 1, price: 9 })),
    ]
  })
  await expect.poll(page.text).toBe('Lamp;1;1')
  page.click('create')
  await expect.poll(page.text).toBe('Lamp,Rug;1;1')
  page.click('update')
  await expect.poll(page.text).toBe('Lamp,Rug;9;1')
  expect(requestCount(server.log, 'books.list')).toBe(1)
})

test('a failed write refetches, exposes the error of the service and runs the onSettled of the caller', async () => {
  await using server = await createTestServer({ seed: { items: [{ name: 'Lamp', price: 1 }] } })
  const settled: (string | undefined)[] = []
  await using page = show(server.url, () => {
    const resource = useResource()
    const first = useQuery(resource.items.get.queryOptions({ id: 1 }))
    const update = useMutation(
      resource.items.update.mutationOptions({ onSettled: (_data, error) => void settled.push(error?.message) }),
    )
    return [
      `${first.data?.price};${update.error?.message ?? ''}`,
      button('update', () => update.mutate({ id: 1, price: 5, if_version: 1 })),
    ]
  })
  await expect.poll(page.text).toBe('1;')
  await createClient({ baseUrl: server.url }).items.update.mutate({ id: 1, price: 3 })
  page.click('update')
  await expect.poll(page.text).toContain('3;Item has changed: its version is now 2')
  expect(settled).toEqual([expect.stringContaining('Item has changed')])
})

test('a write invalidates the audit log, even if the onSettled of the caller throws', async () => {
  await using server = await createTestServer({ seed: { items: [{ name: 'Lamp', price: 1 }] } })
  const queryClient = new QueryClient()
  const resource = createResourceOptions(createClient({ baseUrl: server.url }), queryClient)
  const entries = () => queryClient.fetchQuery({ ...resource.audit.list.queryOptions({}), staleTime: 60_000 })
  const before = (await entries()).audit.length
  const fault = new Error('a fault of the page')
  const options = resource.items.update.mutationOptions({
    onSettled: () => {
      throw fault
    },
  })
  await createClient({ baseUrl: server.url }).items.update.mutate({ id: 1, price: 2 })
  // Called directly, because TanStack Query calls it a second time with the error that it threw.
  const settle = options.onSettled as () => Promise<void>
  await expect(settle()).rejects.toBe(fault)
  expect((await entries()).audit.length).toBe(before + 1)
})

test('the attempts of one mutation share an idempotency key, and two mutations have two', async () => {
  const keys: string[] = []
  await using busy = await startStubServer((req, res) => {
    let body = ''
    req.on('data', (chunk) => {
      body += chunk
    })
    req.on('end', () => {
      keys.push(JSON.parse(body)[0].idempotency_key)
      res.writeHead(503).end('{}')
    })
  })
  const queryClient = new QueryClient()
  const client = createClient({ baseUrl: busy.url, retryForMs: 0 })
  const options = createResourceOptions(client, queryClient).items.create.mutationOptions({ retry: 1, retryDelay: 0 })
  expectTypeOf(options.onError).parameter(0).toEqualTypeOf<ServiceError>()
  for (let n = 0; n < 2; n++) {
    const create = queryClient.getMutationCache().build(queryClient, options)
    await expect(create.execute({ name: 'Lamp', price: 1 })).rejects.toMatchObject({ code: 'unavailable' })
  }
  expect(keys.length).toBe(4)
  expect([keys[1], keys[3]]).toEqual([keys[0], keys[2]])
  expect(keys[2]).not.toBe(keys[0])
})

test('a failed query is not retried by React Query, because the client already retries', async () => {
  await using server = await createTestServer()
  await using page = show(
    server.url,
    () => useQuery(useResource().users.get.queryOptions({ id: 7 })).error?.message ?? '',
  )
  await expect.poll(page.text).toBe('User not found')
  await expect.poll(() => requestCount(server.log, 'users.get')).toBe(1)
})

test('a failed page is not retried by React Query either', async () => {
  const queryClient = new QueryClient()
  let requests = 0
  const fetch = async () => {
    requests++
    return new Response('{}', { status: 400 })
  }
  const resource = createResourceOptions(createClient({ baseUrl: 'http://127.0.0.1:9', fetch }), queryClient)
  await expect(queryClient.fetchInfiniteQuery(resource.items.pagesOptions({}))).rejects.toMatchObject({ status: 400 })
  // TanStack's default delay before a retry is a second; a retry of its own would be pending now.
  expect([requests, resource.items.pagesOptions({}).retry]).toEqual([1, false])
})

test('a list renders page by page, and a mutation refetches its pages', async () => {
  const seed = { books: ['A', 'B', 'C'].map((title) => ({ title, author: 'X', published_date: '2020-01-01' })) }
  await using server = await createTestServer({ seed })
  await using page = show(server.url, () => {
    const resource = useResource()
    const books = useInfiniteQuery(resource.books.pagesOptions({ limit: 2, sort: 'title_desc' }))
    const remove = useMutation(resource.books.delete.mutationOptions())
    return [
      books.data?.pages.map((page) => page.books.map(({ title }) => title).join('')).join('|'),
      button('more', () => void books.fetchNextPage()),
      button('remove', () => remove.mutate({ id: 2 })),
    ]
  })
  await expect.poll(page.text).toBe('CB')
  page.click('more')
  await expect.poll(page.text).toBe('CB|A')
  page.click('remove')
  await expect.poll(page.text).toBe('CA')
})

test('a cancelled query ends its request', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const { promise: received, resolve: receive } = Promise.withResolvers<void>()
  await using slow = await startStubServer((_req, res) => {
    res.once('close', resolve)
    receive()
  })
  const queryClient = new QueryClient()
  const { books } = createResourceOptions(createClient({ baseUrl: slow.url }), queryClient)
  const list = books.list.queryOptions({})
  const fetched = queryClient.fetchQuery(list).catch((error) => error instanceof CancelledError)
  await received
  await queryClient.cancelQueries({ queryKey: list.queryKey })
  await closed
  expect(await fetched).toBe(true)
})

test('the options of pages keep the settings of the caller, and skipToken fetches nothing', async () => {
  await using server = await createTestServer({ seed: { items: [{ name: 'Lamp', price: 1 }] } })
  const queryClient = new QueryClient()
  const { items } = createResourceOptions(createClient({ baseUrl: server.url }), queryClient)
  const pages = items.pagesOptions({ limit: 1 }, { staleTime: 60_000, select: ({ pages }) => pages.length })
  expect(pages).toMatchObject({ staleTime: 60_000, retry: false, initialPageParam: '' })
  await queryClient.fetchInfiniteQuery(items.pagesOptions({ limit: 1 }))
  expect(queryClient.getQueryData(pages.queryKey)?.pages[0]?.items[0]?.name).toBe('Lamp')
  expect(items.pagesOptions(skipToken).queryFn).toBe(skipToken)
})

test('the options work without React and are typed by the contract', async () => {
  await using server = await createTestServer({ seed: { items: [{ name: 'Lamp', price: 1 }] } })
  const queryClient = new QueryClient()
  const resource = createResourceOptions(createClient({ baseUrl: server.url }), queryClient)
  const item = await queryClient.fetchQuery(resource.items.get.queryOptions({ id: 1 }))
  expectTypeOf(item.price).toBeNumber()
  expect(queryClient.getQueryData(resource.items.get.queryKey({ id: 1 }))).toEqual(item)
  // @ts-expect-error: an id is a number
  resource.items.get.queryOptions({ id: '1' })
})

test('the answer of a mutation has what undo needs, until the cache has merged it; an undo refreshes every query', async () => {
  await using server = await createTestServer({
    seed: {
      items: [{ name: 'Lamp', price: 1 }],
      books: [{ title: 'T', author: 'A', published_date: '2020-01-01' }],
    },
  })
  await using page = show(server.url, () => {
    const resource = useResource()
    const items = useQuery(resource.items.list.queryOptions({}))
    const books = useQuery(resource.books.list.queryOptions({}))
    const undo = useMutation(resource.reversals.create.mutationOptions())
    const update = useMutation(resource.items.update.mutationOptions())
    const request_id = update.data && requestIdOf(update.data)
    return [
      `${items.data?.items[0]?.price};${books.data?.books.length};${request_id?.length}`,
      button('update', () => update.mutate({ id: 1, price: 9 })),
      button('undo', () => request_id && undo.mutate({ request_id })),
    ]
  })
  await expect.poll(page.text).toBe('1;1;undefined')
  page.click('update')
  await expect.poll(page.text).toBe('9;1;36')
  page.click('undo')
  await expect.poll(page.text).toBe('1;1;36')
  expect(requestCount(server.log, 'books.list')).toBe(2)

  const client = createClient({ baseUrl: server.url })
  const queryClient = new QueryClient()
  const answer = await client.items.update.mutate({ id: 1, price: 5 })
  queryClient.setQueryData(['item'], answer)
  expect(requestIdOf(queryClient.getQueryData(['item']) as object)).toBe(requestIdOf(answer))
  // Structural sharing makes a new object of the old and the new answer.
  queryClient.setQueryData(['item'], await client.items.update.mutate({ id: 1, price: 6 }))
  const merged = queryClient.getQueryData(['item']) as object
  expect(requestIdOf(merged)).toBeUndefined()
  await expect(client.undo(merged)).rejects.toThrow('undo: this is not the answer of a call of this client')
})

test('with `live`, queries follow the writes of others: lists, records and their deletion', async () => {
  await using server = await createTestServer({
    seed: {
      items: [{ name: 'Lamp', price: 1 }],
      books: [{ title: 'T', author: 'A', published_date: '2020-01-01' }],
    },
  })
  const other = createClient({ baseUrl: server.url })
  await using page = show(
    server.url,
    () => {
      const resource = useResource()
      const items = useQuery(resource.items.list.queryOptions({ sort: 'name_asc' }))
      const pages = useInfiniteQuery(resource.items.pagesOptions({ limit: 1, sort: 'price_desc' }))
      const first = useQuery(resource.items.get.queryOptions({ id: 1 }))
      const books = useQuery(resource.books.list.queryOptions({}))
      const dearest = pages.data?.pages[0]?.items[0]?.name
      return `${items.data?.items.map(({ name }) => name)};${dearest};${first.error?.code ?? first.data?.price};${books.data?.books.length}`
    },
    true,
  )
  await expect.poll(page.text).toBe('Lamp;Lamp;1;1')
  await other.items.createMany.mutate({ items: [{ name: 'Rug', price: 2 }] })
  await expect.poll(page.text).toBe('Lamp,Rug;Rug;1;1')
  const reads = requestCount(server.log, 'books.list')
  await other.items.update.mutate({ id: 1, price: 9 })
  await expect.poll(page.text).toBe('Lamp,Rug;Lamp;9;1')
  await other.items.delete.mutate({ id: 1 })
  await expect.poll(page.text).toBe('Rug;Rug;not_found;1')
  expect(requestCount(server.log, 'books.list')).toBe(reads)
})

test('with `live`, a write of the page itself fetches its queries once', async () => {
  await using server = await createTestServer({ seed: { items: [{ name: 'Lamp', price: 1 }] } })
  const other = createClient({ baseUrl: server.url })
  const addBook = () => other.books.create.mutate({ title: 'T', author: 'A', published_date: '2020-01-01' })
  await using page = show(
    server.url,
    () => {
      const resource = useResource()
      const items = useQuery(resource.items.list.queryOptions({}))
      const books = useQuery(resource.books.list.queryOptions({}))
      const update = useMutation(resource.items.update.mutationOptions())
      const create = useMutation(resource.items.createMany.mutationOptions())
      const remove = useMutation(resource.items.delete.mutationOptions())
      const updateWhere = useMutation(resource.items.updateWhere.mutationOptions())
      return [
        `${items.data?.items.map(({ price }) => price)};${books.data?.books.length}`,
        button('update', () => update.mutate({ id: 1, price: 9 })),
        button('create', () => create.mutate({ items: [{ name: 'Rug', price: 5 }] })),
        button('remove', () => remove.mutate({ id: 2 })),
        button('filter', () => updateWhere.mutate({ id_in: [1], changes: { set: { price: 8 } } })),
      ]
    },
    true,
  )
  // The changes of books come after those of the items before them.
  let books = 0
  const settled = async (prices: string) => {
    for (let n = 0; n < 2; n++) {
      await expect.poll(page.text).toBe(`${prices};${books}`)
      await addBook()
      await expect.poll(page.text).toBe(`${prices};${++books}`)
    }
    return requestCount(server.log, 'items.list')
  }
  const before = await settled('1')
  page.click('update')
  expect(await settled('9')).toBe(before + 1)
  page.click('create')
  expect(await settled('9,5')).toBe(before + 2)
  page.click('remove')
  expect(await settled('9')).toBe(before + 3)
  page.click('filter')
  expect(await settled('8')).toBe(before + 4)
})

test('with `live`, queries follow others again once somebody has logged in', async () => {
  await using server = await createTestServer({ seed: { items: [{ name: 'Lamp', price: 1 }] } })
  const { key } = await createClient({ baseUrl: server.url }).keys.create.mutate({ name: 'first', role: 'admin' })
  const other = createClient({ baseUrl: server.url, apiKey: key })
  let own: string | undefined
  await using page = show(
    server.url,
    () => {
      const queryClient = useQueryClient()
      const item = useQuery(useResource().items.get.queryOptions({ id: 1 }))
      const logIn = () => {
        own = key
        void queryClient.resetQueries()
      }
      return [item.error?.code ?? item.data?.price, button('log-in', logIn)]
    },
    true,
    { apiKey: () => own },
  )
  await expect.poll(page.text).toBe('unauthorized')
  page.click('log-in')
  await expect.poll(page.text).toBe('1')
  await other.items.update.mutate({ id: 1, price: 2 })
  await expect.poll(page.text).toBe('2')
})

test('with `live`, a change during the first fetch of a query is not lost', async () => {
  await using server = await createTestServer({ seed: { items: [{ name: 'Lamp', price: 1 }] } })
  const other = createClient({ baseUrl: server.url })
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let reads = 0
  const slow: typeof fetch = async (url, init) => {
    const response = await fetch(url, init)
    // The service has answered; the page gets that answer after the change.
    if (/items\.(list|get)/.test(String(url)) && reads++ < 2) await released
    return response
  }
  await using page = show(
    server.url,
    () => {
      const resource = useResource()
      const books = useQuery(resource.books.list.queryOptions({}))
      // Only once the stream has begun, as the first book shows.
      const enabled = (books.data?.books.length ?? 0) > 0
      const items = useQuery(resource.items.list.queryOptions({}, { enabled }))
      const lamp = useQuery(resource.items.get.queryOptions({ id: 1 }, { enabled }))
      return `${items.data?.items.map(({ name }) => name)};${lamp.data?.price};${books.data?.books.length}`
    },
    true,
    { fetch: slow, batch: false },
  )
  const addBook = () => other.books.create.mutate({ title: 'T', author: 'A', published_date: '2020-01-01' })
  await expect.poll(page.text).toMatch(/0$/)
  await addBook()
  await expect.poll(page.text).toMatch(/1$/)
  await expect.poll(() => reads).toBe(2)
  await other.items.update.mutate({ id: 1, price: 9 })
  await other.items.createMany.mutate({ items: [{ name: 'Rug', price: 2 }] })
  // Changes come in order.
  await addBook()
  await expect.poll(page.text).toMatch(/2$/)
  release()
  await expect.poll(page.text).toBe('Lamp,Rug;9;2')
})
