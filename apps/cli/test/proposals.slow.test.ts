import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startService } from './processes.ts'

async function withKeys() {
  const service = await startService()
  await service.client.items.create.mutate({ name: 'Lamp', price: 1 })
  const { key: admin } = await service.client.keys.create.mutate({ name: 'admin', role: 'admin' })
  const created = await service.run([
    'keys',
    'create',
    '--name',
    'agent',
    '--role',
    'proposer',
    '--json',
    '--key',
    admin,
  ])
  const { key: agent } = JSON.parse(created.stdout)
  return {
    service,
    agent: (...args: string[]) => service.run([...args, '--key', agent]),
    admin: (...args: string[]) => service.run([...args, '--key', admin]),
    type: (args: string[], question: string, text: string) =>
      service.type([...args, '--key', admin], [{ question, text }]),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

const table = 'id  name  price  category  version\n 1  Lamp  1 → 2  -               1\n1 item would be updated\n'

test('--propose lets others apply a write, which show and apply print before and after', async () => {
  await using all = await withKeys()
  const { agent, admin } = all
  const proposed = await agent('items', 'update', '1', '--price', '2', '--propose', 'Dearer')
  expect([proposed.code, proposed.stdout]).toEqual([0, `${table}Proposal 1: Dearer\n`])
  const listed = await agent('proposals', 'list', '--fields', 'id,status,operation,proposer,reason')
  expect(listed.stdout).toBe('id  status  operation     proposer  reason\n 1  open    items.update  key 2     Dearer\n')
  const denied = await agent('proposals', 'apply', '1', '--yes')
  expect([denied.code, denied.stderr]).toEqual([7, 'This needs the role writer; yours is proposer\n'])
  const shown = await admin('proposals', 'show', '1')
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining(`\n\n${table}`)])
  const unconfirmed = await admin('proposals', 'apply', '1')
  expect([unconfirmed.code, unconfirmed.stderr]).toEqual([
    2,
    expect.stringContaining(`${table}Apply proposal 1 of key 2? Add --yes to confirm.`),
  ])
  const no = await all.type(['proposals', 'apply', '1'], 'Apply proposal 1 of key 2? [y/N]', 'n')
  expect([no.code, no.screen]).toEqual([130, expect.stringContaining('Nothing was changed.')])
  const yes = await all.type(['proposals', 'apply', '1'], 'Apply proposal 1 of key 2? [y/N]', 'y')
  expect([yes.code, yes.screen]).toEqual([
    0,
    expect.stringMatching(/Proposal 1 applied\nUndo: resource undo [\da-f-]{36}\n/),
  ])
  expect((await admin('items', 'get', '1', '--fields', 'price', '--json')).stdout).toBe('{"price":2}\n')
  const again = await admin('proposals', 'reject', '1')
  expect([again.code, again.stderr]).toEqual([4, 'Proposal 1 is already applied\n'])
})

test('a proposal that would do something else by now is shown as such, and not applied', async () => {
  await using all = await withKeys()
  const { agent, admin } = all
  const filtered = ['items', 'update', '--where', 'price_lte=1', '--multiply', 'price=2', '--propose', 'Dearer']
  expect((await agent(...filtered)).stdout).toBe(`${table}Proposal 1: Dearer\n`)
  await admin('items', 'update', '1', '--name', 'Sun')
  const { stdout } = await admin('proposals', 'show', '1')
  expect(stdout).toContain(
    'By now it would do something else:\nid  name  price  category  version\n 1  Sun   1 → 2  -               2\n1 item would be updated\n',
  )
  const stale = await admin('proposals', 'apply', '1', '--yes')
  expect([stale.code, stale.stderr]).toEqual([4, 'The proposal would no longer do what it shows\n'])
  await admin('items', 'delete', '1')
  expect((await admin('proposals', 'show', '1')).stdout).toContain(
    '\nBy now it would do something else:\nNothing would change\n',
  )
  const withdrawn = await agent('proposals', 'withdraw', '1')
  expect([withdrawn.code, withdrawn.stdout]).toEqual([0, 'Proposal 1 withdrawn\n'])
  expect((await admin('proposals', 'list', '--status', 'withdrawn', '--json')).stdout).toContain('"id":1')
  const unknown = await admin('proposals', 'show', 'x')
  expect([unknown.code, unknown.stderr]).toEqual([2, 'id: must be a whole number\n'])
  const key = await agent('keys', 'create', '--name', 'x', '--role', 'admin', '--propose', 'More rights')
  expect([key.code, key.stderr]).toEqual([2, 'operation: must write a collection, or undo a request\n'])
})

test('a proposer imports nothing', async () => {
  await using all = await withKeys()
  const { service, agent, admin } = all
  writeFileSync(service.path('items.csv'), 'name,price\nRug,2\n')
  const { code, stderr } = await agent('import', 'items.csv', '--type', 'items')
  expect([code, stderr]).toEqual([7, expect.stringContaining('This needs the role writer; yours is proposer')])
  expect((await admin('items', 'list', '--fields', 'name', '--json')).stdout).toBe('[{"name":"Lamp"}]\n')
})
