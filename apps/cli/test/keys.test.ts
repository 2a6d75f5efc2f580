import { expect, test } from 'vitest'
import { startService, temporaryFolder } from './processes.ts'

const REMOTE = { HOST: '0.0.0.0', PORT: '0' }

test('a service on a public address does not start without a key, and starts after the suggested command created one', async () => {
  await using folder = await temporaryFolder()
  const refusal = await folder.serve(REMOTE).catch(({ message }: Error) => message)
  expect(refusal).toContain('There is no API key yet, and HOST=0.0.0.0 can be reached from other machines.')
  const [, suggested = ''] = /^ {2}npm run -s resource -- (.*)$/m.exec(String(refusal)) ?? []
  expect(suggested).toBe('keys create --name operator --role admin --database file:./data/resource.db')
  const created = await folder.run(suggested.split(' '))
  expect([created.code, created.stderr]).toEqual([0, ''])
  const [, key = ''] = /^key: (rsk_\w{44})$/m.exec(created.stdout) ?? []

  await using service = await folder.serve(REMOTE)
  const environment = { RESOURCE_URL: service.url.replace('0.0.0.0', '127.0.0.1'), RESOURCE_KEY: key }
  expect((await folder.run(['items', 'create', '--name', 'Lamp', '--price', '1'], environment)).code).toBe(0)
  const { RESOURCE_URL } = environment
  const anonymous = await folder.run(['items', 'list'], { RESOURCE_URL })
  expect([anonymous.code, anonymous.stdout, anonymous.stderr]).toEqual([
    7,
    '',
    expect.stringContaining('run "resource login" or set RESOURCE_KEY'),
  ])
})

test('keys are created, listed and revoked on a new database without a service', async () => {
  await using folder = await temporaryFolder()
  const onDatabase = ['--database', 'file:./new.db']
  const create = (name: string, role: string) =>
    folder.run(['keys', 'create', '--name', name, '--role', role, '--json', ...onDatabase])
  const { key, version: _, ...ada } = JSON.parse((await create('ada', 'admin')).stdout)
  const until = ['--expires-at', '2099-01-01T00:00:00Z']
  const bob = await folder.run(['keys', 'create', '--name', 'bob', '--role', 'reader', ...until, ...onDatabase])
  expect(bob.stdout).toContain('expires_at: 2099-01-01T00:00:00.000Z')
  expect(ada).toMatchObject({ id: 1, name: 'ada', role: 'admin', prefix: key.slice(0, 16), revoked_at: null })

  const rotate = ['keys', 'rotate', '1', '--grace', '60', '--json', ...onDatabase]
  const rotated = JSON.parse((await folder.run(rotate)).stdout)
  expect(rotated).toMatchObject({ id: 1, owner: null, key: expect.stringMatching(/^rsk_\w{44}$/), prefix: ada.prefix })
  expect(rotated.key).not.toBe(key)
  expect((await folder.run(['keys', 'revoke', '2', ...onDatabase])).stdout).toBe('Key revoked\n')
  const { stdout } = await folder.run(['keys', 'list', '--json'], { RESOURCE_DATABASE: 'file:./new.db' })
  expect(JSON.parse(stdout)).toMatchObject([
    { id: 1, revoked_at: null },
    { id: 2, role: 'reader', revoked_at: expect.any(String) },
  ])
  expect(stdout).not.toContain(key)
})

test('--key sets the key, and a key that is invalid or whose role is too low exits with code 7', async () => {
  await using service = await startService()
  const { key } = await service.client.keys.create.mutate({ name: 'test', role: 'reader' })
  const list = await service.run(['items', 'list', '--json', '--key', key])
  expect([list.code, list.stdout]).toEqual([0, '[]\n'])
  const write = await service.run(['items', 'create', '--name', 'Lamp', '--price', '1', '--key', key])
  expect([write.code, write.stderr]).toEqual([7, 'This needs the role writer; yours is reader\n'])
  const wrong = await service.run(['items', 'list', '--key', `${key.slice(0, -1)}-`])
  expect([wrong.code, wrong.stderr]).toEqual([7, 'This API key is unknown\n'])
})
