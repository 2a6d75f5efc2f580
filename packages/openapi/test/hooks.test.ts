import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { mutation, query } from '../src/contract.ts'
import { ApiError, fetchHandler, implement, rest } from '../src/index.ts'
import { envelope } from './sky.ts'
import { type Hooks, only, serve } from './small.ts'

const contract = {
  things: only({
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

/** What becomes of reads and deletions in every way into the service, and which things were deleted. */
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
    plain: await small.request('GET', `/trpc/things.get?input=${one}`),
    plainDelete: await small.request('POST', '/trpc/things.delete', { json: { id: 3 } }),
    plainBatch: await small.request('GET', `/trpc/things.get,things.get?batch=1&input=${two}`),
    // An escaped dot is no plain request.
    complete: await small.request('GET', `/trpc/things%2Eget?input=${one}`),
    completeDelete: await small.request('POST', '/trpc/things%2Edelete', { json: { id: 4 } }),
    completeBatch: await small.request('GET', `/trpc/things%2Eget,things.get?batch=1&input=${two}`),
  }
  const stream = await small.request('GET', `/trpc/things.get?batch=1&input=${two}`, { headers: STREAM })
  const said = Object.entries(answers).map(([way, { status, body }]) => [way, status, wordsOf(body)])
  return { said, deleted, stream: JSON.stringify(stream.body), answers }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever was answered
function wordsOf(body: any): unknown {
  if (Array.isArray(body)) return body.map(wordsOf)
  return body.error?.message ?? body.error ?? body.result?.data ?? body
}

const done = { id: 1 }
const allowed = [
  ['rest', 200, done],
  ['restDelete', 200, { id: 2 }],
  ['plain', 200, done],
  ['plainDelete', 200, { id: 3 }],
  ['plainBatch', 200, [done, { id: 2 }]],
  ['complete', 200, done],
  ['completeDelete', 200, { id: 4 }],
  ['completeBatch', 200, [done, { id: 2 }]],
]
const everywhere = (status: number, words: string) => [
  ['rest', status, words],
  ['restDelete', status, words],
  ['plain', status, words],
  ['plainDelete', status, words],
  ['plainBatch', status, [words, words]],
  ['complete', status, words],
  ['completeDelete', status, words],
  ['completeBatch', status, [words, words]],
]
const reads = (answers: unknown[][], deletes: number, words: unknown) =>
  answers.map((answer) => (String(answer[0]).endsWith('Delete') ? [answer[0], deletes, words] : answer))

/** A thenable that is no Promise, as other libraries make them. */
const thenable = <T>(promise: Promise<T>) =>
  // biome-ignore lint/suspicious/noThenProperty: that is the point
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
  test('what authorize throws is the answer, and nothing is done', async () => {
    const { said, deleted, stream } = await outcomes({ authorize: given(forbid) })
    expect(said).toEqual(everywhere(403, 'Not yours'))
    expect(deleted).toEqual([])
    expect(stream).toContain('Not yours')
  })

  test('authorize may refuse one role alone', async () => {
    const authorize = (_context: unknown, access: string) => given(access === 'admin' ? forbid : () => undefined)()
    const { said, deleted } = await outcomes({ authorize })
    expect(said).toEqual(reads(allowed, 403, 'Not yours'))
    expect(deleted).toEqual([])
  })

  test('authorize may let everybody in', async () => {
    const { said, deleted } = await outcomes({ authorize: given(() => undefined) })
    expect(said).toEqual(allowed)
    expect(deleted).toEqual([2, 3, 4])
  })

  test('what context throws is the answer', async () => {
    const { said, deleted } = await outcomes({ context: given(forbid) })
    expect(said).toEqual(everywhere(403, 'Not yours'))
    expect(deleted).toEqual([])
  })

  test('what context gives reaches authorize', async () => {
    const { said } = await outcomes({
      context: given(() => ({ caller: 'Ann' })),
      authorize: (context) => {
        throw new ApiError(403, `Not ${(context as { caller: string }).caller}'s`)
      },
    })
    expect(said).toEqual(everywhere(403, "Not Ann's"))
  })

  test('what translate gives is the answer', async () => {
    const { said } = await outcomes({ translate: given(() => new ApiError(409, 'Taken')) }, async () => {
      throw new Error('secret')
    })
    expect(said).toEqual(reads(everywhere(409, 'Taken'), 200, expect.anything()))
  })

  test('what translate throws is the answer', async () => {
    const { said } = await outcomes({ translate: given(forbid) }, async () => {
      throw new Error('secret')
    })
    expect(said).toEqual(reads(everywhere(403, 'Not yours'), 200, expect.anything()))
  })

  test('an unexpected error of translate is a 500 that says nothing', async () => {
    const translate = given(() => {
      throw new Error('secret')
    })
    const { said } = await outcomes({ translate }, async () => {
      throw new Error('secret')
    })
    expect(said.map(([way, status]) => [way, status])).toEqual(
      reads(everywhere(500, ''), 200, '').map(([way, status]) => [way, status]),
    )
    expect(JSON.stringify(said)).not.toContain('secret')
  })

  test('onError is told, and what it throws changes no answer', async () => {
    const told: string[] = []
    const onError = (error: Error) => {
      told.push(error.message)
      return given(() => {
        throw new Error('the log is full')
      })()
    }
    warnings.length = 0
    const { said } = await outcomes({ onError }, async () => {
      throw new ApiError(404, 'No such thing')
    })
    expect(said).toEqual(reads(everywhere(404, 'No such thing'), 200, expect.anything()))
    // Six requests that read, two of them batches of two, and the stream.
    expect(told.filter((message) => message === 'No such thing').length).toBeGreaterThanOrEqual(7)
    await setTimeout(5)
    expect(warnings.every((warning) => warning.includes('the log is full'))).toBe(true)
    expect(warnings).toHaveLength(told.length)
  })

  test('headers are sent', async () => {
    const { said, answers } = await outcomes({ headers: given(() => ({ 'X-Served-By': 'small' })) })
    expect(said).toEqual(allowed)
    const { rest, plain, plainBatch } = answers
    expect([rest, plain, plainBatch].map(({ headers }) => headers.get('x-served-by'))).toEqual(Array(3).fill('small'))
  })

  test('what headers throws is the answer', async () => {
    const { said } = await outcomes({ headers: given(forbid) })
    // tRPC's own adapter sends no such headers.
    expect(said.filter(([way]) => !String(way).startsWith('complete'))).toEqual(
      everywhere(403, 'Not yours').filter(([way]) => !String(way).startsWith('complete')),
    )
  })

  test('the id of the request is that of the 500', async () => {
    const { said } = await outcomes({ requestId: given(() => 'r-7') }, async () => {
      throw new Error('secret')
    })
    expect(said[0]).toEqual(['rest', 500, 'Internal server error (request r-7)'])
  })

  test('a 500 has no id where making one fails', async () => {
    const { said } = await outcomes({ requestId: given(forbid) as never }, async () => {
      throw new Error('secret')
    })
    expect(said[0]).toEqual(['rest', 500, 'Internal server error'])
  })

  test('what observe puts around a call may refuse it', async () => {
    const { said, deleted } = await outcomes({ observe: () => given(forbid) as never })
    expect(said).toEqual(everywhere(403, 'Not yours'))
    expect(deleted).toEqual([])
  })

  test('headers of a ready answer are sent; where they fail, the answer goes without them', async () => {
    const answers: unknown[] = []
    for (const headers of [given(() => ({ 'X-Served-By': 'small' })), given(forbid)]) {
      const { prepareError } = rest(contract, implement<typeof contract, object>(contract, implementation), {
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
      prepareError(new ApiError(503, 'Busy'))({ method: 'GET', url: '/' } as never, res as never)
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

test('observe that gives no function is refused at the start', () => {
  const observe = (async () => undefined) as never
  expect(() => implement<typeof contract, object>(contract, implementation, { observe })).toThrow(
    'things.get: observe must return a function',
  )
})

test('an authorize that gives a boolean does not compile', () => {
  // @ts-expect-error whether it allows a call is said by throwing
  const options: Parameters<typeof implement<typeof contract, object>>[2] = { authorize: () => false }
  expect(options).toBeDefined()
})

test('a header that no answer can carry is a plain 500', async () => {
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
