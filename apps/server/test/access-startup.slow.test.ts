import { hostname } from 'node:os'
import { createClient } from '@resource/client'
import { createLocalClient } from '@resource/server/local'
import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { leastMs } from './least.ts'
import { exchangeBytes, parseAnswers } from './raw-http.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

const REMOTE = { HOST: '0.0.0.0' }
const REFUSAL = /^There is no API key yet, and HOST=\S+ can be reached from other machines\./

test('bound to 0.0.0.0 without a key the service does not start and reports what to do', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, REMOTE)
  const { code, stderr } = await service.exited
  expect(code).toBe(1)
  expect(stderr).toMatch(REFUSAL)
  expect(stderr).toContain('keys create --name operator --role admin --database file:./data/resource.db')
  expect(stderr).not.toMatch(/^\s+at /m)
  expect(service.lines.join()).not.toContain('serving at')
})

test.each(['::', '192.0.2.1', 'resource.example.com'])('bound to %s without a key the service does not start', (HOST) =>
  expect(startTestServer({ HOST })).rejects.toThrow(REFUSAL),
)

test('several workers print that refusal once', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { ...REMOTE, WORKERS: '2' })
  const { code, stderr } = await service.exited
  expect([code, stderr.match(/There is no API key yet/g)]).toEqual([1, ['There is no API key yet']])
})

test('ALLOW_ANONYMOUS=true permits the start, and the log warns', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { ...REMOTE, ALLOW_ANONYMOUS: 'true' })
  const url = (await service.url()).replace('0.0.0.0', '127.0.0.1')
  expect((await fetch(`${url}/items`)).status).toBe(200)
  expect(await service.logged(({ level }) => level === 40)).toMatchObject({
    host: '0.0.0.0',
    msg: 'ALLOW_ANONYMOUS is set: anyone who can reach this address can read, write and delete everything',
  })
})

for (const [Host, status] of [
  ['192.168.1.7:3000', 200],
  ['[fd00::7]:3000', 200],
  ['localhost', 200],
  ['nas:3000', 200],
  [`${hostname()}.local`, 200],
  ['api.example.com:3000', 200],
  ['rebound.example.com:3000', 403],
  ['192.168.1.7.example.com', 403],
] as const) {
  test(`with ALLOW_ANONYMOUS a request for the host ${Host} gets a ${status} (DNS rebinding)`, async () => {
    const environment = { HOST: '0.0.0.0', ALLOW_ANONYMOUS: 'true', ALLOWED_HOSTS: 'api.example.com' }
    await using server = await startTestServer(environment)
    for (const target of ['/items', '/trpc/items.list', '/console']) {
      const bytes = Buffer.from(`GET ${target} HTTP/1.1\r\nHost: ${Host}\r\nConnection: close\r\n\r\n`)
      const [answer] = parseAnswers(await exchangeBytes(server.url.replace('0.0.0.0', '127.0.0.1'), bytes))
      if (status === 403) expect([target, answer?.status]).toEqual([target, 403])
      else expect(answer?.status).not.toBe(403)
    }
  })
}

test('C50 ALLOWED_HOSTS applies on loopback as well', async () => {
  await using server = await startTestServer({ ALLOWED_HOSTS: 'dev.example.com' })
  const send = async (host: string) => {
    const bytes = Buffer.from(`GET /items HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    return parseAnswers(await exchangeBytes(server.url, bytes))[0]?.status
  }
  expect([await send('Dev.example.com:3000'), await send('192.0.2.1'), await send('nas')]).toEqual([200, 403, 403])
})

test('without a key the start warns once for all workers that access is open; with a key it does not warn', async () => {
  const warning = {
    msg: 'no API key exists: anyone who can reach this port can read, write and delete everything',
    create: 'npm run -s resource -- keys create --name operator --role admin --database file:./data/resource.db',
  }
  await using folder = await temporaryFolder()
  {
    await using service = spawnService(folder.path, { WORKERS: '2' })
    const url = await service.url()
    const lines = () => service.lines.map((line) => JSON.parse(line))
    await expect.poll(() => lines().filter((line) => line.url !== undefined).length).toBe(2)
    expect(lines().filter(({ level }) => level >= 40)).toEqual([expect.objectContaining(warning)])
    await createClient({ baseUrl: url }).keys.create.mutate({ name: 'operator', role: 'admin' })
  }
  await using service = spawnService(folder.path)
  await service.url()
  expect(service.lines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40)).toEqual([])
})

test('bound to a non-loopback address without a proxy, the start warns once that keys cross the network unencrypted', async () => {
  await using folder = await temporaryFolder()
  await using local = await createLocalClient({ databaseUrl: `file:${folder.path}/data/resource.db` })
  await local.keys.create.mutate({ name: 'operator', role: 'admin' })
  const warnings = async (workers: number, environment: Record<string, string>) => {
    await using service = spawnService(folder.path, { WORKERS: String(workers), ...environment })
    const lines = () => service.lines.map((line) => JSON.parse(line))
    await expect.poll(() => lines().filter((line) => line.url !== undefined).length).toBe(workers)
    return lines().filter(({ level }) => level >= 40)
  }
  expect(await warnings(2, REMOTE)).toEqual([
    expect.objectContaining({
      host: '0.0.0.0',
      msg: 'keys and records cross the network unencrypted: put a TLS-terminating proxy in front of the service',
    }),
  ])
  expect(await warnings(1, { ...REMOTE, TRUST_PROXY: 'loopback' })).toEqual([])
})

test('with TRUST_PROXY the start warns that every request is refused until a key exists', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { TRUST_PROXY: 'loopback' })
  const url = await service.url()
  expect(await service.logged(({ level }) => level === 40)).toMatchObject({
    msg: 'no API key exists, and TRUST_PROXY is set: every request is refused until a key is created',
  })
  expect((await fetch(`${url}/items`)).status).toBe(401)
})

test('an identity provider permits the start without a key, and requests without a token get a 401', async () => {
  await using folder = await temporaryFolder()
  const provider = { OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_AUDIENCE: 'resource' }
  await using service = spawnService(folder.path, { ...REMOTE, ...provider })
  const url = (await service.url()).replace('0.0.0.0', '127.0.0.1')
  expect((await fetch(`${url}/items`)).status).toBe(401)
})

test('a key permits the start even if it is revoked, and anonymous requests get a 401', async () => {
  await using folder = await temporaryFolder()
  {
    await using local = await createLocalClient({ databaseUrl: `file:${folder.path}/data/resource.db` })
    const { id } = await local.keys.create.mutate({ name: 'operator', role: 'admin' })
    await local.keys.revoke.mutate({ id })
  }
  await using service = spawnService(folder.path, REMOTE)
  const url = (await service.url()).replace('0.0.0.0', '127.0.0.1')
  expect((await fetch(`${url}/items`)).status).toBe(401)
})

test('a key revoked by one process is refused by another soon after', async () => {
  await using folder = await temporaryFolder()
  await using first = spawnService(folder.path)
  const here = await first.url()
  const admin = await createClient({ baseUrl: here }).keys.create.mutate({ name: 'operator', role: 'admin' })
  await using second = spawnService(folder.path)
  const there = await second.url()
  const client = createClient({ baseUrl: here, apiKey: admin.key })
  const refusedMs = async () => {
    const { id, key } = await client.keys.create.mutate({ name: 'leaked', role: 'writer' })
    const status = async () => (await fetch(`${there}/items`, { headers: { Authorization: `Bearer ${key}` } })).status
    expect(await status()).toBe(200)
    await client.keys.revoke.mutate({ id })
    const startMs = performance.now()
    await expect.poll(status, { interval: 10 }).toBe(401)
    return performance.now() - startMs
  }
  // The limit is one second, which keyring.test.ts asserts; the rest allows for a busy machine.
  expect(await leastMs(5_000, refusedMs)).toBeLessThan(5_000)
})
