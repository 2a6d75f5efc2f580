import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startTestServer, type TestServer } from './harness.ts'
import { exchangeBytes, parseAnswers } from './raw-http.ts'

async function send(server: TestServer, text: string) {
  const answers = parseAnswers(await exchangeBytes(server.url, Buffer.from(text)))
  return answers.map(({ status, headers, body }) => ({ status, headers, body: body.toString() }))
}

test('a request target with a fragment is a 400 and appears in no header', async () => {
  await using server = await startTestServer()
  const target = '/books#>;rel="next",<http://other.example?limit=1'
  const [answer] = await send(server, `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  expect(answer?.status).toBe(400)
  expect(answer?.headers).not.toHaveProperty('link')
  expect(answer?.body).toBe('{"message":"A request target has no fragment: \\"#\\" must be sent as %23"}')
})

test('garbage after a request does not replace its response', async () => {
  await using server = await startTestServer()
  const body = '{"name":"Lamp","price":1}'
  const request = `POST /items/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const answers = await send(server, `${request}\0\0 garbage\r\n\r\n`)
  expect(answers.map(({ status }) => status)).toEqual([201])
  const [response] = await send(server, '\0\0 garbage\r\n\r\n')
  expect([response?.status, response?.body]).toEqual([
    400,
    '{"status":"error","error":{"code":400,"message":"Malformed HTTP request: Invalid method encountered","details":""}}',
  ])
})

// Node parses no further request on it.
test('a connection with an Upgrade whose body arrives in several parts closes after the response', async () => {
  await using server = await startTestServer()
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  const head =
    'MERGE /items HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked'
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk)).write(`${head}\r\n\r\n1\r\n`)
  await once(socket, 'data')
  socket.write('x\r\n0\r\n\r\n')
  await once(socket, 'close')
  expect(answer).toMatch(/^HTTP\/1\.1 405 [\s\S]*\r\nConnection: close\r\n/)
})

test('a malformed rest of a body gets no second response', async () => {
  await using server = await startTestServer()
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  let answers = ''
  socket.on('data', (chunk) => (answers += chunk))
  socket.write('MERGE /items HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n')
  await once(socket, 'data')
  socket.write('garbage')
  await once(socket, 'close')
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 405'])
})

const UNKNOWN_METHOD =
  'The method is unknown: it must be GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS, in capital letters'

test.each([
  ['FOO /items HTTP/1.1', 501, UNKNOWN_METHOD],
  ['get /items HTTP/1.1', 501, UNKNOWN_METHOD],
  ['GETS /items HTTP/1.1', 501, UNKNOWN_METHOD],
  ["!#$%&'*+.^_`|~ /items HTTP/1.0", 501, UNKNOWN_METHOD],
  ['FOO/items HTTP/1.1', 400, 'Malformed HTTP request: Invalid method encountered'],
  ['<html> /items HTTP/1.1', 400, 'Malformed HTTP request: Invalid method encountered'],
  ['GET /items HTTP/1.2', 505, 'The HTTP version must be 1.0 or 1.1'],
  ['PRI * HTTP/2.0', 505, 'The HTTP version must be 1.0 or 1.1'],
  ['GET /items HTTP/2.0', 505, 'The HTTP version must be 1.0 or 1.1'],
  ['DELETE /items/1 HTTP/0.9', 505, 'The HTTP version must be 1.0 or 1.1'],
  ['GET /items HTTP/1.1\nX: y', 400, 'Malformed HTTP request: Expected CRLF after version'],
  ['GET /items?q=a b HTTP/1.1', 400, 'Malformed HTTP request: Expected HTTP/, RTSP/ or ICE/'],
  ['GET urn:isbn:1 HTTP/1.1', 400, 'Malformed HTTP request: Unexpected char in url schema'],
])('%s is a %i', async (line, status, message) => {
  await using server = await startTestServer()
  const [answer, ...others] = await send(server, `${line}\r\nHost: localhost\r\n\r\n`)
  expect([answer?.status, JSON.parse(answer?.body ?? '').error.message]).toEqual([status, message])
  expect(others).toEqual([])
})

test.each([
  ['an unknown method', 'FOO /items HTTP/1.1', ''],
  ['CONNECT', 'CONNECT localhost:1 HTTP/1.1', ''],
  ['another version', 'DELETE /items/1 HTTP/0.9', ''],
  ['a head that is too large', 'GET /items HTTP/1.1', `X: ${'y'.repeat(20_000)}\r\n`],
])('C33 the answer to %s has an id', async (_, line, more) => {
  await using server = await startTestServer()
  const answer = await exchangeBytes(server.url, Buffer.from(`${line}\r\nHost: localhost\r\n${more}\r\n`))
  expect(String(answer)).toMatch(/\r\nX-Request-Id: [\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}\r\n/)
})

test('an unknown method in a second request is a 501, whatever the packets', async () => {
  await using server = await startTestServer()
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  let answers = ''
  socket.on('data', (chunk) => (answers += chunk))
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(socket, 'data')
  socket.write('\r\nFOO /items HTTP/1.1\r\n')
  await once(socket, 'close')
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 501'])
})

test.each([
  [['FOO', ' /items HTTP/1.1\r\n'], 501],
  [['GET', 'S /items HTTP/1.1\r\n'], 501],
  [['GETS /items HT', 'TP/1.1\r\n'], 501],
  [['GET\t', '/items HTTP/1.1\r\n'], 400],
])('the packets %j are a %i', async (packets, status) => {
  await using server = await startTestServer()
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname).setNoDelay()
  let answers = ''
  socket.on('data', (chunk) => (answers += chunk)).on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  for (const packet of packets) {
    socket.write(packet)
    // The server reads each packet on its own.
    await fetch(`${server.url}/healthz`)
  }
  await closed
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`])
})

test('C32 a request of HTTP 2.0 or 0.9 is a 505 and writes nothing', async () => {
  await using server = await startTestServer()
  const body = '{"name":"Lamp","price":1}'
  const rest = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  for (const version of ['2.0', '0.9']) {
    const answers = await send(server, `POST /items/ HTTP/${version}\r\n${rest}POST /items/ HTTP/1.1\r\n${rest}`)
    expect(answers.map(({ status, headers }) => [status, headers.connection])).toEqual([[505, 'close']])
  }
  expect((await server.request('GET', '/items')).body).toEqual([])
})

test('a malformed body is a 400', async () => {
  await using server = await startTestServer()
  const head =
    'POST /items/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked'
  const answers = await send(server, `${head}\r\n\r\nzz\r\n`)
  expect(answers.map(({ status, body }) => [status, body])).toEqual([
    [
      400,
      '{"status":"error","error":{"code":400,"message":"Malformed HTTP request: Invalid character in chunk size","details":""}}',
    ],
  ])
})

test('a transfer coding other than chunked is a 415', async () => {
  await using server = await startTestServer()
  const head =
    'POST /items/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: gzip, chunked'
  const [answer] = await send(server, `${head}\r\n\r\n19\r\n{"name":"Lamp","price":1}\r\n0\r\n\r\n`)
  expect([answer?.status, answer?.body]).toEqual([415, '{"message":"Transfer-Encoding must be chunked"}'])
})

test('a response is sent before the connection closes, whatever follows its request', async () => {
  await using server = await startTestServer()
  const get = 'GET /items HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const answers = await send(server, `${get}${get}${get}\x01garbage`)
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
})

test('C32 CONNECT is a 405, after the responses to earlier requests', async () => {
  await using server = await startTestServer()
  const connectTo = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'
  const [answer] = await send(server, connectTo)
  expect([answer?.status, answer?.body]).toEqual([
    405,
    '{"status":"error","error":{"code":405,"message":"CONNECT is not allowed: this server is not a proxy","details":""}}',
  ])
  const answers = await send(server, `GET /items HTTP/1.1\r\nHost: localhost\r\n\r\n${connectTo}`)
  expect(answers.map(({ status }) => status)).toEqual([200])
})

test('a path under /console that cannot be decoded is a 400', async () => {
  await using server = await startTestServer()
  for (const path of ['/console/%zz', '/console/%', '/console/%ff']) {
    const [answer] = await send(server, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    expect([answer?.status, answer?.body]).toEqual([
      400,
      expect.stringContaining('Malformed percent-escape in the path'),
    ])
  }
})

test('C42 the message of a 412 states whether the record has changed', async () => {
  await using server = await startTestServer()
  const { headers } = await server.request('POST', '/items/', { json: { name: 'Lamp', price: 1 } })
  const messageFor = async (condition: Record<string, string>) => {
    const path = headers.get('location') ?? ''
    const answer = await server.request('PATCH', path, { json: { price: 2 }, headers: condition })
    return [answer.status, answer.body.message]
  }
  const exists = [412, "Item exists, and the request's conditions do not allow its version 1"]
  expect(await messageFor({ 'If-None-Match': '*' })).toEqual(exists)
  expect(await messageFor({ 'If-Match': `W/${headers.get('etag')}` })).toEqual([
    412,
    expect.stringContaining('weak tags never match'),
  ])
  const changed = 'Item has changed: its version is now 1; read it again before writing'
  expect(await messageFor({ 'If-Match': '"2-Item"' })).toEqual([412, changed])
})

test('a tRPC request carries at most 50 calls', async () => {
  await using server = await startTestServer()
  const call = (count: number) =>
    fetch(`${server.url}/trpc/${Array(count).fill('books.list').join(',')}?batch=1`).then((answer) => answer.status)
  expect(await call(50)).toBe(200)
  expect(await call(51)).toBe(400)
})

test('the typed client sends any number of concurrent calls', async () => {
  await using server = await startTestServer()
  const pages = await Promise.all(Array.from({ length: 600 }, () => server.client.books.list.query()))
  expect(pages.length).toBe(600)
})

test('Idempotency-Key on a batch of several tRPC calls is refused, not ignored', async () => {
  await using server = await startTestServer()
  const create = (paths: string) =>
    fetch(`${server.url}/trpc/${paths}?batch=1`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'once' },
      body: JSON.stringify({ 0: { name: 'Lamp', price: 1 }, 1: { name: 'Desk', price: 2 } }),
    })
  const refused = await create('items.create,items.create')
  expect(refused.status).toBe(400)
  expect(await refused.text()).toContain('in a batch, give each call its own idempotency_key')
  expect((await create('items.create')).status).toBe(200)
  expect((await create('items.create')).status).toBe(200)
  expect((await server.client.items.list.query({ count: true })).total).toBe(1)
})

test('a connection whose body was refused before it arrived does not delay shutdown', async () => {
  await using server = await startTestServer()
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  const size = 2 * 1024 * 1024
  socket.write(
    `POST /items/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`,
  )
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /)
  const begun = performance.now()
  const stopped = server.stop()
  socket.resume().write(Buffer.alloc(size))
  await stopped
  // The requests have 10 s.
  expect(performance.now() - begun).toBeLessThan(8_000)
})

/** Opens a connection, sends `text` on it and lets the server, which runs in this process, read it. */
async function openWith(server: TestServer, text: string) {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  if (text !== '') await new Promise((written) => socket.write(text, written))
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  return socket
}

test('shutdown closes a connection that has sent nothing, without the 10 s that requests have', async () => {
  await using server = await startTestServer()
  const socket = await openWith(server, '')
  const begun = performance.now()
  await Promise.all([server.stop(), once(socket.resume(), 'close')])
  expect(performance.now() - begun).toBeLessThan(8_000)
})

test.for([
  ['first', ''],
  ['second', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'],
] as const)('shutdown waits a second for the rest of the %s request head of a connection', async ([, earlier]) => {
  const halfHead = async (isFinished: boolean) => {
    await using server = await startTestServer()
    const silent = await openWith(server, '')
    const socket = await openWith(server, earlier)
    if (earlier !== '') await once(socket, 'data')
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk))
    await new Promise((written) => socket.write('GET /items HTTP/1.1\r\nHost: local', written))
    for (let turn = 0; turn < 5; turn++) await setImmediate()
    const begun = performance.now()
    const stopped = Promise.all([server.stop(), once(socket, 'close')])
    // Closed with the other connections that are not in the middle of a request head.
    await once(silent.resume(), 'close')
    if (isFinished) socket.write('host\r\n\r\n')
    await stopped
    return { answer, ms: performance.now() - begun }
  }
  const unfinished = await halfHead(false)
  expect(unfinished.answer).toBe('')
  expect(unfinished.ms).toBeGreaterThan(900)
  expect(unfinished.ms).toBeLessThan(8_000)
  expect((await halfHead(true)).answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n/)
})

test.for([
  ['larger than the limit', ['POST /items/'], 413],
  ['with a method that the path does not support', ['PUT /items/'], 405],
  ['with an unknown key', ['POST /items/', 'Authorization: Bearer wrong'], 401],
  ['with too many calls in a batch', [`POST /trpc/${',items.create'.repeat(51)}?batch=1`], 400],
] as const)(
  'a refused body, %s, is drained slowly, and the next request on the connection is answered',
  async ([, [line, ...fields], status]) => {
    await using server = await startTestServer()
    const size = 2 * 1024 * 1024
    const more = ['Host: localhost', 'Content-Type: application/json', `Content-Length: ${size}`, ...fields]
    const next = 'GET /items/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    socket.write(`${[`${line} HTTP/1.1`, ...more].join('\r\n')}\r\n\r\n`)
    const [refusal] = (await once(socket, 'data')) as [Buffer]
    const begun = performance.now()
    socket.write(Buffer.concat([Buffer.alloc(size), Buffer.from(next)]))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect([refusal, answer].map((bytes) => String(bytes).slice(0, 12))).toEqual([`HTTP/1.1 ${status}`, 'HTTP/1.1 200'])
    // 32 chunks of 64 KiB at 10 ms each.
    expect(performance.now() - begun).toBeGreaterThan(280)
  },
)

test('a connection with more than a hundred requests sent ahead is closed, and others are served', async () => {
  await using server = await startTestServer({ RATE_LIMIT: '0' })
  const { hostname, port } = new URL(server.url)
  const sendAhead = async (count: number) => {
    const socket = connect(Number(port), hostname)
    const received: Buffer[] = []
    socket.on('data', (chunk) => received.push(chunk)).on('error', () => {})
    const request = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
    const last = request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
    socket.write(`GET /items HTTP/1.1\r\nHost: localhost\r\n\r\n${request.repeat(count - 1)}${last}`)
    await new Promise((closed) => socket.on('close', closed))
    return parseAnswers(Buffer.concat(received)).length
  }
  const [served, closed] = await Promise.all([sendAhead(100), sendAhead(5_000)])
  expect([served, closed]).toEqual([101, 0])
  expect((await server.request('GET', '/items')).status).toBe(200)
})

test('C32 a request whose head does not arrive within 15 s gets a 408, and its connection is closed', async () => {
  await using server = await startTestServer()
  const { hostname, port } = new URL(server.url)
  const begun = performance.now()
  const outcomes = ['', 'GET /books HTTP/1.1\r\nHost: localhost\r\n'].map(async (head) => {
    const socket = connect(Number(port), hostname)
    const received: Buffer[] = []
    socket.on('data', (chunk) => received.push(chunk as Buffer)).write(head)
    // A header line now and then does not keep the connection open.
    const drip = head && setInterval(() => socket.writable && socket.write('A: b\r\n'), 1000)
    await once(socket, 'close')
    if (drip) clearInterval(drip)
    expect(performance.now() - begun).toBeGreaterThan(14_000)
    return parseAnswers(Buffer.concat(received)).map(({ status, body }) => [status, body.toString()])
  })
  const late = '{"status":"error","error":{"code":408,"message":"The request did not arrive in time","details":""}}'
  expect(await Promise.all(outcomes)).toEqual([[[408, late]], [[408, late]]])
})

test.each(['/books', '/trpc/books.create'])(
  'a response sent before the body of POST %s has arrived is not lost if the connection is about to close',
  async (path) => {
    await using server = await startTestServer()
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    const answer: Buffer[] = []
    socket.on('data', (chunk) => answer.push(chunk))
    const body = Buffer.alloc(4_000_000, ' ')
    const type = 'Content-Type: application/json'
    const head = [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', 'Authorization: Bearer wrong', type]
    socket.write(`${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n`)
    await once(socket, 'data')
    // A write to a connection that the server has closed fails with a reset, which is an error here.
    for (let from = 0; from < body.length; from += 100_000) {
      if (!socket.write(body.subarray(from, from + 100_000))) await once(socket, 'drain')
    }
    await once(socket, 'end')
    expect(parseAnswers(Buffer.concat(answer)).map(({ status }) => status)).toEqual([401])
    socket.destroy()
  },
)
