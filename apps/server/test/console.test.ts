import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import { expect, test } from 'vitest'
import { consolePages } from '../src/console/console-pages.ts'

/** Serves the console from a folder of `files`; other paths get a 404 "elsewhere". */
async function serveConsole(files: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'console-'))
  await mkdir(join(folder, 'assets'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const app = express()
  app.use(consolePages(folder))
  app.use((_req, res) => void res.status(404).send('elsewhere'))
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    get: (path: string) => fetch(`http://127.0.0.1:${port}${path}`),
    [Symbol.asyncDispose]: async () => {
      server.close()
      await rm(folder, { recursive: true })
    },
  }
}

const built = { 'index.html': '<!doctype html>the page', 'assets/main-abc.js': 'run()' }

test('C60 every path of the console that is not a file serves its page, under the strict policy', async () => {
  await using server = await serveConsole(built)
  for (const path of ['/console', '/console/', '/console/users?open=7', '/console/no/such/view']) {
    const response = await server.get(path)
    expect([response.status, await response.text()], path).toEqual([200, '<!doctype html>the page'])
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    )
  }
})

test('the files of the console are cached for a year, and a file of another build is a 404', async () => {
  await using server = await serveConsole(built)
  const script = await server.get('/console/assets/main-abc.js')
  expect([script.status, await script.text()]).toEqual([200, 'run()'])
  expect(script.headers.get('content-type')).toMatch(/^text\/javascript/)
  expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect((await server.get('/console/assets/main-old.js')).status).toBe(404)
})

test('without a built console its paths are unknown paths', async () => {
  await using server = await serveConsole({})
  const response = await server.get('/console')
  expect([response.status, await response.text()]).toEqual([404, 'elsewhere'])
})
