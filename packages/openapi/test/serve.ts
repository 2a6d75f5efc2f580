import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import express, { type ErrorRequestHandler } from 'express'
import { expect } from 'vitest'
import { type ApiError, expressHandlers, fetchHandler } from '../src/index.ts'
import type { CallContext } from '../src/trpc.ts'
import { checkExchange } from './document-check.ts'
import { contract, envelope, type SkyContext, skyOperations } from './sky.ts'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The parsed JSON; undefined for an empty body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests access bodies of any shape
  body: any
}

export interface Sent {
  headers?: Record<string, string | string[]>
  /** Sent as JSON with a Content-Type. */
  json?: unknown
  /** Sent unchanged; a list is sent in chunks, without a Content-Length. */
  raw?: string | Buffer | Buffer[]
}

export interface Sky extends AsyncDisposable {
  url: string
  port: number
  /** The errors that `onError` was called with, oldest first. */
  errors: ApiError[]
  /** Sends a request. Its response must match the document and the response of a separate fetch handler. */
  request: (method: string, path: string, sent?: Sent) => Promise<Answer>
  /** Writes `bytes` to a new connection and returns everything received until the server closes it. */
  exchange: (bytes: string) => Promise<string>
}

/** Serves the sample contract on a real server. */
export async function startSky(): Promise<Sky> {
  const errors: ApiError[] = []
  const operations = skyOperations()
  const { handle, notFound, sendError } = expressHandlers<SkyContext & CallContext>(contract, operations, {
    envelope,
    context: (req, { length }, route) =>
      route === '/trpc' ? { caller: 'trpc', ...(length === 1 && { headers: req.headers }) } : { caller: 'rest' },
    requestId: () => 'request-1',
    onError: (error) => void errors.push(error),
    trpc: { bodyLimit: 4096, maxCalls: 10, maxRecords: 1000 },
  })
  const app = express()
  app.disable('x-powered-by')
  app.use((_req, res, next) => {
    res.setHeader('X-Served-By', 'sky')
    next()
  })
  app.get('/half', (_req, res, next) => {
    res.write('half of')
    next(new Error('in the middle'))
  })
  app.get('/broken', (_req, res) => {
    res.set({ 'Content-Encoding': 'gzip', ETag: '"broken"', 'Content-Type': 'text/html', 'Content-Length': '7' })
    throw new Error('before the answer')
  })
  app.use(handle)
  app.use(notFound)
  const onUncaught: ErrorRequestHandler = (error, req, res, _next) => sendError(error, req, res)
  app.use(onUncaught)

  const twin = fetchHandler<SkyContext>(contract, skyOperations(), {
    envelope,
    context: () => ({ caller: 'rest' }),
    requestId: () => 'request-1',
  })

  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    errors,
    request: async (method, path, sent) => {
      const answer = await send(port, method, path, sent)
      const request = asFetch(method, path, sent)
      if (request !== undefined) await expectSame(answer, await twin(request))
      return answer
    },
    exchange: async (bytes) => {
      const socket = connect(port, '127.0.0.1')
      socket.write(bytes, 'latin1')
      return text(socket)
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The same request as a fetch `Request`; undefined if fetch cannot express it or the path is not in the contract. */
function asFetch(method: string, path: string, { json, raw, headers: given = {} }: Sent = {}): Request | undefined {
  // A fragment is part of a request target, but not of a fetch request.
  if (/^\/(trpc|half|broken)\b|#/.test(path) || 'Content-Length' in given) return undefined
  const body = json === undefined ? (Array.isArray(raw) ? Buffer.concat(raw) : raw) : JSON.stringify(json)
  const headers = new Headers(json === undefined ? {} : { 'Content-Type': 'application/json' })
  for (const [name, value] of Object.entries(given)) headers.set(name, String(value))
  try {
    const request = new Request(`http://sky${path}`, { method, headers, ...(body !== undefined && { body }) })
    // fetch adds a default type for text.
    if (json === undefined && !('Content-Type' in given)) request.headers.delete('Content-Type')
    return request.url === `http://sky${path}` ? request : undefined
  } catch {
    return undefined
  }
}

const SERVER_HEADERS = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  'x-served-by',
])

async function expectSame(answer: Answer, response: Response): Promise<void> {
  const headersOf = (entries: Iterable<[string, unknown]>) =>
    Object.fromEntries([...entries].filter(([name]) => !SERVER_HEADERS.has(name)).sort())
  expect({
    status: response.status,
    headers: headersOf(response.headers),
    text: await response.text(),
  }).toEqual({
    status: answer.status,
    headers: headersOf(Object.entries(answer.headers)),
    text: answer.text,
  })
}

async function send(port: number, method: string, path: string, sent: Sent = {}): Promise<Answer> {
  const { json, raw } = sent
  const body = json === undefined ? raw : JSON.stringify(json)
  const headers = {
    ...(json !== undefined && { 'Content-Type': 'application/json' }),
    ...(typeof body === 'string' && { 'Content-Length': Buffer.byteLength(body) }),
    ...(Buffer.isBuffer(body) && { 'Content-Length': body.byteLength }),
    ...sent.headers,
  }
  const req = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false })
  for (const chunk of Array.isArray(body) ? body : []) req.write(chunk)
  req.end(Array.isArray(body) ? undefined : body)
  const [res] = await once(req, 'response')
  const answered = await text(res)
  const answer: Answer = {
    status: res.statusCode,
    headers: res.headers,
    text: answered,
    body: answered === '' ? undefined : JSON.parse(answered),
  }
  checkExchange(method, path, body, answer)
  return answer
}
