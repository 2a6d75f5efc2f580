import { expect, test } from 'vitest'
import { startService } from './processes.ts'

async function withItems(names: string[]) {
  const service = await startService()
  await service.client.items.createMany.mutate({ items: names.map((name) => ({ name, price: 1 })) })
  return service
}

test('update and delete take several ids; one that fails does not stop the others', async () => {
  await using service = await withItems(['A', 'B', 'C'])
  const updated = await service.run(['items', 'update', '1', '2,3', '--price', '5', '--jq', '.[].price'])
  expect([updated.code, updated.stdout]).toEqual([0, '5\n5\n5\n'])
  const deleted = await service.run(['items', 'delete', '1', '9', '2', '--json'])
  expect([deleted.code, JSON.parse(deleted.stdout).map(({ id }: { id: number }) => id)]).toEqual([6, [1, 2]])
  expect(JSON.parse(deleted.stderr).error).toMatchObject({
    code: 'partial',
    records: [{ id: 9, code: 'not_found', message: 'Item not found' }],
  })
  const none = await service.run(['items', 'delete', '8', '9'])
  expect([none.code, none.stdout, none.stderr]).toEqual([3, '', '8: Item not found\n9: Item not found\n'])
  expect((await service.client.items.list.query({})).items.map(({ id }) => id)).toEqual([3])
})

test('on a terminal a deletion shows the records and asks; only yes deletes', async () => {
  await using service = await withItems(['Lamp', 'Rug'])
  const no = await service.type(['items', 'delete', '1', '2'], [{ question: 'Delete 2 items? [y/N]', text: '' }])
  expect([no.code, no.screen]).toEqual([130, expect.stringMatching(/Lamp[\s\S]*Rug[\s\S]*Nothing was changed\./)])
  expect((await service.client.items.list.query({})).items.length).toBe(2)
  const yes = await service.type(['items', 'delete', '1'], [{ question: 'Delete 1 items? [y/N]', text: 'y' }])
  expect([yes.code, yes.screen]).toEqual([0, expect.stringContaining('Item deleted')])
  const flag = await service.type(['items', 'delete', '2', '--yes'], [])
  expect([flag.code, flag.screen]).toEqual([0, 'Item deleted\n'])
  expect((await service.client.items.list.query({})).items).toEqual([])
})

test('the revocation of a key asks on a terminal', async () => {
  await using service = await startService()
  const { key } = await service.client.keys.create.mutate({ name: 'operator', role: 'admin' })
  const environment = { RESOURCE_KEY: key }
  const no = await service.type(['keys', 'revoke', '1'], [{ question: '[y/N]', text: 'n' }], { environment })
  expect([no.code, no.screen]).toEqual([130, expect.stringContaining('Revoke a key')])
  const { stdout } = await service.run(['keys', 'get', '1', '--jq', '.revoked_at'], '', environment)
  expect(stdout).toBe('null\n')
})
