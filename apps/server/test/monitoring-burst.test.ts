import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import { startTestServer } from './harness.ts'

const CONNECTIONS = 1_000

test('a burst of health checks on 1,000 connections is read in several turns of the event loop, which serve others', async () => {
  await using server = await startTestServer()
  const { hostname, port } = new URL(server.url)
  const open = async () => {
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    return socket
  }
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, open))
  const check = (socket: Socket) => {
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return once(socket, 'data') as Promise<[Buffer]>
  }
  await Promise.all(sockets.map(check))

  let inTurn = 0
  let total = 0
  let most = 0
  const count = () => {
    total++
    most = Math.max(most, ++inTurn)
  }
  let isDone = false
  const turn = () => {
    inTurn = 0
    if (!isDone) setImmediate(turn)
  }
  subscribe('http.server.request.start', count)
  const pause = vi.spyOn(Socket.prototype, 'pause')
  turn()
  // All are in the kernel's buffers before the service reads any.
  const answers = await Promise.all(sockets.map(check))
  isDone = true
  const pauses = pause.mock.calls.length
  pause.mockRestore()
  unsubscribe('http.server.request.start', count)

  const statuses = answers.map(([data]) => data.toString('latin1', 0, 12))
  expect(new Set(statuses)).toEqual(new Set(['HTTP/1.1 200']))
  expect(total).toBe(CONNECTIONS)
  expect(most).toBeLessThan(500)
  // Of each connection before its request, after it, and once more if others wait then.
  expect(pauses).toBeGreaterThan(0)
  expect(pauses).toBeLessThanOrEqual(3 * CONNECTIONS)
  for (const socket of sockets) socket.destroy()
})
