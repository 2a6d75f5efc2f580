import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  splitLink,
  TRPCClientError,
} from '@trpc/client'
import { afterAll, describe, expect, test } from 'vitest'
import type { RouterOf } from '../src/contract.ts'
import { trpcRouter } from '../src/index.ts'
import { startSky } from './serve.ts'
import { type contract, INNER_SECRET, type SkyContext, skyOperations } from './sky.ts'

const sky = await startSky()
afterAll(() => sky[Symbol.asyncDispose]())

type Router = RouterOf<typeof contract>

const url = `${sky.url}/trpc`
const single = createTRPCClient<Router>({ links: [httpLink({ url })] })
const batched = createTRPCClient<Router>({ links: [httpBatchLink({ url })] })
const short = createTRPCClient<Router>({ links: [httpBatchLink({ url, maxURLLength: 120 })] })
const streamed = createTRPCClient<Router>({ links: [httpBatchStreamLink({ url })] })
const split = createTRPCClient<Router>({
  links: [
    splitLink({
      condition: ({ type }) => type === 'query',
      true: httpBatchStreamLink({ url }),
      false: httpBatchLink({ url }),
    }),
  ],
})
const planet = { name: 'Vulcan', radius: 1 }

async function errorOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(TRPCClientError)
  const { message, data } = error as TRPCClientError<Router>
  return {
    message,
    code: data?.code,
    status: data?.httpStatus,
    fields: data?.fields,
    keys: Object.keys(data ?? {}).sort(),
  }
}

describe.each([
  ['one call at a time', single],
  ['calls in batches', batched],
  ['calls in batches of short URLs', short],
  ['calls in batches whose answers stream in', streamed],
  ['queries in streams and mutations in batches', split],
])('a client of type RouterOf, %s', (_, client) => {
  test('reaches every procedure', async () => {
    const [got, listed, moons, home] = await Promise.all([
      client.planets.get.query({ id: 6 }),
      client.planets.list.query({ ringed: true }),
      client.moons.list.query({ planet_id: 6 }),
      client.home.get.query({}),
    ])
    const saturn = { id: 6, name: 'Saturn', kind: 'gas', radius: 58232, ringed: true, version: 12 }
    expect(got).toEqual(saturn)
    expect(listed).toEqual({ planets: [saturn], total: 1 })
    expect(moons).toEqual({ moons: ['Titan', 'Rhea'] })
    expect(home).toEqual({ star: 'Sol' })
    const created = await client.planets.create.mutate(planet)
    expect(created).toEqual({ id: 9, name: 'Vulcan', kind: 'rock', radius: 1, ringed: false, version: 1 })
    const many = await client.planets.createMany.mutate({ planets: [planet] })
    expect(many.planets[0]?.version).toBe(1)
    expect(await client.planets.delete.mutate({ id: 2 })).toEqual({ message: 'Venus is gone' })
  })

  test('gets the invalid fields of an error', async () => {
    expect(await errorOf(client.planets.create.mutate({ kind: 'cheese', radius: 1 } as never))).toEqual({
      message: 'Missing required fields: name; kind: must be rock, gas or ice',
      code: 'BAD_REQUEST',
      status: 400,
      fields: [
        { field: 'name', message: 'is required' },
        { field: 'kind', message: 'must be rock, gas or ice' },
      ],
      keys: ['code', 'fields', 'httpStatus', 'path', 'reason'],
    })
    const nested = await errorOf(
      client.planets.createMany.mutate({ planets: [planet, { ...planet, radius: '1' }] } as never),
    )
    expect(nested.fields).toEqual([{ field: 'planets[1].radius', message: 'must be a number, not text' }])
  })

  test('gets the same errors as over REST', async () => {
    expect(await errorOf(client.planets.get.query({ id: 7 }))).toMatchObject({
      message: 'Planet not found',
      code: 'NOT_FOUND',
      status: 404,
      fields: [],
    })
    const stale = await errorOf(client.planets.replace.mutate({ id: 2, ...planet, if_version: [1] }))
    expect([stale.code, stale.status]).toEqual(['PRECONDITION_FAILED', 412])
    expect((await errorOf(client.failures.fail.query({ how: 'known' }))).status).toBe(503)
  })

  test('gets no details of unexpected errors', async () => {
    for (const how of ['error', 'text', 'problem', 'output']) {
      expect([how, await errorOf(client.failures.fail.query({ how }))]).toEqual([
        how,
        {
          message: 'Internal server error',
          code: 'INTERNAL_SERVER_ERROR',
          status: 500,
          fields: [],
          keys: ['code', 'fields', 'httpStatus', 'path', 'reason'],
        },
      ])
    }
  })
})

test('an error over tRPC contains neither a stack nor its cause', async () => {
  for (const how of ['error', 'text', 'problem', 'output', 'bigint']) {
    const input = encodeURIComponent(JSON.stringify({ how }))
    const text = await (await fetch(`${url}/failures.fail?input=${input}`)).text()
    expect([how, text.includes('stack'), text.includes(INNER_SECRET), text.includes('sky.ts')]).toEqual([
      how,
      false,
      false,
      false,
    ])
  }
})

test('an error over tRPC never contains values that were sent', async () => {
  const post = (body: string, type = 'application/json') =>
    fetch(`${url}/planets.create`, { method: 'POST', body, headers: { 'Content-Type': type } })
  const get = (input: string) => fetch(`${url}/planets.get?input=${encodeURIComponent(input)}`)
  const answers = await Promise.all([
    post('{"name":hunter2}'),
    post('hunter2'),
    post('"hunter2"'),
    post('["hunter2"]'),
    post('{"name":["hunter2"],"kind":"hunter2"}'),
    post('hunter2', 'text/plain'),
    get('hunter2'),
    get('{"id":"hunter2"}'),
    get('{"id":hunter2'),
    fetch(`${url}/planets.get,planets.get?batch=1&input=hunter2`),
  ])
  for (const answer of answers) {
    expect([answer.status >= 400, (await answer.text()).includes('hunter')]).toEqual([true, false])
  }
})

test('malformed JSON over tRPC is a 400 with a plain message', async () => {
  const answer = await fetch(`${url}/planets.create`, {
    method: 'POST',
    body: '{',
    headers: { 'Content-Type': 'application/json' },
  })
  const { error } = (await answer.json()) as { error: { message: string; data: object } }
  expect([answer.status, error.message]).toEqual([400, 'Input is not valid JSON'])
})

test('a missing input is an empty object', async () => {
  const answer = await fetch(`${url}/home.get`)
  expect(await answer.json()).toEqual({ result: { data: { star: 'Sol' } } })
})

describe('a header parameter', () => {
  const withKey = (key: string, link = httpLink) =>
    createTRPCClient<Router>({ links: [link({ url, headers: { 'Idempotency-Key': key } })] })

  test('is read from a request with one call', async () => {
    expect((await errorOf(withKey('taken').planets.create.mutate(planet))).status).toBe(409)
    expect((await withKey('free').planets.create.mutate(planet)).id).toBe(9)
    expect((await errorOf(withKey('NOT SMALL').planets.create.mutate(planet))).fields).toEqual([
      { field: 'key', message: 'must be 1 to 20 small letters' },
    ])
  })

  test('that differs from the input field is a 400', async () => {
    const differs = await errorOf(withKey('taken').planets.create.mutate({ ...planet, key: 'free' }))
    expect([differs.status, differs.fields]).toEqual([
      400,
      [{ field: 'key', message: 'differs from the header Idempotency-Key: send one of them' }],
    ])
    expect((await withKey('free').planets.create.mutate({ ...planet, key: 'free' })).id).toBe(9)
  })

  test('is ignored by procedures that do not bind it', async () => {
    expect((await withKey('taken').planets.get.query({ id: 6 })).name).toBe('Saturn')
  })

  test('is read as a number for a number field', async () => {
    const client = createTRPCClient<Router>({ links: [httpLink({ url, headers: { 'X-Depth': '42' } })] })
    expect(await client.probes.look.query({ count: 1 })).toEqual({ seen: { count: 1, depth: 42 } })
  })

  test('is ignored in a request with several calls', async () => {
    const client = createTRPCClient<Router>({
      links: [httpBatchLink({ url, headers: { 'Idempotency-Key': 'taken' } })],
    })
    const [first, second] = await Promise.all([
      client.planets.create.mutate(planet),
      client.planets.create.mutate(planet),
    ])
    expect([first.id, second.id]).toEqual([9, 9])
  })

  test('does not make an invalid input valid', async () => {
    const post = async (body: string) => {
      const answer = await fetch(`${url}/planets.create`, {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'free' },
      })
      return ((await answer.json()) as { error: { message: string } }).error.message
    }
    expect(await post('"text"')).toBe('Input must be an object')
    expect(await post('[]')).toBe('Input must be an object')
    expect(await post('null')).toBe('Missing required fields: name, radius')
  })
})

test('a router works without a context', async () => {
  const router = trpcRouter(skyOperations()) as unknown as Router
  expect(await router.createCaller(undefined as never).home.get({})).toEqual({ star: 'Sol' })
})

test('an in-process call is validated in the same way', async () => {
  const router = trpcRouter<SkyContext>(skyOperations()) as unknown as Router
  const caller = router.createCaller({ caller: 'process' })
  expect(await caller.planets.get({ id: 6 })).toMatchObject({ name: 'Saturn' })
  await expect(caller.planets.get({ id: '6' as never })).rejects.toThrow('id: must be a whole number from 1 to 999')
})
