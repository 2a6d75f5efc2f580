import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { freePort } from '@resource/postgres-test/free-port'
import { expect, test } from 'vitest'
import { spawnService, temporaryFolder } from './service-process.ts'

const RAISE_ERRORS = fileURLToPath(new URL('raise-errors.mjs', import.meta.url))
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const environment = { NODE_OPTIONS: `--import ${RAISE_ERRORS}` }

/** Sends five of the 99 bytes of a body, then leaves the connection. */
async function abort(url: string, target: string, leave: 'destroy' | 'end' | 'resetAndDestroy') {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  const head = [`POST ${target} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json', 'Content-Length: 99']
  await new Promise((written) => socket.write(`${head.join('\r\n')}\r\n\r\n{"nam`, written))
  socket[leave]()
  if (leave === 'end') await once(socket.resume(), 'close')
}

test('an aborted request body ends only its connection, not the process or other requests', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path)
  const url = await service.url()
  const targets = [
    '/trpc/items.create',
    '/trpc/items.create,items.create?batch=1',
    '/trpc/items.nothing',
    '/items/',
    '/',
  ]
  for (const target of targets) {
    for (const leave of ['destroy', 'end', 'resetAndDestroy'] as const) await abort(url, target, leave)
  }
  const aborted = () => service.lines.filter((line) => JSON.parse(line).msg === 'request aborted').length
  await expect.poll(aborted).toBeGreaterThan(5)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics).toContain('\nresource_unexpected_errors_total 0\n')
  expect(metrics).toContain('\nresource_http_requests_open 1\n')
  service.signal('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, stderr: '' })
})

test('a CONNECT whose client resets the connection does not end the process', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path)
  const url = await service.url()
  const { hostname, port } = new URL(url)
  const pipelined = 'GET /items HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const reset = (earlier: string) =>
    new Promise<void>((closed) => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined).on('close', () => closed())
      socket.write(`${earlier}CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n`, () =>
        socket.resetAndDestroy(),
      )
    })
  await Promise.all(Array.from({ length: 200 }, (_, n) => reset(n % 2 === 0 ? '' : pipelined)))
  expect((await fetch(`${url}/items`)).status).toBe(200)
  service.signal('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, stderr: '' })
})

test('an unhandled rejection is logged as an error and counted, and the process continues', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, environment)
  const url = await service.url()
  service.signal('SIGUSR2')
  const line = await service.logged(({ msg }) => msg === 'unexpected rejection')
  expect(line).toMatchObject({ level: 50, err: { message: 'rejected by the test' } })
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('\nresource_unexpected_errors_total 1\n')
  service.signal('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, stderr: '' })
})

test('an uncaught exception is logged, lets an open request finish, and exits with code 1', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, environment)
  const url = await service.url()
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const body = '{"name":"Lamp","price":2}'
  const head = ['POST /items/ HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', 'Expect: 100-continue']
  socket.write(`${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n`)
  const [interim] = await once(socket, 'data')
  expect(String(interim)).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  service.signal('SIGALRM')
  const line = await service.logged(({ msg }) => msg === 'uncaught exception')
  expect(line).toMatchObject({ level: 60, err: { message: 'thrown by the test' } })
  socket.write(body)
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 201 /)
  expect(await service.exited).toEqual({ code: 1, stderr: '' })
})

test('an uncaught exception ends only its worker, and in the primary process it ends all workers', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { ...environment, WORKERS: '2' })
  const pids = () =>
    service.lines.map((line) => JSON.parse(line)).flatMap(({ url, pid }) => (url ? [pid as number] : []))
  await expect.poll(() => pids().length).toBe(2)
  const [first] = pids()
  process.kill(first as number, 'SIGUSR2')
  expect(await service.logged(({ msg }) => msg === 'unexpected rejection')).toMatchObject({ pid: first })
  process.kill(first as number, 'SIGALRM')
  expect(await service.logged(({ msg }) => msg === 'uncaught exception')).toMatchObject({ pid: first })
  expect(await service.logged(({ msg }) => msg.startsWith('worker died'))).toMatchObject({ worker: first, code: 1 })
  await expect.poll(() => pids().length).toBe(3)
  expect((await fetch(`${await service.url()}/healthz`)).status).toBe(200)
  service.signal('SIGALRM')
  expect(await service.exited).toEqual({ code: 1, stderr: '' })
  await expect(fetch(`${await service.url()}/healthz`)).rejects.toThrow('fetch failed')
})

test.skipIf(!existsSync('/dev/full'))(
  'a log that cannot be written because the disk is full does not end the service',
  async () => {
    await using folder = await temporaryFolder()
    const port = await freePort()
    const child = spawn(process.execPath, [MAIN], {
      cwd: folder.path,
      env: { PORT: String(port) },
      stdio: ['ignore', openSync('/dev/full', 'w'), 'inherit'],
    })
    try {
      const status = () =>
        fetch(`http://127.0.0.1:${port}/items`).then(
          (answer) => answer.status,
          () => 0,
        )
      await expect.poll(status).toBe(200)
      // Lines are written ten times a second: the first writes have failed by now, and more follow.
      const until = performance.now() + 500
      while (performance.now() < until) expect(await status()).toBe(200)
      child.kill('SIGTERM')
      await expect.poll(() => child.exitCode).toBe(0)
    } finally {
      child.kill('SIGKILL')
    }
  },
)
