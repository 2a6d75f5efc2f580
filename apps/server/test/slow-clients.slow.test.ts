import { once } from 'node:events'
import { Agent, get } from 'node:http'
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

/** A GET on a new connection, or on that of an agent. */
function ask(url: string, agent: Agent | false): Promise<{ status: number | string; text: string }> {
  return new Promise((resolve) => {
    const sent = get(url, { agent }, async (answer) => {
      resolve({ status: answer.statusCode ?? 0, text: (await answer.setEncoding('utf8').toArray()).join('') })
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ status: error.code ?? error.message, text: '' }))
  })
}

async function statusOf(url: string, agent: Agent | false = false): Promise<number | string> {
  return (await ask(url, agent)).status
}

async function metricsOf(url: string, agent: Agent | false = false): Promise<Record<string, number>> {
  const { text } = await ask(`${url}/metrics`, agent)
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
  for (const [state, text] of Object.entries(stalls)) {
    // One after the other: until the service waits for it, a request counts, and three at once would be too many.
    for (let n = 1; n <= 20; n++) {
      await stall(url, text)
      await expect.poll(async () => (await metricsOf(url))[connections(state)], { message: state, interval: 5 }).toBe(n)
    }
  }
  expect((await metricsOf(url))[connections('working')]).toBe(1)
  for (let n = 0; n < 20; n++) expect(await statusOf(`${url}/items`)).toBe(200)
  expect((await metricsOf(url))['resource_refused_total{limit="overload"}']).toBe(0)
})

test('unread responses are limited to 128 MiB, and their connections are closed, the longest-waiting first', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path)
  const url = await service.url()
  const body = await stall(url, STALLS.body)
  const text = await unreadRequests(url)
  const clients: Client[] = []
  // From several addresses: so many requests of one caller would be refused.
  const add = async () => clients.push(await stall(url, text, `127.0.1.${clients.length + 1}`))
  while (clients.length < 100) await add()
  let closings = 0
  const addUntilClosing = async () => {
    await add()
    closings = (await metricsOf(url))[closed('unread')] ?? 0
    return closings
  }
  await expect.poll(addUntilClosing).toBeGreaterThan(20)
  expect(await statusOf(`${url}/items`)).toBe(200)
  // A client notices only when it reads. Those that have a second response began to wait later than others.
  const oldest = clients.slice(0, Math.ceil(closings * 1.5))
  for (const { socket } of oldest) socket.resume()
  await expect.poll(() => open(oldest).filter((isOpen) => !isOpen).length).toBeGreaterThanOrEqual(closings)
  expect(body.isOpen()).toBe(true)
})

test('a thousand concurrent connections that send their requests are all served', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path)
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
  // A sixth one could be accepted before the end of the fifth is noticed.
  const fifth = new Agent({ keepAlive: true, maxSockets: 1 })
  expect(await statusOf(`${url}/items`, fifth)).toBe(200)
  expect((await metricsOf(url, fifth))[closed('total')]).toBe(1)
  await expect.poll(idle.isOpen).toBe(false)
  expect(open(others)).toEqual([true, true, true])
  fifth.destroy()
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
