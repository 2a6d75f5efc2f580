import { createClient } from '@resource/client'
import { createLocalClient } from '@resource/server/local'
import { expect, test } from 'vitest'
import { spawnService, temporaryFolder } from './service-process.ts'

const REMOTE = { HOST: '0.0.0.0' }
const REFUSAL = /^There is no API key yet, and HOST=\S+ can be reached from other machines\./

for (const HOST of ['0.0.0.0', '::', '192.0.2.1', 'resource.example.com']) {
  test(`bound to ${HOST} without a key the service does not start, and says what to do`, async () => {
    await using folder = await temporaryFolder()
    await using service = spawnService(folder.path, { HOST })
    const { code, stderr } = await service.exited
    expect(code).toBe(1)
    expect(stderr).toMatch(REFUSAL)
    expect(stderr).toContain('keys create --name operator --role admin --database file:./data/resource.db')
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(service.lines.join()).not.toContain('serving at')
  })
}

test('with several workers that is said once', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { ...REMOTE, WORKERS: '2' })
  const { code, stderr } = await service.exited
  expect([code, stderr.match(/There is no API key yet/g)]).toEqual([1, ['There is no API key yet']])
})

test('ALLOW_ANONYMOUS=true lets it start, and the log warns', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { ...REMOTE, ALLOW_ANONYMOUS: 'true' })
  const url = (await service.url()).replace('0.0.0.0', '127.0.0.1')
  expect((await fetch(`${url}/items`, { headers: { Host: 'any.example.com' } })).status).toBe(200)
  expect(await service.logged(({ level }) => level === 40)).toMatchObject({
    host: '0.0.0.0',
    msg: 'ALLOW_ANONYMOUS: whoever reaches this address may read, write and remove everything',
  })
})

test('an identity provider lets it start without a key, and nobody in without a token', async () => {
  await using folder = await temporaryFolder()
  const provider = { OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_AUDIENCE: 'resource' }
  await using service = spawnService(folder.path, { ...REMOTE, ...provider })
  const url = (await service.url()).replace('0.0.0.0', '127.0.0.1')
  expect((await fetch(`${url}/items`)).status).toBe(401)
})

test('a key lets it start, a revoked one too: nobody comes in', async () => {
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

test('a key that one process revokes, another refuses soon after', async () => {
  await using folder = await temporaryFolder()
  await using first = spawnService(folder.path)
  const here = await first.url()
  const admin = await createClient({ baseUrl: here }).keys.create.mutate({ name: 'operator', role: 'admin' })
  await using second = spawnService(folder.path)
  const there = await second.url()
  const client = createClient({ baseUrl: here, apiKey: admin.key })
  const { id, key } = await client.keys.create.mutate({ name: 'leaked', role: 'writer' })
  const status = async () => (await fetch(`${there}/items`, { headers: { Authorization: `Bearer ${key}` } })).status
  expect(await status()).toBe(200)
  await client.keys.revoke.mutate({ id })
  const revoked = performance.now()
  // Its second, which access.test.ts measures, and what a busy machine adds.
  while ((await status()) === 200) expect(performance.now() - revoked).toBeLessThan(5_000)
  expect(await status()).toBe(401)
})
