import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { type EventStream, eventStream } from '../src/client/index.ts'

type Reply = (res: ServerResponse, req: IncomingMessage) => unknown

/** A server that gives each connection the next reply; `await using` stops it. */
async function serve(...replies: Reply[]) {
  const requests: IncomingMessage[] = []
  const server = createServer((req, res) => {
    requests.push(req)
    replies[requests.length - 1]?.(res, req)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const HEAD = { 'Content-Type': 'text/event-stream' }
const events = (text: string) => (res: ServerResponse) => res.writeHead(200, HEAD).write(text)
const eventsThenEnd = (text: string) => (res: ServerResponse) => res.writeHead(200, HEAD).end(text)
const refuse =
  (status: number, body: object, headers = {}) =>
  (res: ServerResponse) =>
    res.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))

const STREAM: EventStream = { target: () => '/events', name: 'events' }

/** The data of the first events. */
async function read(count: number, ...[options, stream = STREAM]: Partial<Parameters<typeof eventStream>>) {
  const data: string[] = []
  for await (const event of eventStream(options as { baseUrl: string }, stream)) {
    data.push(event.data)
    if (data.length === count) break
  }
  return data
}

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('an event arrives whole however its bytes are cut, and a reader that stops closes the connection', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const bytes = Buffer.from('id: 1\nevent: change\ndata: Ærø ☀\n\n')
  await using server = await serve(async (res) => {
    res.once('close', resolve).writeHead(200, HEAD)
    for (const byte of bytes) {
      res.write(Uint8Array.of(byte))
      await new Promise(setImmediate)
    }
  })
  expect(await read(1, { baseUrl: server.baseUrl })).toEqual(['Ærø ☀'])
  await closed
})

test('after each break it connects again, where it was and with the current credentials, also after a refusal', async () => {
  await using server = await serve(
    eventsThenEnd('retry: 1\ndata: a\n\n'),
    refuse(503, { message: 'later' }, { 'Retry-After': '0' }),
    (res) => res.writeHead(200, HEAD).write('data: b\n\ndata: half of an ev', () => res.destroy()),
    events('data: c\n\n'),
  )
  let key = 0
  let seen = 0
  const stream = { ...STREAM, target: () => `/events?seen=${seen++}` }
  expect(await read(3, { baseUrl: server.baseUrl, apiKey: () => `key-${++key}` }, stream)).toEqual(['a', 'b', 'c'])
  expect(server.requests.map(({ url, headers }) => `${url} ${headers.authorization}`)).toEqual([
    '/events?seen=0 Bearer key-1',
    '/events?seen=1 Bearer key-2',
    '/events?seen=2 Bearer key-3',
    '/events?seen=3 Bearer key-4',
  ])
})

test.each([
  [400, 'invalid_input'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [410, 'gone'],
])('a %i ends it with the error of the service', async (status, code) => {
  const fields = [{ field: 'after', message: 'must be a cursor' }]
  await using server = await serve(
    refuse(status, { status, code: 'cursor_expired', detail: 'No longer there', fields }),
  )
  await expect(read(1, { baseUrl: server.baseUrl })).rejects.toMatchObject({
    code,
    status,
    message: 'No longer there',
    reason: 'cursor_expired',
    fields,
  })
  expect(server.requests.length).toBe(1)
})

test('a response that is no stream ends it, and so does an error of apiKey', async () => {
  await using server = await serve((res) => res.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>'))
  await expect(read(1, { baseUrl: server.baseUrl })).rejects.toMatchObject({ code: 'unexpected', status: 200 })
  const fault = new Error('no key')
  const apiKey = () => Promise.reject(fault)
  await expect(read(1, { baseUrl: server.baseUrl, apiKey })).rejects.toBe(fault)
})

test('a 401 is tried once more if onUnauthorized has renewed the credentials', async () => {
  const refusal = refuse(401, { status: 401, code: 'unauthorized', detail: 'expired', fields: [] })
  await using server = await serve(refusal, events('data: a\n\n'), refusal, refusal)
  let renewals = 0
  const onUnauthorized = () => ++renewals > 0
  expect(await read(1, { baseUrl: server.baseUrl, onUnauthorized })).toEqual(['a'])
  await expect(read(1, { baseUrl: server.baseUrl, onUnauthorized })).rejects.toMatchObject({ code: 'unauthorized' })
  expect([renewals, server.requests.length]).toEqual([2, 4])
})

test('a signal ends it while it waits for an event, and before it connects', async () => {
  const abort = new AbortController()
  await using server = await serve((res) => res.writeHead(200, HEAD).write('data: a\n\n'))
  const stream = eventStream({ baseUrl: server.baseUrl }, { ...STREAM, signal: abort.signal })
  await stream.next()
  const next = stream.next()
  abort.abort()
  await expect(next).rejects.toMatchObject({ code: 'aborted' })
  const late = eventStream({ baseUrl: server.baseUrl }, { ...STREAM, signal: abort.signal })
  await expect(late.next()).rejects.toMatchObject({ code: 'aborted' })
})

test('pauses double up to 30 seconds, are at least the Retry-After, and a silent connection ends after 45 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  vi.spyOn(Math, 'random').mockReturnValue(1)
  const at: number[] = []
  const fetch = async (_url: unknown, { signal }: RequestInit = {}) => {
    at.push(Math.round(performance.now() / 1000))
    const aborted = (fail: (cause: unknown) => void) => signal?.addEventListener('abort', () => fail(signal.reason))
    if (at.length === 3) return new Response('{}', { status: 429, headers: { 'Retry-After': '9' } })
    if (at.length === 4) return new Promise<Response>((_, reject) => aborted(reject))
    if (at.length === 5) {
      const start = (controller: ReadableStreamDefaultController) => {
        aborted((cause) => controller.error(cause))
        controller.enqueue(new TextEncoder().encode(': ping\n\n'))
      }
      return new Response(new ReadableStream({ start }), { headers: HEAD })
    }
    return new Response('{}', { status: 503 })
  }
  const start = performance.now() / 1000
  const abort = new AbortController()
  const stream = eventStream({ baseUrl: 'http://127.0.0.1:9', fetch }, { ...STREAM, signal: abort.signal })
  const end = stream.next().catch(({ code }) => code)
  await vi.advanceTimersByTimeAsync(300_000)
  abort.abort()
  expect(await end).toBe('aborted')
  // 1 s, 2 s, Retry-After, silence and a short pause, twice; then 1, 2, 4, 8, 16, 30, 30, … s.
  const expected = [0, 1, 3, 12, 58, 104, 105, 107, 111, 119, 135, 165, 195, 225, 255, 285]
  expect(at.map((seconds) => seconds - Math.round(start))).toEqual(expected)
})
