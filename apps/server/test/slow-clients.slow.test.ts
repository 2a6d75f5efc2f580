import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { spawnService, temporaryFolder } from './service-process.ts'

const HEAD = 'Host: localhost\r\nContent-Type: application/json\r\n'
/** An incomplete request for each part that the service can wait for. */
const STALLS = {
  head: 'GET /items HTTP/1.1\r\nHost: loc',
  body: `POST /items/ HTTP/1.1\r\n${HEAD}Content-Length: 9\r\n\r\n{`,
  // Refused before the body arrives.
  rest: `PUT /items/ HTTP/1.1\r\n${HEAD}Content-Length: 9\r\n\r\n{`,
}

interface Client {
  socket: Socket
  isOpen: () => boolean
}

/** Connects from `from`, sends `text`, and does not read the response. */
async function stall(url: string, text: string, from = '127.0.0.1'): Promise<Client> {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, localAddress: from })
  let isOpen = true
  for (const event of ['close', 'error', 'end']) socket.on(event, () => (isOpen = false))
  await once(socket, 'connect')
  if (text !== '') await new Promise((written) => socket.write(text, written))
  return { socket, isOpen: () => isOpen }
}

async function stallMany(count: number, ...args: Parameters<typeof stall>): Promise<Client[]> {
  const clients: Client[] = []
  for (let n = 0; n < count; n++) clients.push(await stall(...args))
  return clients
}

/** The status of a request on a new connection. */
function statusOf(url: string, from = '127.0.0.1'): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = request(url, { agent: false, localAddress: from }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    sent.end()
  })
}

async function metricsOf(url: string, from?: string): Promise<Record<string, number>> {
  const { hostname, port } = new URL(url)
  const { socket } = await stall(url, '', from)
  socket.write(`GET /metrics HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n\r\n`)
  let text = ''
  for await (const chunk of socket) text += chunk
  const lines = text.split('\n').filter((line) => line.startsWith('resource_'))
  return Object.fromEntries(lines.map((line) => [line.split(' ')[0], Number(line.split(' ')[1])]))
}

const connections = (state: string) => `resource_http_connections{state="${state}"}`
const closed = (bound: string) => `resource_http_connections_closed_total{bound="${bound}"}`
const open = (clients: Client[]) => clients.map(({ isOpen }) => isOpen())

/** Requests whose responses exceed the socket buffers if the client does not read; the kernel buffers one response. */
async function unreadRequests(url: string, count = 8) {
  const asset = /\/assets\/[^"]*\/swagger-ui\.js/.exec(await (await fetch(`${url}/docs`)).text())?.[0]
  return `GET ${asset} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(count)
}

test('clients that make the service wait do not count against the concurrency limit', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { MAX_REQUESTS: '2' })
  const url = await service.url()
  const stalls = { ...STALLS, answer: await unreadRequests(url) }
  for (const text of Object.values(stalls)) await stallMany(20, url, text)
  for (const state of Object.keys(stalls)) {
    await expect.poll(async () => (await metricsOf(url))[connections(state)], { message: state }).toBe(20)
  }
  expect((await metricsOf(url))[connections('working')]).toBe(1)
  for (let n = 0; n < 20; n++) expect(await statusOf(`${url}/items`)).toBe(200)
  expect((await metricsOf(url))['resource_refused_total{limit="overload"}']).toBe(0)
})

test.for(['silent', 'head', 'body', 'rest', 'answer', 'taken'] as const)(
  'connections of an address over its limit (%s) are closed, the longest-waiting first, and none of other addresses',
  async (kind) => {
    await using folder = await temporaryFolder()
    await using service = spawnService(folder.path, { MAX_WAITING_PER_ADDRESS: '5' })
    const url = await service.url()
    const text = { ...STALLS, silent: '', answer: await unreadRequests(url), taken: await unreadRequests(url, 1) }[kind]
    const others = await stallMany(5, url, text, '127.0.0.2')
    const clients = await stallMany(20, url, text)
    const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
    for (const from of addresses) expect(await statusOf(`${url}/items`, from)).toBe(200)
    await expect.poll(async () => (await metricsOf(url, '127.0.0.3'))[closed('address')]).toBe(15)
    // A client notices a closed connection only if it reads.
    for (const { socket } of [...clients, ...others]) socket.resume()
    await expect.poll(() => open(clients)).toEqual([...Array(15).fill(false), ...Array(5).fill(true)])
    expect(open(others)).toEqual(Array(5).fill(true))
    for (const from of addresses) expect(await statusOf(`${url}/items`, from)).toBe(200)
  },
)

test('unread responses of an address are limited to 128 MiB; a connection without one stays open, however long it waits', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path)
  const url = await service.url()
  const text = await unreadRequests(url)
  const others = await stallMany(5, url, text, '127.0.0.2')
  const body = await stall(url, STALLS.body)
  const clients = await stallMany(120, url, text)
  await expect.poll(async () => (await metricsOf(url, '127.0.0.3'))[closed('address')]).toBeGreaterThan(20)
  expect(await statusOf(`${url}/items`)).toBe(200)
  for (const { socket } of [...clients, ...others]) socket.resume()
  // The longest-waiting ones are closed.
  await expect.poll(() => open(clients.slice(0, 20))).not.toContain(true)
  expect(open(clients.slice(-20))).not.toContain(false)
  expect([...open(others), body.isOpen()]).toEqual(Array(6).fill(true))
})

test('served connections may be idle without limit, until the head of another request starts and does not end', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { MAX_WAITING_PER_ADDRESS: '5' })
  const url = await service.url()
  const clients = await stallMany(50, url, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  for (const { socket } of clients) socket.resume()
  await expect.poll(async () => (await metricsOf(url))[connections('idle')]).toBe(50)
  // Meanwhile a silent connection over the limit is closed.
  await stallMany(6, url, '')
  await expect.poll(async () => (await metricsOf(url))[closed('address')]).toBe(1)
  expect(open(clients)).toEqual(Array(50).fill(true))
  for (const { socket } of clients) socket.write('GET /hea')
  await expect.poll(() => open(clients).filter((isOpen) => isOpen).length).toBe(5)
})

test('further requests of an address at its limit are served and close no waiting connection', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { MAX_WAITING_PER_ADDRESS: '5' })
  const url = await service.url()
  const clients = await stallMany(6, url, STALLS.body)
  await expect.poll(async () => (await metricsOf(url))[closed('address')]).toBe(1)
  const statuses = await Promise.all(Array.from({ length: 500 }, () => statusOf(`${url}/healthz`)))
  expect(Object.groupBy(statuses, String)).toEqual({ 200: Array(500).fill(200) })
  expect((await metricsOf(url))[closed('address')]).toBe(1)
  for (const { socket } of clients) socket.resume()
  await expect.poll(() => open(clients)).toEqual([false, ...Array(5).fill(true)])
})

test('a thousand concurrent connections that send their requests are all served', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { MAX_WAITING_PER_ADDRESS: '5' })
  const url = await service.url()
  const statuses = await Promise.all(Array.from({ length: 1000 }, () => statusOf(`${url}/healthz`)))
  expect(Object.groupBy(statuses, String)).toEqual({ 200: Array(1000).fill(200) })
})

test('at MAX_CONNECTIONS the longest-waiting connection is closed, and a new one is served', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { MAX_CONNECTIONS: '4' })
  const url = await service.url()
  const idle = await stall(url, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(idle.socket, 'data')
  const others = await Promise.all(Object.values(STALLS).map((text) => stall(url, text)))
  for (const { socket } of [idle, ...others]) socket.resume()
  expect(await statusOf(`${url}/items`, '127.0.0.2')).toBe(200)
  await expect.poll(idle.isOpen).toBe(false)
  expect(open(others)).toEqual([true, true, true])
  // The served connection has closed, so three of four slots are in use.
  expect((await metricsOf(url))[closed('total')]).toBe(1)
})

test('with a trusted proxy the limit applies to the forwarded address, and connections without one are not limited', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { MAX_WAITING_PER_ADDRESS: '3', TRUST_PROXY: 'loopback' })
  const url = await service.url()
  const body = (caller: string) => STALLS.body.replace('\r\n', `\r\nX-Forwarded-For: ${caller}\r\n`)
  const silent = await stallMany(10, url, '')
  const one = await stallMany(5, url, body('192.0.2.1'))
  const two = await stallMany(3, url, body('192.0.2.2'))
  const three = await stallMany(2, url, body('2001:db8:1:2::1'))
  three.push(...(await stallMany(2, url, body('2001:db8:1:2:3::1'))))
  for (const { socket } of [...silent, ...one, ...two, ...three]) socket.resume()
  await expect.poll(() => open(one)).toEqual([false, false, true, true, true])
  await expect.poll(() => open(three)).toEqual([false, true, true, true])
  expect(open(two)).toEqual([true, true, true])
  expect(open(silent)).toEqual(Array(10).fill(true))
})

test('pipelined requests on a connection that breaks leave nothing open', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path)
  const url = await service.url()
  const body = '{"name":"Ada","email":"ada@example.com","password":"correct horse"}'
  const slow = `POST /api/users HTTP/1.1\r\n${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`
  const next = 'GET /items HTTP/1.1\r\nHost: localhost\r\n\r\n'
  for (const { socket } of await stallMany(20, url, slow + next.repeat(3))) socket.resetAndDestroy()
  await expect.poll(async () => (await metricsOf(url)).resource_http_requests_open).toBe(1)
  const metrics = await metricsOf(url)
  expect([metrics[connections('working')], metrics[connections('idle')], metrics[connections('rest')]]).toEqual([
    1, 0, 0,
  ])
})
