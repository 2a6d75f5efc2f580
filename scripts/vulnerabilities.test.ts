import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { environment, root } from './run-command.mjs'

const ADVISORY = { id: 1, url: 'the-advisory', title: 'A flaw', severity: 'high', vulnerable_versions: '>=0' }

test.for([
  [
    'in a production dependency fails the check',
    { pino: [ADVISORY] },
    1,
    /^high: pino@[\d.]+, A flaw, the-advisory\n(?: {2}.*\n)* {2}apps__server>pino\n/,
  ],
  [
    'in a development dependency is only printed',
    { knip: [ADVISORY] },
    0,
    /^high, in development only: knip@[\d.]+, A flaw, the-advisory\n/,
  ],
] as const)('a known vulnerability %s', async ([, advisories, code, output]) => {
  await using registry = await startRegistry(200, advisories)
  expect(await runCheck(registry.url)).toEqual({ code, stdout: expect.stringMatching(output) })
})

test('the check passes without output when there are no known vulnerabilities', async () => {
  await using registry = await startRegistry(200, {})
  expect(await runCheck(registry.url)).toEqual({ code: 0, stdout: '' })
})

test('an unavailable registry is reported, and counts as neither passed nor failed', async () => {
  await using registry = await startRegistry(405, {})
  const { code, stdout } = await runCheck(registry.url)
  expect([code, stdout]).toEqual([75, expect.stringContaining('The registry is unavailable')])
})

async function startRegistry(status: number, advisories: object) {
  const server = createServer((req, res) => {
    const isQuery = req.url === '/-/npm/v1/security/advisories/bulk'
    req.resume()
    res.writeHead(isQuery ? status : 404, { 'Content-Type': 'application/json' }).end(JSON.stringify(advisories))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

function runCheck(registry: string): Promise<{ code: number; stdout: string }> {
  const env = { ...environment, pnpm_config_registry: registry }
  return new Promise((done) => {
    execFile(process.execPath, [join(root, 'scripts/vulnerabilities.ts')], { cwd: root, env }, (error, stdout) => {
      done({ code: Number(error?.code ?? 0), stdout })
    })
  })
}
