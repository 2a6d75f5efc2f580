import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { mutation, query } from '../src/contract.ts'
import { ApiError, expressHandlers, fetchHandler, implement } from '../src/index.ts'
import { envelope } from './sky.ts'
import { type Hooks, resourceOf, serve } from './small.ts'

const contract = {
  things: resourceOf({
    get: query({
      input: z.object({ id: z.int() }),
      output: z.object({ id: z.int() }),
      meta: { openapi: { method: 'GET', path: '/things/{id}' } },
    }),
    delete: mutation({
      input: z.object({ id: z.int() }),
      output: z.object({ id: z.int() }),
      access: 'admin',
      meta: { openapi: { method: 'DELETE', path: '/things/{id}' } },
    }),
  }),
}

const unhandled: unknown[] = []
process.on('unhandledRejection', (cause) => unhandled.push(cause))
const warnings: string[] = []
process.on('warning', ({ message }) => warnings.push(message))

afterEach(async () => {
  await setTimeout(10)
  expect(unhandled.splice(0)).toEqual([])
})

const STREAM = { 'trpc-accept': 'application/jsonl' }

/** The results of queries and deletions over REST and tRPC, and the ids of the deleted things. */
async function outcomes(hooks: Hooks, get = async ({ id }: { id: number }) => ({ id })) {
  const deleted: number[] = []
  const small = await serve(
    contract,
    {
      things: {
        get,
        delete: async ({ id }) => {
          deleted.push(id)
          return { id }
        },
      },
    },
    hooks,
  )
  const one = encodeURIComponent('{"id":1}')
  const two = encodeURIComponent('{"0":{"id":1},"1":{"id":2}}')
  const answers = {
    rest: await small.request('GET', '/things/1'),
    restDelete: await small.request('DELETE', '/things/2'),
    trpc: await small.request('GET', `/trpc/things.get?input=${one}`),
    trpcDelete: await small.request('POST', '/trpc/things.delete', { json: { id: 3 } }),
    trpcBatch: await small.request('GET', `/trpc/things.get,things.get?batch=1&input=${two}`),
  }
  const stream = await small.request('GET', `/trpc/things.get?batch=1&input=${two}`, { headers: STREAM })
  const results = Object.entries(answers).map(([kind, { status, body }]) => [kind, status, messageOf(body)])
  return { results, deleted, stream: JSON.stringify(stream.body), answers }
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of any shape
function messageOf(body: any): unknown {
  if (Array.isArray(body)) return body.map(messageOf)
  return body.error?.message ?? body.error ?? body.result?.data ?? body
}

const done = { id: 1 }
const allowed = [
  ['rest', 200, done],
  ['restDelete', 200, { id: 2 }],
  ['trpc', 200, done],
  ['trpcDelete', 200, { id: 3 }],
  ['trpcBatch', 200, [done, { id: 2 }]],
]
const failures = (status: number, message: string) => [
  ['rest', status, message],
  ['restDelete', status, message],
  ['trpc', status, message],
  ['trpcDelete', status, message],
  ['trpcBatch', status, [message, message]],
]
const reads = (answers: unknown[][], deletes: number, message: unknown) =>
  answers.map((answer) => (String(answer[0]).endsWith('Delete') ? [answer[0], deletes, message] : answer))

/** A thenable that is not a Promise, as some libraries return. */
const thenable = <T>(promise: Promise<T>) =>
  // biome-ignore lint/suspicious/noThenProperty: the tests need a thenable
  ({ then: promise.then.bind(promise) }) as unknown as Promise<T>

const forbid = () => {
  throw new ApiError(403, 'Not yours')
}
const forms: [string, <T>(run: () => T) => () => T | Promise<T>][] = [
  ['at once', (run) => run],
  ['in a promise', (run) => async () => run()],
  ['after a while', (run) => async () => setTimeout(2).then(run)],
  ['in a thenable', (run) => () => thenable((async () => run())())],
]

describe.each(forms)('given %s,', (_, given) => {
  test('an error of authorize is the response, and the operation does not run', async () => {
    const { results, deleted, stream } = await outcomes({ authorize: given(forbid) })
    expect(results).toEqual(failures(403, 'Not yours'))
    expect(deleted).toEqual([])
    expect(stream).toContain('Not yours')
  })

  test('authorize can reject a single role', async () => {
    const authorize = (_context: unknown, access: string | undefined) =>
      given(access === 'admin' ? forbid : () => undefined)()
    const { results, deleted } = await outcomes({ authorize })
    expect(results).toEqual(reads(allowed, 403, 'Not yours'))
    expect(deleted).toEqual([])
  })

  test('authorize can allow all callers', async () => {
    const { results, deleted } = await outcomes({ authorize: given(() => undefined) })
    expect(results).toEqual(allowed)
    expect(deleted).toEqual([2, 3])
  })

  test('an error of context is the response', async () => {
    const { results, deleted } = await outcomes({ context: given(forbid) })
    expect(results).toEqual(failures(403, 'Not yours'))
    expect(deleted).toEqual([])
  })

  test('the result of context is passed to authorize', async () => {
    const { results } = await outcomes({
      context: given(() => ({ caller: 'Ann' })),
      authorize: (context) => {
        throw new ApiError(403, `Not ${(context as { caller: string }).caller}'s`)
      },
    })
    expect(results).toEqual(failures(403, "Not Ann's"))
  })

  test('the result of translate is the response', async () => {
    const { results } = await outcomes({ translate: given(() => new ApiError(409, 'Taken')) }, async () => {
      throw new Error('secret')
    })
    expect(results).toEqual(reads(failures(409, 'Taken'), 200, expect.anything()))
  })

  test('an ApiError of translate is the response', async () => {
    const { results } = await outcomes({ translate: given(forbid) }, async () => {
      throw new Error('secret')
    })
    expect(results).toEqual(reads(failures(403, 'Not yours'), 200, expect.anything()))
  })

  test('an unexpected error of translate is a 500 without details', async () => {
    const translate = given(() => {
      throw new Error('secret')
    })
    const { results } = await outcomes({ translate }, async () => {
      throw new Error('secret')
    })
    expect(results.map(([kind, status]) => [kind, status])).toEqual(
      reads(failures(500, ''), 200, '').map(([kind, status]) => [kind, status]),
    )
    expect(JSON.stringify(results)).not.toContain('secret')
  })

  test('onError is called, and an error that it throws does not change the response', async () => {
    const reported: string[] = []
    const onError = (error: Error) => {
      reported.push(error.message)
      return given(() => {
        throw new Error('the log is full')
      })()
    }
    warnings.length = 0
    const { results } = await outcomes({ onError }, async () => {
      throw new ApiError(404, 'No such thing')
    })
    expect(results).toEqual(reads(failures(404, 'No such thing'), 200, expect.anything()))
    // Three requests with queries, one of them a batch of two, and the stream.
    expect(reported.filter((message) => message === 'No such thing')).toHaveLength(5)
    await setTimeout(5)
    expect(warnings.every((warning) => warning.includes('the log is full'))).toBe(true)
    expect(warnings).toHaveLength(reported.length)
  })

  test('headers are sent', async () => {
    const { results, answers } = await outcomes({ headers: given(() => ({ 'X-Served-By': 'small' })) })
    expect(results).toEqual(allowed)
    const { rest, trpc, trpcBatch } = answers
    expect([rest, trpc, trpcBatch].map(({ headers }) => headers.get('x-served-by'))).toEqual(Array(3).fill('small'))
  })

  test('an error of headers is the response', async () => {
    const { results } = await outcomes({ headers: given(forbid) })
    expect(results).toEqual(failures(403, 'Not yours'))
  })

  test('a 500 contains the request id', async () => {
    const { results } = await outcomes({ requestId: given(() => 'r-7') }, async () => {
      throw new Error('secret')
    })
    expect(results[0]).toEqual(['rest', 500, 'Internal server error (request r-7)'])
  })

  test('a 500 has no request id if requestId fails', async () => {
    const { results } = await outcomes({ requestId: given(forbid) as never }, async () => {
      throw new Error('secret')
    })
    expect(results[0]).toEqual(['rest', 500, 'Internal server error'])
  })

  test('a wrapper of observe can reject a call', async () => {
    const { results, deleted } = await outcomes({ observe: () => given(forbid) as never })
    expect(results).toEqual(failures(403, 'Not yours'))
    expect(deleted).toEqual([])
  })

  test('a prepared error has the common headers, or none if the headers hook fails', async () => {
    const answers: unknown[] = []
    for (const headers of [given(() => ({ 'X-Served-By': 'small' })), given(forbid)]) {
      const { prepareError } = expressHandlers(contract, implement<typeof contract, object>(contract, implementation), {
        envelope,
        context: () => ({}),
        requestId: () => '',
        headers,
      })
      const res = {
        shouldKeepAlive: true,
        writeHead: (...head: unknown[]) => answers.push(head) && res,
        end: () => res,
      }
      prepareError(new ApiError(503, 'Busy'))({ method: 'GET', url: '/', headers: {} } as never, res as never)
      await setTimeout(5)
    }
    expect(answers).toEqual([
      [503, expect.objectContaining({ 'X-Served-By': 'small' })],
      [503, expect.not.objectContaining({ 'X-Served-By': 'small' })],
    ])
  })
})

const implementation = {
  things: { get: async ({ id }: { id: number }) => ({ id }), delete: async ({ id }: { id: number }) => ({ id }) },
}

test('observe must return a function', () => {
  const observe = (async () => undefined) as never
  expect(() => implement<typeof contract, object>(contract, implementation, { observe })).toThrow(
    'things.get: observe must return a function',
  )
})

test('an authorize hook that returns a boolean does not compile', () => {
  // @ts-expect-error authorize rejects a call by throwing
  const options: Parameters<typeof implement<typeof contract, object>>[2] = { authorize: () => false }
  expect(options).toBeDefined()
})

test('a common header with an invalid value is a 500 without details', async () => {
  const same = async ({ id }: { id: number }) => ({ id })
  const implementation = { things: { get: same, delete: same } }
  const headers = () => ({ 'X-A': 'a\nb' })
  const { request } = await serve(contract, implementation, { headers })
  const operations = implement<typeof contract, object>(contract, implementation)
  const handle = fetchHandler(contract, operations, { envelope, context: () => ({}), headers })
  for (const path of ['/things/1', '/nowhere']) {
    expect(await request('GET', path)).toMatchObject({ status: 500, body: { error: 'Internal server error' } })
    expect((await handle(new Request(`http://here${path}`))).status).toBe(500)
  }
})
