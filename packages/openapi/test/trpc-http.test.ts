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
import { ApiError, trpc, trpcRouter } from '../src/index.ts'
import { type contract, type SkyContext, skyOperations } from './sky.ts'

const BODY_LIMIT = 2000
const MAX_CALLS = 4
const MAX_RECORDS = 3

const operations = skyOperations()

function contextOf(req: Request, calls: number): SkyContext & { headers?: Request['headers'] } {
  if (req.headers['x-refuse'] !== undefined) throw new ApiError(403, 'Refused', { headers: { 'Retry-After': '9' } })
  return { caller: 'trpc', ...(calls === 1 && { headers: req.headers }) }
}

/** Serves handlers and records the errors that `onError` gets. */
async function serve(make: (onError: (error: TRPCError) => void) => RequestHandler[]) {
  const errors: string[] = []
  const app = express()
  app.use(make(({ code, message }) => errors.push(`${code} ${message}`)))
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

const ours = await serve((onError) => {
  const { plain, complete } = trpc(operations, {
    context: (req, { length }) => contextOf(req, length),
    onError,
    path: '/trpc',
    bodyLimit: BODY_LIMIT,
    maxCalls: MAX_CALLS,
    maxRecords: MAX_RECORDS,
  })
  return [plain, express.Router().use('/trpc', complete)]
})
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
  return {
    answer: { status: res.statusCode, headers: rest, body: answered, errors: errors.splice(0).sort() },
    isPlain: length_ !== undefined && framing === undefined,
  }
}

/** Checks that both handlers give the same response. Returns whether the fast path was taken. */
async function isFastPath(sent: Sent): Promise<boolean> {
  const [mine, other] = await Promise.all([exchange(ours, sent), exchange(theirs, sent)])
  expect(mine.answer).toEqual(other.answer)
  return mine.isPlain
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

describe('gets the response of tRPC’s own adapter on the fast path:', () => {
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
  ])('%s', async (_, sent) => {
    expect(await isFastPath(sent)).toBe(true)
  })
})

describe('is passed to tRPC’s own adapter:', () => {
  const STREAM = { 'trpc-accept': 'application/jsonl' }
  test.each<[string, Sent]>([
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
    ['HEAD', { method: 'HEAD', target: '/home.get', headers: {} }],
    ['OPTIONS', { method: 'OPTIONS', target: '/home.get', headers: {} }],
    ['PUT', { ...post('/planets.create', planet), method: 'PUT' }],
    ['input that is not JSON', get('/planets.get?input={')],
    ['a body that is not JSON', post('/planets.create', '{')],
    ['a body of two byte order marks', post('/planets.create', '\uFEFF\uFEFF{}')],
    ['a batch whose body is a list', post('/planets.create?batch=1', [planet])],
    ['a batch whose input is null', get('/home.get?batch=1&input=null')],
    ['input given twice', get('/planets.get?input={"id":6}&input={"id":2}')],
    ['a bad escape in the input', get('/moons.get?input={"name":"%zz"}')],
    ['a bad escape in the path', get('/%zz')],
    ['an escaped path', get(`/planets%2Eget?${inputOf({ id: 6 })}`)],
    ['an escaped parameter', get('/planets.get?inpu%74={"id":6}')],
    ['a longer path', get(`/any/planets.get?${inputOf({ id: 6 })}`)],
    ['an unknown parameter', get('/home.get?x=1')],
    ['connection parameters that are not JSON', get('/home.get?connectionParams=x')],
    ['a body of another type', post('/planets.create', planet, { 'Content-Type': 'text/plain' })],
    ['a body without a type', post('/planets.create', planet, {})],
    ['a form', post('/planets.create', 'name=x', { 'Content-Type': 'multipart/form-data; boundary=x' })],
    ['bytes', post('/planets.create', 'x', { 'Content-Type': 'application/octet-stream' })],
    ['a stream', get(`/home.get,planets.get?batch=1&${inputOf({ 1: { id: 7 } })}`, STREAM)],
    ['a stream asked for in Accept', get('/home.get?batch=1', { Accept: 'text/html, application/jsonl' })],
    ['a stream of a single call', get('/home.get', STREAM)],
  ])('%s', async (_, sent) => {
    expect(await isFastPath(sent)).toBe(false)
  })
})

describe('refuses a body that tRPC’s own adapter would store with replaced characters:', () => {
  const latin1 = Buffer.from('{"name":"\xfc","radius":1}', 'latin1')
  const inUtf8 = 'A body must be sent as Content-Type: application/json, in UTF-8'
  test.each<[string, Sent, number, string]>([
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
      const { answer } = await exchange(ours, { ...sent, chunked })
      expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
        status,
        { error: { message, data: { httpStatus: status } } },
      ])
    }
  })
})

test('a body over the limit is a 413 that states the limit, where tRPC’s own adapter names only the code', async () => {
  const sent = post('/probes.send', { tree: { x: 'x'.repeat(BODY_LIMIT) } })
  for (const chunked of [false, true]) {
    const { answer } = await exchange(ours, { ...sent, chunked })
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
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
    { weight: 5, arbitrary: fc.constant('batch=1') },
    { weight: 1, arbitrary: fc.constantFrom('batch=0', 'batch', 'batch=%31', 'input', 'input=%', 'x=1', '', '=', '+') },
    { weight: 1, arbitrary: json.map((input) => `input=${input.replaceAll(/[^!-"$-~]/g, '')}`) },
  )
  const header = fc.oneof(
    { weight: 8, arbitrary: fc.constant({}) },
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
        { 'Content-Type': 'application/octet-stream' },
      ),
    },
  )
  const request = fc.record({
    method: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom('GET', 'POST') },
      { weight: 1, arbitrary: fc.constantFrom('HEAD', 'OPTIONS', 'PUT', 'DELETE') },
    ),
    paths: fc.array(path, { minLength: 1, maxLength: MAX_CALLS + 1 }),
    isBatch: fc.boolean(),
    parameters: fc.array(parameter, { maxLength: 2 }),
    header,
    json,
    chunked: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  })
  const counts = { plain: 0, other: 0 }
  await fc.assert(
    fc.asyncProperty(request, async ({ method, paths, isBatch, parameters, header, json, chunked }) => {
      const joined = isBatch ? paths.join(',') : paths[0]
      const query = (isBatch ? ['batch=1', ...parameters] : parameters).join('&')
      const sent = { method, target: `/${joined}${query === '' ? '' : `?${query}`}` }
      const withBody = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
      const isPlain = await isFastPath(
        withBody
          ? { ...sent, headers: { ...JSON_TYPE, ...header }, body: Buffer.from(json), chunked }
          : { ...sent, headers: header },
      )
      counts[isPlain ? 'plain' : 'other'] += 1
    }),
    { numRuns: 600, seed: 7153 },
  )
  // Both handlers were used.
  expect(Math.min(counts.plain, counts.other)).toBeGreaterThan(60)
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
  const { answer } = await exchange(ours, get('/home.get'))
  expect([answer.status, answer.body, answer.errors]).toEqual([200, '{"result":{"data":{"star":"Sol"}}}', []])
})
