import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { API_VERSION } from '@resource/contract'
import express from 'express'
import { expect, test } from 'vitest'
import { clientPackage } from '../src/pages/client-package.ts'
import { shareTestServer } from './harness.ts'
import { createKey } from './records.ts'

const execute = promisify(execFile)
const server = shareTestServer(async (server) => {
  await createKey(server)
})

test('C64 /client.tgz is the npm package of the typed client, with its SHA-512, without a key', async () => {
  const answer = await fetch(`${server().url}/client.tgz`)
  const body = Buffer.from(await answer.arrayBuffer())
  const hash = createHash('sha512').update(body).digest('base64')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/gzip'])
  expect(answer.headers.get('repr-digest')).toBe(`sha-512=:${hash}:`)
  expect(answer.headers.get('cache-control')).toBe('no-cache')

  await using folder = await mkdtempDisposable(join(tmpdir(), 'client-package-'))
  await writeFile(join(folder.path, 'client.tgz'), body)
  await execute('tar', ['-xzf', 'client.tgz'], { cwd: folder.path })
  const manifest = JSON.parse(await readFile(join(folder.path, 'package', 'package.json'), 'utf8'))
  expect([manifest.name, manifest.version]).toEqual(['@resource/client', API_VERSION])
})

test('/client.tgz is revalidated by its hash', async () => {
  const first = await fetch(`${server().url}/client.tgz`, { method: 'HEAD' })
  const etag = first.headers.get('etag') as string
  const second = await fetch(`${server().url}/client.tgz`, {
    headers: { 'If-None-Match': etag, 'Cache-Control': 'max-age=0' },
  })
  expect([second.status, await second.text()]).toEqual([304, ''])
  expect((await fetch(`${server().url}/client.tgz`, { method: 'POST' })).status).toBe(405)
})

test('a package that has not been built is a 404 that says so', async () => {
  const app = express()
  app.get('/client.tgz', clientPackage(new URL('file:///nowhere/client.tgz')))
  let refusal: unknown
  app.use(((error, _req, res, _next) => {
    refusal = error
    res.sendStatus(404)
  }) as express.ErrorRequestHandler)
  const listener = app.listen(0, '127.0.0.1')
  try {
    await new Promise((resolve) => listener.once('listening', resolve))
    const { port } = listener.address() as { port: number }
    await fetch(`http://127.0.0.1:${port}/client.tgz`)
    expect(refusal).toMatchObject({
      status: 404,
      message: 'The client package has not been built; npm start builds it',
    })
  } finally {
    listener.close()
  }
})
