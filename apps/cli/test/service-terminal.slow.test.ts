import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { spawn } from '@lydell/node-pty'
import { expect, test } from 'vitest'

const SERVER = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))

test('on a terminal the service says where it is and what to do next, and logs text', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'resource-terminal-'))
  const env = { PATH: process.env.PATH, PORT: '0', TERM: 'xterm' }
  const terminal = spawn(process.execPath, [SERVER], { cwd, env, cols: 200, rows: 50 })
  const exited = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)))
  let screen = ''
  terminal.onData((text) => {
    screen += stripVTControlCharacters(text).replaceAll('\r', '')
  })
  await expect.poll(() => screen).toContain('Ctrl+C')
  const [, url = ''] = /at (http:\S+)/.exec(screen) ?? []
  expect(screen.replaceAll(url, 'URL')).toBe(`Migrating the database, if it is older than the service

Resource Service 1.0.0 serves file:./data/resource.db at URL
Console: URL/console
Next: create an administrator key in the console; until then, anyone who can reach this port can change everything. Ctrl+C stops the service.

`)
  await fetch(`${url}/items`)
  await expect.poll(() => screen).toMatch(/\n\d\d:\d\d:\d\d GET \/items 200, [\d.]+ ms\n/)
  terminal.write('\x03')
  expect(await exited).toBe(0)
  await rm(cwd, { recursive: true })
})
