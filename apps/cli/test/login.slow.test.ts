import { existsSync, readFileSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startService } from './processes.ts'

const FILE = '.config/resource/profiles.json'
const FAKE_KEYRING = { NODE_OPTIONS: `--import ${new URL('fake-keyring.mjs', import.meta.url).href}` }
/** Without RESOURCE_URL, which the service sets for its commands. */
const NO_URL = { RESOURCE_URL: '' }

async function withKey() {
  const service = await startService()
  const { key } = await service.client.keys.create.mutate({ name: 'operator', role: 'admin' })
  return Object.assign(service, { key })
}

test('login checks the key and stores it with the URL; later commands need neither', async () => {
  await using service = await withKey()
  const wrong = await service.run(['login', '--insecure-storage'], 'rsk_wrong\n')
  expect([wrong.code, existsSync(service.path(FILE))]).toEqual([7, false])
  const login = await service.run(['login', '--insecure-storage'], `${service.key}\n`)
  expect([login.code, login.stdout]).toEqual([
    0,
    `Logged in to ${service.url} as profile default. The key is in ${service.path(FILE)}.\n`,
  ])
  expect(statSync(service.path(FILE)).mode & 0o777).toBe(0o600)
  expect(statSync(service.path('.config/resource')).mode & 0o777).toBe(0o700)
  const list = await service.run(['keys', 'list', '--json'], '', NO_URL)
  expect([list.code, JSON.parse(list.stdout)]).toMatchObject([0, [{ name: 'operator' }]])

  expect((await service.run(['logout'], '', NO_URL)).code).toBe(0)
  expect(readFileSync(service.path(FILE), 'utf8')).not.toContain(service.key)
  expect((await service.run(['keys', 'list', '--url', service.url])).code).toBe(7)
})

test('--profile chooses between stored services; options come before it, variables after it', async () => {
  await using service = await withKey()
  await using other = await startService()
  await other.client.items.create.mutate({ name: 'Other', price: 1 })
  const login = ['login', '--insecure-storage', '--profile']
  await service.run([...login, 'one'], `${service.key}\n`)
  await service.run([...login, 'two', '--url', other.url], '\n')
  const count = async (args: string[], environment = NO_URL) =>
    JSON.parse((await service.run(['items', 'list', '--json', ...args], '', environment)).stdout).length
  expect(await count([])).toBe(1)
  expect(await count(['--profile', 'one'])).toBe(0)
  expect(await count(['--profile', 'two'], { RESOURCE_URL: service.url })).toBe(1)
  expect(await count([], { RESOURCE_URL: service.url, RESOURCE_KEY: service.key } as typeof NO_URL)).toBe(0)
  expect(await count([], { RESOURCE_PROFILE: 'one' } as unknown as typeof NO_URL)).toBe(0)

  const profiles = await service.run(['profile', 'list', '--json'])
  expect(JSON.parse(profiles.stdout)).toEqual([
    { name: 'one', url: service.url, key: 'file', current: false },
    { name: 'two', url: other.url, key: null, current: true },
  ])
  await service.run(['profile', 'use', 'one'])
  expect(await count([])).toBe(0)
  const unknown = await service.run(['items', 'list', '--profile', 'three'])
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('no profile three (profiles: one, two)')])
})

test('the key of a profile is never sent to another service', async () => {
  await using service = await withKey()
  await service.run(['login', '--insecure-storage', '--profile', 'one'], `${service.key}\n`)
  await using folder = await startService()
  await folder.client.keys.create.mutate({ name: 'first', role: 'admin' })
  for (const args of [
    ['--url', folder.url],
    ['--url', folder.url, '--profile', 'one'],
  ]) {
    const { code, stderr } = await service.run(['items', 'list', ...args], '', NO_URL)
    // An unknown key would get another message.
    expect([code, stderr]).toEqual([7, expect.stringContaining('The service requires an API key')])
  }
})

test('the key goes into the keyring of the system, and only there', async () => {
  await using service = await withKey()
  const login = await service.start(['login'], `${service.key}\n`, FAKE_KEYRING).ended
  expect([login.code, login.stdout]).toEqual([0, expect.stringContaining("The key is in the system's keyring.")])
  expect(readFileSync(service.path(FILE), 'utf8')).not.toContain(service.key)
  const environment = { ...NO_URL, ...FAKE_KEYRING }
  const list = await service.start(['keys', 'list', '--json'], '', environment).ended
  expect(JSON.parse(list.stdout).length).toBe(1)
  await service.start(['logout'], '', environment).ended
  expect(readFileSync(service.path('keyring.json'), 'utf8')).toBe('{}')
})

test('without access to the keyring, the key goes into the file', async () => {
  await using service = await withKey()
  const locked = { ...FAKE_KEYRING, KEYRING_IS_LOCKED: 'yes' }
  const login = await service.start(['login', '--json'], `${service.key}\n`, locked).ended
  expect([login.code, JSON.parse(login.stdout)]).toEqual([0, { profile: 'default', url: service.url, storage: 'file' }])
  expect(JSON.parse((await service.run(['keys', 'list', '--json'], '', NO_URL)).stdout).length).toBe(1)
})

test('login checks the key at the service, also where a database is set', async () => {
  await using service = await startService()
  const environment = { RESOURCE_DATABASE: `file:${service.path('other.db')}` }
  const wrong = await service.run(['login', '--insecure-storage'], 'rsk_wrong\n', environment)
  expect([wrong.code, wrong.stderr]).toEqual([7, expect.stringContaining('API key')])
})

test('on a terminal login asks for the URL and the key, and does not show the key', async () => {
  await using service = await withKey()
  const { code, screen } = await service.typeOnTerminal(
    ['login', '--insecure-storage'],
    [
      { question: 'URL of the service', text: '' },
      { question: 'API key', text: service.key },
    ],
    { columns: 200 },
  )
  expect([code, screen]).toEqual([0, expect.stringContaining('as profile default')])
  expect(screen).not.toContain(service.key)
})
