import { AsyncLocalStorage } from 'node:async_hooks'
import { getEventListeners, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from 'vitest'
import {
  AbortedError,
  type ClientCallOptions,
  type ClientOptions,
  clientOver,
  createClient,
  ForbiddenError,
  isServiceError,
  NotFoundError,
  type ServiceError,
  serviceError,
  TimeoutError,
  UnauthorizedError,
  UnavailableError,
  UnexpectedError,
  UnknownProcedureError,
} from '../src/client/index.ts'
import { startSky } from './serve.ts'
import type { contract } from './sky.ts'

type Sky = typeof contract

interface ReceivedRequest {
  method: string | undefined
  url: string
  headers: IncomingMessage['headers']
  /** The input of each call. */
  inputs: Record<string, unknown>[]
}

type Listener = (received: ReceivedRequest, res: ServerResponse, count: number) => void

/** A server with a custom listener that records its requests; `await using` stops it. */
async function fakeServer(listener: Listener) {
  const received: ReceivedRequest[] = []
  const server = createServer(async (req, res) => {
    const { method, url = '', headers } = req
    const sent = await text(req).catch(() => '')
    const query = new URL(url, 'http://x').searchParams.get('input')
    const one = {
      method,
      url,
      headers,
      inputs: Object.values(JSON.parse(sent || query || '{}')) as ReceivedRequest['inputs'],
    }
    received.push(one)
    listener(one, res, received.length)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    received,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const json = { 'Content-Type': 'application/json' }
const planet = { id: 1, name: 'Mercury', kind: 'rock', radius: 2440, ringed: false, version: 1 }
const fine = ({ inputs }: ReceivedRequest, res: ServerResponse) =>
  res.writeHead(200, json).end(JSON.stringify(inputs.map(() => ({ result: { data: planet } }))))
const busy = (res: ServerResponse, headers: Record<string, string> = {}, status = 503) =>
  res.writeHead(status, { 'Content-Type': 'text/html', ...headers }).end('<html>later</html>')

const client = (baseUrl: string, options: Partial<ClientOptions<Sky>> = {}) =>
  createClient<Sky>({ baseUrl, ...options })

const failure = (call: Promise<unknown>) =>
  call.then(
    () => expect.fail('the call succeeded'),
    (error: ServiceError) => error,
  )

const vulcan = { name: 'Vulcan', radius: 1 }

describe('a write', () => {
  test('keeps the idempotency key of its input, also against the option', async () => {
    await using server = await fakeServer(fine)
    const { planets } = client(server.url)
    const input = { ...vulcan, idempotency_key: 'mine' }
    await planets.create.mutate(input, { idempotencyKey: 'other' })
    await planets.create.mutate(vulcan, { idempotencyKey: 'other' })
    expect(server.received.map(({ inputs }) => inputs[0]?.idempotency_key)).toEqual(['mine', 'other'])
  })

  test('has the same idempotency key in each attempt', async () => {
    await using server = await fakeServer((received, res, count) => (count === 1 ? res.destroy() : fine(received, res)))
    const input = { ...vulcan, idempotency_key: undefined }
    await client(server.url).planets.create.mutate(input)
    expect(server.received.length).toBe(2)
    const keys = server.received.map(({ inputs }) => inputs[0]?.idempotency_key)
    expect(keys[0]).toMatch(/^[\da-f]{32}$/)
    expect(keys[1]).toBe(keys[0])
  })

  test('that fails has its key in the error, and can be repeated with that key', async () => {
    await using server = await fakeServer((received, res, count) => (count === 1 ? busy(res) : fine(received, res)))
    const { planets } = client(server.url, { retryForMs: 0 })
    const error = await failure(planets.create.mutate(vulcan))
    expect(error).toBeInstanceOf(UnavailableError)
    await planets.create.mutate(vulcan, { idempotencyKey: error.idempotencyKey })
    await planets.create.mutate(vulcan)
    const keys = server.received.map(({ inputs }) => inputs[0]?.idempotency_key)
    expect(keys[0]).toBe(error.idempotencyKey)
    expect(keys[1]).toBe(keys[0])
    expect(keys[2]).not.toBe(keys[0])
  })

  test('that fails with others in one request has its own key in the error', async () => {
    await using server = await fakeServer((_received, res) => res.destroy())
    const { planets } = client(server.url, { retryForMs: 0 })
    const errors = await Promise.all([1, 2].map((radius) => failure(planets.create.mutate({ name: 'Vulcan', radius }))))
    expect(server.received.length).toBe(1)
    expect(errors.map(({ code, idempotencyKey }) => [code, idempotencyKey])).toEqual(
      server.received[0]?.inputs.map(({ idempotency_key }) => ['unavailable', idempotency_key]),
    )
  })

  test('that times out has its key in the error', async () => {
    await using server = await fakeServer(() => {})
    const { planets } = client(server.url, { timeoutMs: 60 })
    const late = await failure(planets.create.mutate(vulcan))
    expect(late).toBeInstanceOf(TimeoutError)
    expect(late.idempotencyKey).toMatch(/^[\da-f]{32}$/)
    const read = await failure(planets.get.query({ id: 1 }))
    expect(read.idempotencyKey).toBe(undefined)
  })

  test('that is aborted has the key that it sent in the error', async () => {
    const controller = new AbortController()
    await using server = await fakeServer(() => controller.abort())
    const gone = await failure(client(server.url).planets.create.mutate(vulcan, { signal: controller.signal }))
    expect(gone.idempotencyKey).toMatch(/^[\da-f]{32}$/)
    expect(gone.idempotencyKey).toBe(server.received[0]?.inputs[0]?.idempotency_key)
  })
})

test.each([
  ['no crypto', undefined],
  ['a crypto without getRandomValues', { randomUUID: () => 'x' }],
  ['a crypto without randomUUID', { getRandomValues: crypto.getRandomValues.bind(crypto) }],
])('a write has a new key on a platform with %s', async (_, partial) => {
  await using server = await fakeServer(fine)
  vi.stubGlobal('crypto', partial)
  try {
    const { planets } = client(server.url)
    await Promise.all([planets.create.mutate(vulcan), planets.create.mutate(vulcan)])
  } finally {
    vi.unstubAllGlobals()
  }
  const keys = server.received.flatMap(({ inputs }) => inputs.map(({ idempotency_key }) => idempotency_key))
  expect(keys).toEqual([expect.stringMatching(/^[\da-f]{32}$/), expect.stringMatching(/^[\da-f]{32}$/)])
  expect(keys[0]).not.toBe(keys[1])
})

describe('a call leaves no timer and no listener behind', () => {
  const unavailable = () => serviceError('unavailable', { status: 503, message: 'later' })
  const missing = () => serviceError('not_found', { status: 404, message: 'missing' })
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  /** Makes two calls in one tick, over a transport that fails each call with the errors, in order. */
  async function callsWith(errors: (() => ServiceError)[], options: ClientCallOptions<Sky> = {}) {
    let sent = 0
    const { planets } = clientOver<Sky>(
      {
        send: async (calls) => {
          const error = errors[sent++]
          return calls.map(() => (error === undefined ? { data: planet } : { error: error() }))
        },
      },
      options,
    )
    const abort = new AbortController()
    const calls = [1, 2].map((id) =>
      planets.get.query({ id }, { signal: abort.signal }).then(
        () => 'fine',
        ({ code }: ServiceError) => code,
      ),
    )
    // The calls are sent, and their first retries.
    await vi.advanceTimersByTimeAsync(3_000)
    return { abort, outcomes: () => Promise.all(calls), sent: () => sent }
  }

  test.each([
    ['succeeds', [], 'fine'],
    ['fails', [missing], 'not_found'],
    ['is retried', [unavailable], 'fine'],
    ['is retried in vain', Array(100).fill(unavailable), 'unavailable'],
  ])('that %s', async (_, errors, outcome) => {
    const { abort, outcomes } = await callsWith(errors)
    expect(await outcomes()).toEqual([outcome, outcome])
    expect([vi.getTimerCount(), getEventListeners(abort.signal, 'abort')]).toEqual([0, []])
  })

  test('that is aborted while its retry waits', async () => {
    // One retry in 1,000 seconds: the second one waits.
    const options = { retriesPerSecond: 0.001, retryForMs: 2_000_000, timeoutMs: 2_000_000 }
    const { abort, outcomes, sent } = await callsWith(Array(100).fill(unavailable), options)
    expect([sent(), vi.getTimerCount() > 0]).toEqual([2, true])
    abort.abort()
    expect(await outcomes()).toEqual(['aborted', 'aborted'])
    expect([vi.getTimerCount(), getEventListeners(abort.signal, 'abort')]).toEqual([0, []])
  })
})

test('a response that a throwing hook leaves unread is aborted, so that its connection closes', async () => {
  const fault = new RangeError('a fault of the page')
  let signal: AbortSignal | null | undefined
  const { planets } = client('http://127.0.0.1:9', {
    fetch: async (_, init) => {
      signal = init?.signal
      return new Response('[')
    },
    onResponse: () => {
      throw fault
    },
  })
  expect(await failure(planets.get.query({ id: 1 }))).toBe(fault)
  expect(signal?.aborted).toBe(true)
})

describe('calls in one tick', () => {
  const get = { id: 1 }

  test('use requests of at most `maxCalls` calls and `bodyLimit` bytes, and the path of the server', async () => {
    await using server = await fakeServer(fine)
    const options = { path: '/rpc', maxCalls: 10, bodyLimit: 200 }
    const { planets } = client(server.url, options)
    await Promise.all(Array.from({ length: 25 }, (_, id) => planets.get.query({ id })))
    expect(server.received.map(({ inputs }) => inputs.length)).toEqual([10, 10, 5])
    expect(server.received.map(({ url }) => url.slice(0, 5))).toEqual(['/rpc/', '/rpc/', '/rpc/'])
    server.received.length = 0
    await Promise.all(Array.from({ length: 6 }, () => planets.create.mutate({ name: 'é'.repeat(20), radius: 1 })))
    expect(server.received.length).toBe(6)
    for (const { headers } of server.received) expect(Number(headers['content-length'])).toBeLessThanOrEqual(200)
    server.received.length = 0
    await Promise.all(Array.from({ length: 6 }, () => planets.create.mutate({ name: 'e', radius: 1 })))
    expect(server.received.map(({ inputs }) => inputs.length)).toEqual([2, 2, 2])
    for (const { headers } of server.received) expect(Number(headers['content-length'])).toBeLessThanOrEqual(200)
  })

  test('share one request, queries by GET and mutations by POST', async () => {
    await using server = await fakeServer(fine)
    const { planets } = client(server.url)
    await Promise.all([planets.get.query(get), planets.create.mutate(vulcan), planets.get.query({ id: 2 })])
    expect(server.received.map(({ method, url }) => [method, url.split('?')[0]])).toEqual([
      ['GET', '/trpc/planets.get,planets.get'],
      ['POST', '/trpc/planets.create'],
    ])
  })

  test('use several requests if a URL would be too long', async () => {
    await using server = await fakeServer(fine)
    const { moons } = client(server.url)
    await Promise.all(Array.from({ length: 40 }, (_, n) => moons.get.query({ name: `${n}${'x'.repeat(300)}` })))
    expect(server.received.length).toBeGreaterThan(1)
    for (const { method, url } of server.received) expect([method, url.length <= 4000]).toEqual(['GET', true])
    expect(server.received.flatMap(({ inputs }) => inputs).length).toBe(40)
  })

  test('use separate requests without batching', async () => {
    await using server = await fakeServer(fine)
    const { planets } = client(server.url, { batch: false })
    await Promise.all([planets.get.query(get), planets.get.query(get)])
    expect(server.received.map(({ inputs }) => inputs.length)).toEqual([1, 1])
  })

  test('never share a request with different credentials, including retries', async () => {
    await using server = await fakeServer((received, res, count) => (count <= 2 ? busy(res) : fine(received, res)))
    const store = new AsyncLocalStorage<string>()
    const { planets } = client(server.url, { apiKey: async () => store.getStore() })
    await Promise.all([
      store.run('ada', () => planets.create.mutate({ ...vulcan, name: 'ada' })),
      store.run('bob', () => planets.create.mutate({ ...vulcan, name: 'bob' })),
    ])
    expect(server.received.length).toBe(4)
    for (const { headers, inputs } of server.received) {
      expect(inputs.map(({ name }) => `Bearer ${name}`)).toEqual([headers.authorization])
    }
  })

  test('end by their own signal or timeout while a slow call in the same request completes', async () => {
    const { promise: ended, resolve: answer } = Promise.withResolvers<void>()
    await using server = await fakeServer((received, res) => void ended.then(() => fine(received, res)))
    const { planets } = client(server.url)
    const slow = planets.get.query({ id: 3 })
    const [aborted, late] = await Promise.all([
      failure(planets.get.query(get, { signal: AbortSignal.timeout(100) })),
      failure(planets.get.query(get, { timeoutMs: 100 })),
    ])
    expect(aborted).toBeInstanceOf(AbortedError)
    expect(late).toBeInstanceOf(TimeoutError)
    answer()
    expect(await slow).toEqual(planet)
  })

  test('that are aborted before they are sent are not sent', async () => {
    await using server = await fakeServer(fine)
    const { planets } = client(server.url)
    const inTick = new AbortController()
    const calls = [
      failure(planets.create.mutate(vulcan, { signal: AbortSignal.abort() })),
      failure(planets.create.mutate(vulcan, { signal: inTick.signal })),
      planets.create.mutate({ ...vulcan, name: 'kept' }),
    ]
    inTick.abort()
    const [before, during] = await Promise.all(calls)
    expect(before).toBeInstanceOf(AbortedError)
    expect(during).toBeInstanceOf(AbortedError)
    expect(server.received.map(({ inputs }) => inputs.map(({ name }) => name))).toEqual([['kept']])
  })

  test('close the connection when all of them are aborted', async () => {
    let closed = () => {}
    const gone = new Promise<void>((resolve) => {
      closed = resolve
    })
    const abort = new AbortController()
    await using server = await fakeServer((_received, res) => {
      res.once('close', closed)
      abort.abort()
    })
    const { planets } = client(server.url)
    const calls = [1, 2].map((id) => failure(planets.get.query({ id }, { signal: abort.signal })))
    await Promise.all([...calls, gone])
  })

  test('that failed in one request are retried in one request', async () => {
    await using server = await fakeServer((received, res, count) => (count === 1 ? busy(res) : fine(received, res)))
    const { planets } = client(server.url)
    await Promise.all(Array.from({ length: 40 }, (_, id) => planets.get.query({ id })))
    expect(server.received.map(({ inputs }) => inputs.length)).toEqual([40, 40])
  })
})

describe('permanent errors are not retried:', () => {
  test('an error of the program is thrown unchanged, once', async () => {
    await using server = await fakeServer(fine)
    const fault = new RangeError('no keychain')
    let times = 0
    const apiKey = () => {
      times++
      throw fault
    }
    expect(await failure(client(server.url, { apiKey }).planets.get.query({ id: 1 }))).toBe(fault)
    expect(times).toBe(1)
    const onRequest = () => {
      throw fault
    }
    expect(await failure(client(server.url, { onRequest }).planets.create.mutate(vulcan))).toBe(fault)
    const big = { id: 1n as unknown as number }
    expect(await failure(client(server.url).planets.get.query(big))).toBeInstanceOf(TypeError)
    expect(server.received).toEqual([])
  })

  test.each([
    [401, UnauthorizedError],
    ...[200, 301, 400, 403, 404, 409, 412, 413, 415, 418, 500].map((status) => [status, UnexpectedError] as const),
  ] as const)('an HTML %i from a gateway has the first bytes, and concerns no record', async (status, kind) => {
    await using server = await fakeServer((_received, res) => void busy(res, {}, status))
    const refused: string[] = []
    const { planets } = client(server.url, { onUnauthorized: () => void refused.push('401') })
    const error = await failure(planets.create.mutate(vulcan))
    expect(error.constructor).toBe(kind)
    expect(error).toMatchObject({ status, cause: { message: '<html>later</html>' } })
    expect(server.received.length).toBe(1)
    expect(refused).toEqual(status === 401 ? ['401'] : [])
  })

  test.each([404, 409, 412])('a JSON %i without the error shape of the service is unexpected', async (status) => {
    const message = `The response with status ${status} is not from the service; check baseUrl and any proxy`
    for (const body of [
      {},
      null,
      [],
      { message: 'no Route matched' },
      { error: 'gone' },
      { error: { code: status, message: 'Not Found' } },
      [{ error: { message: 'Not Found', data: { status } } }],
    ]) {
      await using server = await fakeServer((_, res) => void res.writeHead(status, json).end(JSON.stringify(body)))
      const error = await failure(client(server.url).planets.create.mutate(vulcan))
      expect(error.constructor).toBe(UnexpectedError)
      expect(error).toMatchObject({ code: 'unexpected', status, message, cause: { message: JSON.stringify(body) } })
    }
  })

  test('a 403 that the service sends before tRPC is a ForbiddenError with its message', async () => {
    const body = { status: 'error', error: { code: 403, message: 'Host: must be a loopback name', details: '' } }
    await using server = await fakeServer((_, res) => void res.writeHead(403, json).end(JSON.stringify(body)))
    const error = await failure(client(server.url).planets.get.query({ id: 1 }))
    expect(error).toBeInstanceOf(ForbiddenError)
    expect(error.message).toBe('Host: must be a loopback name')
  })

  test('an API key that no header can carry is refused without being named', async () => {
    for (const apiKey of ['secret\nline', 'schlüssel–1']) {
      const error = await failure(client('http://127.0.0.1:1', { apiKey }).planets.get.query({ id: 1 }))
      expect(error).toEqual(new TypeError('apiKey: must consist of printable ASCII characters'))
    }
  })

  test('white space around an API key, as in a file, is not sent', async () => {
    await using server = await fakeServer(fine)
    await client(server.url, { apiKey: '\nkey\r\n' }).planets.get.query({ id: 1 })
    expect(server.received[0]?.headers.authorization).toBe('Bearer key')
  })

  test.each([
    { message: 'Too many' },
    { error: 'Too many' },
    { status: 'error', error: { code: 429, message: 'Too many', details: '' } },
  ])('a call that is refused before tRPC has the message of %j', async (body) => {
    await using server = await fakeServer((_received, res) => void res.writeHead(429, json).end(JSON.stringify(body)))
    const error = await failure(client(server.url, { retryForMs: 0 }).planets.get.query({ id: 1 }))
    expect(error).toMatchObject({ code: 'rate_limited', status: 429, message: 'Too many' })
  })

  test('a write on a platform without getSetCookie is sent once', async () => {
    await using server = await fakeServer(fine)
    const reactNative: typeof fetch = async (...request) => {
      const response = await fetch(...request)
      Object.defineProperty(response.headers, 'getSetCookie', { value: undefined })
      return response
    }
    expect(await client(server.url, { fetch: reactNative }).planets.create.mutate(vulcan)).toEqual(planet)
    expect(server.received.length).toBe(1)
  })

  test('a truncated JSON response is retried', async () => {
    await using server = await fakeServer((received, res, count) =>
      count === 1 ? res.writeHead(200, json).end('[{"result":{"da') : fine(received, res),
    )
    expect(await client(server.url).planets.get.query({ id: 1 })).toEqual(planet)
    expect(server.received.length).toBe(2)
  })
})

describe('Retry-After', () => {
  const asksFor = async (header: string, options: Partial<ClientOptions<Sky>> = {}) => {
    await using server = await fakeServer((received, res, count) =>
      count === 1 ? busy(res, { 'Retry-After': header }) : fine(received, res),
    )
    const started = performance.now()
    const outcome = await client(server.url, options)
      .planets.get.query({ id: 1 })
      .catch((error: ServiceError) => error)
    return { outcome, requests: server.received.length, ms: performance.now() - started }
  }

  test('is respected, also from a proxy', async () => {
    const { outcome, requests, ms } = await asksFor('1')
    expect([outcome, requests]).toEqual([planet, 2])
    expect(ms).toBeGreaterThanOrEqual(990)
  })

  test.each(['2592000', 'Wed, 01 Dec 2027 00:00:00 GMT', '3600'])(
    'that exceeds the timeout fails the call at once: %s',
    async (header) => {
      const { outcome, requests, ms } = await asksFor(header)
      expect(outcome).toBeInstanceOf(UnavailableError)
      expect(requests).toBe(1)
      expect(ms).toBeLessThan(5_000)
      expect((outcome as ServiceError).retryAfterMs).toBeGreaterThanOrEqual(3_600_000)
    },
  )

  test('is limited to the longest wait of the client', async () => {
    const { outcome, requests } = await asksFor('3600', { longestRetryAfterMs: 10 })
    expect([outcome, requests]).toEqual([planet, 2])
  })

  test('that is neither seconds nor a date is ignored', async () => {
    const { outcome, requests, ms } = await asksFor('20.5')
    expect([outcome, requests]).toEqual([planet, 2])
    expect(ms).toBeLessThan(15_000)
  })
})

describe('credentials', () => {
  test('that are rejected are renewed once for all calls, which are then retried', async () => {
    let key = 'old'
    let renewed = 0
    await using server = await fakeServer((received, res) =>
      received.headers.authorization === 'Bearer new' ? fine(received, res) : busy(res, {}, 401),
    )
    const onUnauthorized = async () => {
      renewed++
      key = 'new'
      return true
    }
    const { planets } = client(server.url, { apiKey: () => key, onUnauthorized })
    const answers = await Promise.all([
      planets.get.query({ id: 1 }),
      planets.create.mutate(vulcan),
      planets.get.query({ id: 2 }),
    ])
    expect(answers).toEqual([planet, planet, planet])
    expect(renewed).toBe(1)
    expect(server.received.length).toBe(4)
  })

  test('that are renewed are used at once, however few retries the client may send', async () => {
    for (const retriesPerSecond of [0, 0.5]) {
      let key = 'old'
      await using server = await fakeServer((received, res) =>
        received.headers.authorization === 'Bearer new' ? fine(received, res) : busy(res, {}, 401),
      )
      const onUnauthorized = () => {
        key = 'new'
        return true
      }
      const { planets } = client(server.url, { apiKey: () => key, onUnauthorized, retriesPerSecond, timeoutMs: 5_000 })
      expect(await planets.get.query({ id: 1 })).toEqual(planet)
    }
  })

  test('that are rejected again are not renewed again', async () => {
    let renewed = 0
    await using server = await fakeServer((_received, res) => void busy(res, {}, 401))
    const { planets } = client(server.url, { apiKey: 'x', onUnauthorized: () => ++renewed > 0 })
    expect(await failure(planets.get.query({ id: 1 }))).toBeInstanceOf(UnauthorizedError)
    expect([renewed, server.received.length]).toEqual([1, 2])
  })

  test('in `headers` replace the API key', async () => {
    await using server = await fakeServer(fine)
    await client(server.url, { apiKey: 'key', headers: { authorization: 'Basic eA==' } }).planets.get.query({ id: 1 })
    expect(server.received[0]?.headers.authorization).toBe('Basic eA==')
    const key = undefined as string | undefined
    expectTypeOf({ baseUrl: '', apiKey: key }).toExtend<ClientOptions<Sky>>()
  })
})

describe('the transport', () => {
  test('accepts a custom fetch, request and response hooks, and `credentials`', async () => {
    await using server = await fakeServer((received, res) => {
      res.setHeader('X-Limit', '7')
      fine(received, res)
    })
    const seen: unknown[] = []
    const other: typeof fetch = (url, init) => {
      seen.push(init?.credentials)
      return fetch(url, init)
    }
    const { planets } = client(server.url, {
      fetch: other,
      credentials: 'include',
      onRequest: ({ headers, calls }) => {
        seen.push(calls)
        headers.set('X-Trace', 'abc')
      },
      onResponse: ({ headers }) => void seen.push(headers.get('X-Limit')),
    })
    await planets.get.query({ id: 1 })
    expect(seen).toEqual([['planets.get'], 'include', '7'])
    expect(server.received[0]?.headers['x-trace']).toBe('abc')
  })
})

describe('baseUrl', () => {
  const rule =
    'baseUrl: must be an http or https URL without credentials, query and fragment, such as http://127.0.0.1:3000; on a page also one relative to it, such as /api'

  test.each([
    'nope',
    'localhost:3000',
    '127.0.0.1:3000',
    'example.com/api',
    'ftp://example.com',
    'file:///tmp',
    'urn:isbn:1',
    'http:',
    'http://',
    'http:example.com',
    'http://example.com?key=1',
    'http://example.com/api#top',
    'http://example.com:99999',
    'http://user:secret@example.com',
    'http://exa mple.com',
    'http://example.com\n',
    '/api?key=1',
    '/api#top',
  ])('cannot be %j', (baseUrl) => {
    expect(() => client(baseUrl)).toThrow(new TypeError(rule))
  })

  test.each(['http://[::1]:3000', 'HTTPS://Example.com', 'http://example.com/api/'])('can be %j', (baseUrl) => {
    expect(() => client(baseUrl)).not.toThrow()
  })

  test.each(['', '/', '/api', './api', '../api'])('can be %j on a page only', async (baseUrl) => {
    expect(await failure(client(baseUrl).planets.get.query({ id: 1 }))).toEqual(new TypeError(rule))
    const urls: unknown[] = []
    const fetch = async (url: unknown) => {
      urls.push(url)
      throw new Error('not sent')
    }
    const options = { retryForMs: 0, fetch: fetch as typeof globalThis.fetch }
    await failure(client(baseUrl, options).planets.get.query({ id: 1 }))
    vi.stubGlobal('location', new URL('http://example.com/'))
    vi.stubGlobal('fetch', fetch)
    await failure(client(baseUrl, { retryForMs: 0 }).planets.get.query({ id: 1 }))
    vi.unstubAllGlobals()
    const sent = `${baseUrl.replace(/\/$/, '')}/trpc/planets.get?batch=1&input=%7B%220%22%3A%7B%22id%22%3A1%7D%7D`
    expect(urls).toEqual([sent, sent])
  })

  test('a path that does not begin with a slash is a TypeError', () => {
    for (const path of ['trpc', '/trpc?x', '/trpc#x']) {
      expect(() => client('http://127.0.0.1:3000', { path })).toThrow(
        new TypeError('path: must begin with / and have no query and no fragment'),
      )
    }
  })
})

describe('with a real service', () => {
  const running = startSky()
  afterAll(async () => (await running)[Symbol.asyncDispose]())

  test('a query that is too long for a URL is sent by POST', async () => {
    const { url } = await running
    const name = 'é'.repeat(800)
    const methods: string[] = []
    const { moons } = client(url, { onRequest: ({ method }) => void methods.push(method) })
    expect(await moons.get.query({ name })).toEqual({ name })
    expect(methods).toEqual(['POST'])
  })

  test('an unknown procedure is not a NotFoundError', async () => {
    const { url } = await running
    const newer = client(url) as unknown as { planets: { orbit: { query: (input: object) => Promise<unknown> } } }
    const unknown = await failure(newer.planets.orbit.query({ id: 6 }))
    expect(unknown).toBeInstanceOf(UnknownProcedureError)
    expect(unknown).toMatchObject({ code: 'unknown_procedure', status: 404, name: 'UnknownProcedureError' })
    const missing = await failure(client(url).planets.get.query({ id: 99 }))
    expect(missing).toMatchObject({ code: 'not_found', status: 404, name: 'NotFoundError' })
  })

  test('isServiceError recognizes an error from another copy of the package', async () => {
    const { url } = await running
    vi.resetModules()
    const other = await import('../src/client/index.ts')
    expect(other.NotFoundError).not.toBe(NotFoundError)
    const error = await failure(client(url).planets.get.query({ id: 99 }))
    expect(error).not.toBeInstanceOf(other.NotFoundError)
    expect(other.isServiceError(error)).toBe(true)
    expect(isServiceError(new Error('other'))).toBe(false)
  })

  test('iterate starts from a cursor', async () => {
    const cursors: unknown[] = []
    await using server = await fakeServer(({ inputs }, res) => {
      cursors.push(inputs[0]?.after)
      const next = cursors.length === 1 ? 'c3' : null
      res.writeHead(200, json).end(JSON.stringify([{ result: { data: { planets: [planet], next } } }]))
    })
    const { planets } = client(server.url) as unknown as {
      planets: { iterate: (input: object) => AsyncIterable<{ name: string }> }
    }
    const names: string[] = []
    for await (const { name } of planets.iterate({ after: 'c2' })) names.push(name)
    expect([cursors, names]).toEqual([
      ['c2', 'c3'],
      ['Mercury', 'Mercury'],
    ])
  })
})
