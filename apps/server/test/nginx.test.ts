import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { delimiter, join } from 'node:path'
import { json } from 'node:stream/consumers'
import { createClient } from '@resource/client'
import { expect, test } from 'vitest'
import { spawnService, temporaryFolder } from './service-process.ts'

const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
const nginx = folders.map((folder) => join(folder, 'nginx')).find((file) => existsSync(file))

/** A real nginx in front of `upstream`, on a Unix socket, which needs no port; `await using` stops it. */
async function startNginx(upstream: string, location: string) {
  const folder = await temporaryFolder()
  const socketPath = join(folder.path, 'nginx.sock')
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`)
  await writeFile(
    join(folder.path, 'nginx.conf'),
    `daemon off; master_process off; pid nginx.pid; error_log stderr; events {}
    http { access_log off; ${paths.join(' ')}
      server { listen unix:${socketPath}; location / { proxy_pass ${upstream}; ${location} } } }`,
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
  const guide = await readFile(new URL('../../../docs/guides/operating.md', import.meta.url), 'utf8')
  const [, directives = ''] = /location \/ \{\n.*proxy_pass http:.*;\n([^}]+)\}/.exec(guide) ?? []
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { TRUST_PROXY: 'loopback' })
  const url = await service.url()
  // The socket of this test has no TLS.
  await using proxy = await startNginx(url, directives.replace('$scheme', 'https'))
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
