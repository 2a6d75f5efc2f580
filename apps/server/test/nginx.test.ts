import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { delimiter, join } from 'node:path'
import { json } from 'node:stream/consumers'
import { createClient } from '@resource/client'
import { freePort } from '@resource/postgres-test/free-port'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openEvents } from './event-source.ts'
import { bearer, startTestServer } from './harness.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
const nginx = folders.map((folder) => join(folder, 'nginx')).find((file) => existsSync(file))

/** A real nginx in front of `upstream`, on a port and on a Unix socket; `await using` stops it. */
async function startNginx(upstream: string, location: string) {
  const folder = await temporaryFolder()
  const port = await freePort()
  const socketPath = join(folder.path, 'nginx.sock')
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`)
  await writeFile(
    join(folder.path, 'nginx.conf'),
    `daemon off; master_process off; pid nginx.pid; error_log stderr; events {}
    http { access_log off; ${paths.join(' ')}
      server { listen unix:${socketPath}; listen 127.0.0.1:${port}; location / { proxy_pass ${upstream}; ${location} } } }`,
  )
  const child = spawn(nginx as string, ['-p', folder.path, '-c', 'nginx.conf', '-e', 'stderr'])
  let stderr = ''
  child.stderr.on('data', (text) => {
    stderr += text
  })
  const exited = once(child, 'exit')
  await expect.poll(() => existsSync(socketPath) || child.exitCode !== null).toBe(true)
  if (child.exitCode !== null) throw new Error(stderr)
  return {
    url: `http://127.0.0.1:${port}`,
    get: async (path: string, headers: Record<string, string> = {}) => {
      const sent = request({ socketPath, path, headers: { Host: 'api.example.com', ...headers } }).end()
      const [answer] = await once(sent, 'response')
      // biome-ignore lint/suspicious/noExplicitAny: tests read any response
      return { status: answer.statusCode as number, body: (await json(answer)) as any }
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await exited
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** The directives of the operating guide. */
async function guideDirectives(): Promise<string> {
  const guide = await readFile(new URL('../../../docs/guides/operating.md', import.meta.url), 'utf8')
  const [, directives = ''] = /location \/ \{\n.*proxy_pass http:.*;\n([^}]+)\}/.exec(guide) ?? []
  return directives
}

const NOT_CHECKED = 'NOT CHECKED: nginx is not installed'

// The default of nginx before 1.29.7. Later versions send HTTP/1.1, and without configuration no sign of a proxy.
const DEFAULT = 'proxy_http_version 1.0;'

test('anonymous requests through nginx with its default proxy_pass get a 401, and requests with a key are accepted', async (context) => {
  if (nginx === undefined) return context.skip(NOT_CHECKED)
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path)
  const url = await service.url()
  await using proxy = await startNginx(url, DEFAULT)
  for (const path of ['/items', '/api/users', '/trpc/items.list', '/console/session']) {
    const { status, body } = await proxy.get(path)
    expect([path, status]).toEqual([path, 401])
    expect(JSON.stringify(body)).toContain('came through a proxy (HTTP/1.0)')
  }
  expect((await proxy.get('/metrics')).status).toBe(401)
  expect((await proxy.get('/readyz')).body).toEqual({ status: 'ready' })
  expect((await fetch(`${url}/items`)).status).toBe(200)

  const { key } = await createClient({ baseUrl: url }).keys.create.mutate({ name: 'operator', role: 'admin' })
  expect((await proxy.get('/items', { Authorization: `Bearer ${key}` })).status).toBe(200)
})

test('with the configuration of the operating guide, the OpenAPI document names https', async (context) => {
  if (nginx === undefined) return context.skip(NOT_CHECKED)
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { TRUST_PROXY: 'loopback' })
  const url = await service.url()
  // The socket of this test has no TLS.
  await using proxy = await startNginx(url, (await guideDirectives()).replace('$scheme', 'https'))
  const { body } = await proxy.get('/openapi.json')
  expect(body.servers).toEqual([{ url: 'https://api.example.com' }])
})

test('the same applies through nginx with HTTP/1.1 and X-Forwarded-For', async (context) => {
  if (nginx === undefined) return context.skip(NOT_CHECKED)
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path)
  // A Unix socket has no client address, so nginx sends "unix:".
  const location = 'proxy_http_version 1.1; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;'
  await using proxy = await startNginx(await service.url(), location)
  const { status, body } = await proxy.get('/items')
  expect([status, JSON.stringify(body)]).toEqual([401, expect.stringContaining('the header X-Forwarded-For')])
})

const lamp = (price: number) => ({ name: 'Lamp', price })

test('a stream through nginx has each change at once, and pings keep it open beyond the timeouts of nginx', async (context) => {
  if (nginx === undefined) return context.skip(NOT_CHECKED)
  await using server = await startTestServer()
  const { key } = await server.client.keys.create.mutate({ name: 'operator', role: 'admin' })
  server.logIn(key)
  // With the defaults of nginx, which buffer answers, as well.
  for (const location of [await guideDirectives(), DEFAULT]) {
    await using proxy = await startNginx(server.url, `${location} proxy_read_timeout 1s;`)
    const url = `${proxy.url}/api/changes?resources=items`
    await using events = await openEvents(url, bearer(key))
    const start = await events.next()
    expect(start?.event).toBe('position')
    for (const price of [1, 2, 3]) {
      const { id } = await server.client.items.create.mutate(lamp(price))
      expect(await events.changes(1)).toMatchObject([{ type: 'items.created', record_id: id }])
    }
    await using later = await openEvents(url, { ...bearer(key), 'Last-Event-ID': `${start?.id}` })
    expect((await later.changes(3)).map(({ record }) => record.price)).toEqual([1, 2, 3])

    const answer = await fetch(url, { headers: { ...bearer(key), Accept: 'text/event-stream' } })
    const chunks = (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).values()
    let text = ''
    const seen = async (found: RegExp) => {
      while (!found.test(text)) {
        const { value, done } = await chunks.next()
        if (done) throw new Error(`The stream ended after ${text}`)
        text += value
      }
    }
    // 15 seconds between two pings become half a second: five of them take twice the timeout.
    const now = performance.now.bind(performance)
    const startMs = now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => startMs + (now() - startMs) * 40)
    onTestFinished(() => clock.mockRestore())
    await seen(/(: ping\n\n){5}/)
    clock.mockRestore()
    await server.client.items.create.mutate(lamp(4))
    await seen(/items\.created.*"price":4/)
    await chunks.return?.()
  }
})

test('a restart of the service behind nginx is survived by the changes of a client', async (context) => {
  if (nginx === undefined) return context.skip(NOT_CHECKED)
  await using folder = await temporaryFolder()
  let service = spawnService(folder.path)
  const url = await service.url()
  await using proxy = await startNginx(url, await guideDirectives())
  try {
    const direct = createClient({ baseUrl: url })
    const { key } = await direct.keys.create.mutate({ name: 'operator', role: 'admin' })
    const client = createClient({ baseUrl: url, apiKey: key })
    const statuses: number[] = []
    const onResponse = ({ status }: Response) => void statuses.push(status)
    const follower = createClient({ baseUrl: proxy.url, apiKey: key, onResponse })
    const changes = follower.changes({ after: '0-0', resources: ['items'] })
    for (const price of [1, 2]) {
      await client.items.create.mutate(lamp(price))
      expect((await changes.next()).value).toMatchObject({ record: { price } })
    }
    service.signal('SIGTERM')
    await service.exited
    const next = changes.next()
    // nginx answers with a 502 until the service is back.
    await expect.poll(() => statuses.at(-1)).toBe(502)
    service = spawnService(folder.path, { PORT: new URL(url).port })
    await service.url()
    await client.items.create.mutate(lamp(3))
    expect((await next).value).toMatchObject({ record: { price: 3 } })
    await changes.return()
  } finally {
    await service[Symbol.asyncDispose]()
  }
})
