import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { createTRPCClient, httpBatchLink, httpBatchStreamLink, httpLink, TRPCClientError } from '@trpc/client'
import type { TRPCError } from '@trpc/server'
import { createExpressMiddleware } from '@trpc/server/adapters/express'
import express, { type Request, type RequestHandler } from 'express'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { RouterOf } from '../src/contract.ts'
import { ApiError, expressHandlers, fetchHandler, trpcRouter } from '../src/index.ts'
import { contract, envelope, type SkyContext, skyOperations } from './sky.ts'

const BODY_LIMIT = 2000
const MAX_CALLS = 4
const MAX_RECORDS = 3

const operations = skyOperations()

function contextOf(req: Pick<Request, 'headers'>, calls: number): SkyContext & { headers?: Request['headers'] } {
  if (req.headers['x-refuse'] !== undefined) throw new ApiError(403, 'Refused', { headers: { 'Retry-After': '9' } })
  return { caller: 'trpc', ...(calls === 1 && { headers: req.headers }) }
}

/** Serves handlers and records the errors that `onError` gets. */
async function serve(make: (onError: (error: TRPCError) => void) => RequestHandler[]) {
  const errors: string[] = []
  const app = express()
  app.use(make(({ code, message, cause }) => errors.push(`${code} ${messageOf(message, cause)}`)))
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return { port, errors, url: `http://127.0.0.1:${port}/trpc` }
}

/** What the log gets of an error; ours has the message of an unexpected error in its cause. */
function messageOf(message: string, cause: unknown): string {
  if (cause instanceof SyntaxError) return 'Input is not valid JSON'
  return message === 'Internal server error' && cause instanceof Error ? cause.message : message
}

const options = {
  envelope,
  context: (req: Pick<Request, 'headers'>, { length }: readonly string[]) => contextOf(req, length),
  trpc: { bodyLimit: BODY_LIMIT, maxCalls: MAX_CALLS, maxRecords: MAX_RECORDS },
}
const ours = await serve((onError) => [expressHandlers(contract, operations, { ...options, onError }).handle])
const theirs = await serve((onError) => [
  express.Router().use(
    '/trpc',
    createExpressMiddleware({
      router: trpcRouter(operations, MAX_RECORDS),
      maxBodySize: BODY_LIMIT,
      maxBatchSize: MAX_CALLS,
      allowMethodOverride: true,
      createContext: ({ req, info }) => contextOf(req, info.calls.length),
      responseMeta: ({ errors }) => ({
        headers: Object.assign({}, ...errors.map((error) => (error instanceof ApiError ? error.headers : {}))),
      }),
      onError: ({ error }) => onError(error),
    }),
  ),
])

interface Sent {
  method: string
  target: string
  headers: Record<string, string>
  body?: Buffer | undefined
  /** Without a Content-Length. */
  chunked?: boolean
}

async function exchange({ port, errors }: typeof ours, { method, target, headers, body, chunked }: Sent) {
  const length = body !== undefined && chunked !== true && { 'Content-Length': body.byteLength }
  const req = httpRequest({ port, method, path: `/trpc${target}`, headers: { ...headers, ...length }, agent: false })
  // The server closes the connection without reading a rejected body.
  req.on('error', () => undefined)
  if (body !== undefined) req.write(body)
  req.end()
  const [res] = await once(req, 'response')
  const answered = await text(res)
  const {
    date: _,
    connection: _connection,
    'keep-alive': _keepAlive,
    'content-length': length_,
    'transfer-encoding': framing,
    ...rest
  } = res.headers
  const isStream = framing !== undefined && answered.startsWith('{"0":[[0]')
  const answer = isStream ? streamed(answered) : answered
  return { status: res.statusCode, headers: rest, body: answer, errors: errors.splice(0).sort(), isStream }
}

/** The answers of a stream, in which tRPC's own adapter nests promises. */
function streamed(text: string): unknown {
  type Encoded = [value: unknown[], ...promises: [key: string | null, kind: number, index: number][]]
  const [head, ...lines] = text.trim().split('\n')
  const given = new Map(
    lines.map((line) => {
      const [index, status, value] = JSON.parse(line) as [number, number, Encoded]
      expect(status).toBe(0)
      return [index, value]
    }),
  )
  const decoded = ([[value], ...promises]: Encoded): unknown => {
    let result = value
    for (const [key, , index] of promises) {
      const inner = decoded(given.get(index) as Encoded)
      if (key === null) result = inner
      else (result as Record<string, unknown>)[key] = inner
    }
    return result
  }
  return Object.values(JSON.parse(head as string) as Record<string, Encoded>).map(decoded)
}

/** Checks that both handlers give the same response. */
async function expectSame(sent: Sent) {
  const [mine, other] = await Promise.all([exchange(ours, sent), exchange(theirs, sent)])
  // tRPC's own adapter says that an error of the whole request is plain text, although it is JSON.
  if (other.headers['content-type'] === 'text/plain;charset=UTF-8') other.headers['content-type'] = 'application/json'
  expect(mine).toEqual(other)
  return mine
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const planet = { name: 'Vulcan', radius: 1 }
const inputOf = (input: unknown) => `input=${encodeURIComponent(JSON.stringify(input))}`
const get = (target: string, headers = {}): Sent => ({ method: 'GET', target, headers })
const post = (target: string, body: unknown, headers: Record<string, string> = JSON_TYPE): Sent => ({
  method: 'POST',
  target,
  headers,
  body: Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
})

describe('gets the response of tRPC’s own adapter:', () => {
  const STREAM = { 'trpc-accept': 'application/jsonl' }
  test.each<[string, Sent]>([
    ['a query', get(`/planets.get?${inputOf({ id: 6 })}`)],
    ['a query without input', get('/home.get')],
    ['an empty input', get('/home.get?input=')],
    ['an input with spaces as plus signs', get('/moons.get?input={"name":"a+b%2Bc"}')],
    ['a query that finds nothing', get(`/planets.get?${inputOf({ id: 7 })}`)],
    ['a query with a wrong input', get(`/planets.get?${inputOf({ id: 'x' })}`)],
    ['an input of null', get('/planets.get?input=null')],
    ['a batch of queries', get(`/planets.get,home.get?batch=1&${inputOf({ 0: { id: 6 } })}`)],
    ['a batch of one', get(`/planets.get?batch=1&${inputOf({ 0: { id: 6 } })}`)],
    ['a batch with successes and errors', get(`/planets.get,planets.get?batch=1&${inputOf({ 0: { id: 2 }, 1: {} })}`)],
    [
      'a batch with the same error twice',
      get(`/planets.get,planets.get?${inputOf({ 0: { id: 7 }, 1: { id: 8 } })}&batch=1`),
    ],
    ['the largest batch', get(`/${Array(MAX_CALLS).fill('home.get').join(',')}?batch=1`)],
    ['a mutation', post('/planets.create', planet)],
    [
      'a mutation with a charset',
      post('/planets.create', planet, { 'Content-Type': 'Application/JSON; charset=UTF-8' }),
    ],
    ['a mutation without input', post('/planets.create', '')],
    ['a body in chunks', { ...post('/planets.create', planet), chunked: true }],
    ['a mutation behind a byte order mark', post('/planets.create', `\uFEFF${JSON.stringify(planet)}`)],
    ['a batch of mutations', post('/planets.create,planets.create?batch=1', { 0: planet, 1: {} })],
    [
      'a batch over the limit of records',
      post('/planets.createMany,planets.createMany?batch=1', {
        0: { planets: [planet, planet] },
        1: { planets: [planet, planet] },
      }),
    ],
    ['a header parameter', post('/planets.create', planet, { ...JSON_TYPE, 'Idempotency-Key': 'taken' })],
    ['the fields of Object.prototype', post('/probes.send', '{"__proto__":{"label":1},"constructor":1}')],
    ['a context hook that throws', get('/home.get,home.get?batch=1', { 'X-Refuse': '1' })],
    ['a context hook that throws for a mutation', post('/planets.create', planet, { ...JSON_TYPE, 'X-Refuse': '1' })],
    ['an ApiError with headers', get(`/failures.fail?${inputOf({ how: 'busy' })}`)],
    ['an unexpected error', get(`/failures.fail?${inputOf({ how: 'error' })}`)],
    ['a thrown string', get(`/failures.fail?${inputOf({ how: 'text' })}`)],
    ['an output that does not match its schema', get(`/failures.fail?${inputOf({ how: 'output' })}`)],
    ['an output that JSON cannot represent', get(`/failures.fail?${inputOf({ how: 'bigint' })}`)],
    ['one of them in a batch', get(`/home.get,failures.fail?batch=1&${inputOf({ 1: { how: 'bigint' } })}`)],
    [
      'one of them before a slow call',
      get(`/failures.fail,failures.fail?batch=1&${inputOf({ 0: { how: 'bigint' }, 1: { how: 'slow' } })}`),
    ],
    ['an unknown procedure', get('/planets.find')],
    ['no procedure', get('/')],
    ['a procedure of Object.prototype', get('/constructor')],
    ['a batch with a hole', get('/home.get,,home.get?batch=1')],
    [
      'a batch that is too large',
      get(
        `/${Array(MAX_CALLS + 1)
          .fill('home.get')
          .join(',')}?batch=1`,
      ),
    ],
    ['queries and mutations in one batch', post('/planets.create,home.get?batch=1', {})],
    ['a query by POST', post('/planets.get', { id: 6 })],
    ['a mutation by GET', get(`/planets.create?${inputOf(planet)}`)],
    ['input that is not JSON', get('/planets.get?input={')],
    ['a body that is not JSON', post('/planets.create', '{')],
    ['a batch whose body is a list', post('/planets.create?batch=1', [planet])],
    ['a batch whose input is null', get('/home.get?batch=1&input=null')],
    ['a bad escape in the path', get('/%zz')],
    ['an escaped path', get(`/planets%2Eget?${inputOf({ id: 6 })}`)],
    ['an escaped parameter', get('/planets.get?inpu%74={"id":6}')],
    ['a longer path', get(`/any/planets.get?${inputOf({ id: 6 })}`)],
    ['a body of another type', post('/planets.create', planet, { 'Content-Type': 'text/plain' })],
    ['a body without a type', post('/planets.create', planet, {})],
    ['a stream', get(`/home.get,planets.get?batch=1&${inputOf({ 1: { id: 7 } })}`, STREAM)],
    ['a stream asked for in Accept', get('/home.get?batch=1', { Accept: 'text/html, application/jsonl' })],
    ['a stream of a single call', get('/home.get', STREAM)],
  ])('%s', async (name, sent) => {
    const { isStream } = await expectSame(sent)
    expect(isStream).toBe(/^a stream(?! of)/.test(name))
  })
})

test('a method that no call has is a 405, as over REST', async () => {
  const allow = 'GET, HEAD, POST, OPTIONS'
  const { status, headers, body } = await exchange(ours, { ...post('/planets.create', planet), method: 'PUT' })
  expect([status, headers.allow, JSON.parse(body as string)]).toMatchObject([
    405,
    allow,
    { message: 'PUT is not allowed here, only GET, HEAD, POST or OPTIONS' },
  ])
  const options = await exchange(ours, { method: 'OPTIONS', target: '/home.get', headers: {} })
  expect([options.status, options.headers.allow]).toEqual([204, allow])
})

test('HEAD gets the status and headers of GET without the body, where tRPC’s own adapter answers 204 to any path', async () => {
  for (const [target, status, headers] of [
    [`/planets.get?${inputOf({ id: 6 })}`, 200, {}],
    [`/home.get,planets.get?batch=1&${inputOf({ 1: { id: 6 } })}`, 200, {}],
    [`/planets.get?${inputOf({ id: 7 })}`, 404, {}],
    ['/planets.find', 404, {}],
    ['/planets.create', 405, { allow: 'POST' }],
    ['/home.get?x=1', 400, {}],
  ] as const) {
    const read = await exchange(ours, get(target))
    const head = await exchange(ours, { ...get(target), method: 'HEAD' })
    expect([target, head]).toMatchObject([target, { status, headers, body: '' }])
    expect([head.status, head.headers, head.errors]).toEqual([read.status, read.headers, read.errors])
  }
})

describe('refuses a query parameter that has no effect, where tRPC’s own adapter ignores it:', () => {
  const unknown = (name: string, known: string) =>
    `${name} is not a query parameter of this operation; it takes: ${known}`
  test.each<[string, Sent, string]>([
    ['an unknown one', get('/home.get?colour=red'), unknown('colour', 'batch, input')],
    [
      'an unknown one after an input',
      get(`/planets.get?${inputOf({ id: 6 })}&connectionParams={}`),
      unknown('connectionParams', 'batch, input'),
    ],
    ['an unknown one of a mutation', post('/planets.create?colour=red', planet), unknown('colour', 'batch')],
    ['the input of a mutation', post(`/planets.create?${inputOf(planet)}`, planet), unknown('input', 'batch')],
    ['a second input', get('/planets.get?input={"id":6}&input={"id":2}'), 'input must be given once'],
    ['another value of batch', get('/home.get?batch=true'), 'batch must be 1'],
    [
      'a bad escape in the input',
      get('/moons.get?input={"name":"%zz"}'),
      'Malformed percent-escape in query parameter input',
    ],
  ])('%s', async (_, sent, message) => {
    const { status, body } = await exchange(ours, sent)
    expect([status, JSON.parse(body as string)]).toMatchObject([
      400,
      { error: { message, data: { httpStatus: 400, reason: 'bad_request' } } },
    ])
  })

  test('in a batch, of each call', async () => {
    const { status, body } = await exchange(ours, get('/home.get,nope?batch=1&colour=red'))
    const message = unknown('colour', 'batch, input')
    expect([status, JSON.parse(body as string)]).toMatchObject([
      207,
      [
        { error: { message, data: { fields: [{ field: 'colour' }] } } },
        { error: { message: 'No procedure found on path "nope"' } },
      ],
    ])
  })

  test('after the credentials', async () => {
    expect((await exchange(ours, get('/home.get?colour=red', { 'X-Refuse': '1' }))).status).toBe(403)
  })
})

test('a form or bytes, which no procedure takes, are a 415, where tRPC’s own adapter names missing fields', async () => {
  for (const type of ['multipart/form-data; boundary=x', 'application/octet-stream']) {
    const { status, body } = await exchange(ours, post('/planets.create', 'name=x', { 'Content-Type': type }))
    expect([status, JSON.parse(body as string)]).toMatchObject([
      415,
      { error: { message: `Unsupported content-type "${type}`, data: { code: 'UNSUPPORTED_MEDIA_TYPE' } } },
    ])
  }
})

describe('refuses a body that tRPC’s own adapter would store with replaced or without characters:', () => {
  const latin1 = Buffer.from('{"name":"\xfc","radius":1}', 'latin1')
  const inUtf8 = 'A body must be sent as Content-Type: application/json, in UTF-8'
  test.each<[string, Sent, number, string]>([
    ['two byte order marks', post('/planets.create', '\uFEFF\uFEFF{}'), 400, 'Input is not valid JSON'],
    ['bytes that are not UTF-8', post('/planets.create', latin1), 400, 'Body is not valid UTF-8'],
    [
      'another charset',
      post('/planets.create', latin1, { 'Content-Type': 'application/json; charset=iso-8859-1' }),
      415,
      inUtf8,
    ],
    [
      'a Content-Encoding',
      post('/planets.create', planet, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }),
      415,
      'A body must be sent without Content-Encoding',
    ],
  ])('%s', async (_, sent, status, message) => {
    for (const chunked of [false, true]) {
      const answer = await exchange(ours, { ...sent, chunked })
      expect([answer.status, JSON.parse(answer.body as string)]).toMatchObject([
        status,
        { error: { message, data: { httpStatus: status } } },
      ])
    }
  })
})

test('a body over the limit is a 413 that states the limit, where tRPC’s own adapter names only the code', async () => {
  const sent = post('/probes.send', { tree: { x: 'x'.repeat(BODY_LIMIT) } })
  for (const chunked of [false, true]) {
    const answer = await exchange(ours, { ...sent, chunked })
    expect([answer.status, JSON.parse(answer.body as string)]).toMatchObject([
      413,
      { error: { message: 'Body must be at most 2000 bytes', data: { httpStatus: 413 } } },
    ])
  }
})

test('any other request gets the response of tRPC’s own adapter', async () => {
  const path = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('planets.get', 'planets.list', 'home.get', 'failures.fail', 'moons.list') },
    { weight: 4, arbitrary: fc.constantFrom('planets.create', 'probes.send', 'failures.failWriting') },
    { weight: 1, arbitrary: fc.constantFrom('', 'nope', 'planets', '__proto__', 'planets.get%2Chome.get', '%', 'a/b') },
  )
  const some = fc.oneof(
    fc.constantFrom({ id: 6 }, { id: 7 }, { id: '6' }, { planet_id: 6 }, planet, { ...planet, key: 'taken' }, {}),
    fc.constantFrom('error', 'busy', 'bigint', 'output', 'fine').map((how) => ({ how })),
    fc.jsonValue({ maxDepth: 2 }),
  )
  const json = fc.oneof(
    some.map((input) => JSON.stringify(input)),
    fc
      .dictionary(fc.constantFrom('0', '1', '2', '3', 'x'), some, { noNullPrototype: true })
      .map((input) => JSON.stringify(input)),
    fc.constantFrom('', '{', 'null', '[]', '"a+b"', '\uFEFF{}', '{"0":{"id":6},"__proto__":{"1":{"id":2}}}'),
  )
  const parameter = fc.oneof(
    { weight: 6, arbitrary: json.map((input) => `input=${encodeURIComponent(input)}`) },
    { weight: 1, arbitrary: fc.constantFrom('input', 'inpu%74=') },
    { weight: 1, arbitrary: json.map((input) => `input=${input.replaceAll(/[^!"$'-~]/g, '')}`) },
  )
  const header = fc.oneof(
    { weight: 1, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Record<string, string>>(
        { Accept: '*/*' },
        { Accept: 'application/jsonl' },
        { 'trpc-accept': 'application/jsonl' },
        { 'Idempotency-Key': 'taken' },
        { 'X-Refuse': '1' },
        { 'Content-Type': 'application/json;charset=utf-8' },
        { 'Content-Type': 'text/plain' },
      ),
    },
  )
  const request = fc.record({
    method: fc.constantFrom('GET', 'POST'),
    paths: fc.array(path, { minLength: 1, maxLength: MAX_CALLS + 1 }),
    isBatch: fc.boolean(),
    // Each at most once; a POST has its input in the body.
    input: fc.option(parameter, { nil: '', freq: 5 }),
    order: fc.constantFrom(['batch=1', ''], ['', 'batch=%31'], ['&batch=1', '&']),
    header,
    json,
    chunked: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  })
  const counts = { streams: 0, others: 0 }
  await fc.assert(
    fc.asyncProperty(request, async ({ method, paths, isBatch, input, order, header, json, chunked }) => {
      const joined = isBatch ? paths.join(',') : paths[0]
      const withBody = method === 'POST'
      const [before, after] = isBatch ? order : ['', '']
      const query = [before, withBody ? '' : input, after].filter(Boolean).join('&')
      const sent = { method, target: `/${joined}${query === '' ? '' : `?${query}`}` }
      const { isStream } = await expectSame(
        withBody
          ? { ...sent, headers: { ...JSON_TYPE, ...header }, body: Buffer.from(json), chunked }
          : { ...sent, headers: header },
      )
      counts[isStream ? 'streams' : 'others'] += 1
    }),
    { numRuns: 600, seed: 7153 },
  )
  expect(counts.streams).toBeGreaterThan(5)
})

type Router = RouterOf<typeof contract>

describe('tRPC’s client', () => {
  const clientOf = (link: Parameters<typeof createTRPCClient<Router>>[0]['links'][number]) =>
    createTRPCClient<Router>({ links: [link] })

  test('can send a query by POST, for inputs that are too long for a URL', async () => {
    for (const { url } of [ours, theirs]) {
      const client = clientOf(httpBatchLink({ url, methodOverride: 'POST' }))
      expect(await client.home.get.query({})).toEqual({ star: 'Sol' })
    }
  })

  test('sends its own headers', async () => {
    const client = clientOf(httpLink({ url: ours.url, headers: () => ({ 'Idempotency-Key': 'taken' }) }))
    await expect(client.planets.create.mutate(planet)).rejects.toMatchObject({ data: { httpStatus: 409 } })
  })

  test.each([
    ['in a single request', httpLink],
    ['in a batch', httpBatchLink],
    ['in a stream', httpBatchStreamLink],
  ])('can abort a call %s, and the server continues to work', async (_, link) => {
    const client = clientOf(link({ url: ours.url }))
    const abort = new AbortController()
    const given = client.planets.get.query({ id: 6 }, { signal: abort.signal })
    abort.abort()
    await expect(given).rejects.toBeInstanceOf(TRPCClientError)
    expect(await client.home.get.query({})).toEqual({ star: 'Sol' })
  })
})

test('an incomplete body is not a call, and the server continues to work', async () => {
  const socket = connect(ours.port, '127.0.0.1')
  const head = 'POST /trpc/planets.create HTTP/1.1\r\nHost: sky\r\nContent-Type: application/json'
  socket.write(`${head}\r\nExpect: 100-continue\r\nContent-Length: 99\r\n\r\n`)
  await once(socket, 'data')
  socket.write('{"name":')
  socket.destroy()
  await once(socket, 'close')
  ours.errors.length = 0
  const answer = await exchange(ours, get('/home.get'))
  expect([answer.status, answer.body, answer.errors]).toEqual([200, '{"result":{"data":{"star":"Sol"}}}', []])
})

test('a fetch handler gives the same answers, also in streams', async () => {
  const handle = fetchHandler(contract, operations, {
    ...options,
    context: ({ headers }, { length }) => contextOf({ headers: Object.fromEntries(headers) }, length),
  })
  const client = createTRPCClient<Router>({
    links: [
      httpBatchStreamLink({
        url: 'http://sky/trpc',
        fetch: (url, init) => handle(new Request(url, init as RequestInit)),
      }),
    ],
  })
  const [home, planet] = await Promise.allSettled([client.home.get.query({}), client.planets.get.query({ id: 7 })])
  expect([home, planet]).toMatchObject([
    { value: { star: 'Sol' } },
    { reason: { message: 'Planet not found', data: { httpStatus: 404 } } },
  ])
  for (const sent of [get(`/planets.get,home.get?batch=1&${inputOf({ 0: { id: 6 } })}`), post('/planets.create', {})]) {
    const { status, body } = await exchange(ours, sent)
    const { method, headers, target } = sent
    const init = { method, headers, ...(sent.body && { body: String(sent.body) }) }
    const other = await handle(new Request(`http://sky/trpc${target}`, init))
    expect([other.status, await other.text()]).toEqual([status, body])
  }
})
