import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startService } from './processes.ts'

type Service = Awaited<ReturnType<typeof startService>>

async function withItems(service: Service, count: number) {
  for (let start = 0; start < count; start += 1000) {
    const size = Math.min(1000, count - start)
    const items = Array.from({ length: size }, (_, n) => ({ name: `Item ${start + n + 1}`, price: (start + n) % 7 }))
    await service.client.items.createMany.mutate({ items })
  }
}

test('with --json every error is one JSON object on stderr, with the name of its exit code', async () => {
  await using service = await startService()
  await service.client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
  writeFileSync(service.path('bad.csv'), 'name,price\nLamp,dear\n')
  for (const [args, exit_code, code] of [
    [['items', 'get', '7'], 3, 'not_found'],
    [['items', 'get', 'x'], 2, 'invalid'],
    [['items', 'lsit'], 2, 'invalid'],
    [['items'], 2, 'invalid'],
    [['items', 'list', '--colour', 'red'], 2, 'invalid'],
    [['items', 'create', '--name', 'Lamp'], 2, 'invalid'],
    [['users', 'create', '--name', 'Eve', '--email', 'ADA@example.com'], 4, 'conflict'],
    [['items', 'list', '--key', 'rsk_wrong'], 7, 'denied'],
    [['items', 'list', '--url', 'http://127.0.0.1:1', '--timeout', '0.5'], 5, 'unavailable'],
    [['items', 'list', '--all', '--page', '2'], 2, 'invalid'],
    [['items', 'list', '--fields', 'colour'], 2, 'invalid'],
    [['users', 'delete', '--where', 'status=active', '--all'], 2, 'invalid'],
    [['import', 'none.csv', '--type', 'items'], 3, 'not_found'],
    [['import', '.', '--type', 'items', '--format', 'csv'], 2, 'invalid'],
    [['items', 'list', '--fields', 'id,'], 2, 'invalid'],
    [['import', 'bad.csv', '--type', 'items'], 6, 'partial'],
    [['export', '--type', 'items', '--where', 'colour=red'], 2, 'invalid'],
    [['export', '--type', 'items', '--url', 'http://127.0.0.1:1', '--timeout', '0.5'], 5, 'unavailable'],
    [['check', '--database', 'file:none.db'], 3, 'not_found'],
  ] as const) {
    const result = await service.run([...args, '--json'])
    const { error } = JSON.parse(result.stderr)
    expect([args, result.code, error]).toEqual([
      args,
      exit_code,
      expect.objectContaining({ code, exit_code, message: expect.stringMatching(/./) }),
    ])
  }
  const { stderr } = await service.run(['items', 'create', '--price', 'dear', '--json'])
  expect(JSON.parse(stderr).error.fields).toEqual([
    { field: 'name', flag: '--name', message: 'is required' },
    { field: 'price', flag: '--price', message: 'must be a number from 0 to 1e12' },
  ])
})

test('--fields chooses the columns of tables, records, JSON and exports', async () => {
  await using service = await startService()
  await withItems(service, 2)
  const run = async (...args: string[]) => (await service.run([...args, '--fields', 'name,id'])).stdout
  expect(await run('items', 'list')).toBe('name    id\nItem 1   1\nItem 2   2\n')
  expect(await run('items', 'list', '--json')).toBe('[{"name":"Item 1","id":1},{"name":"Item 2","id":2}]\n')
  expect(await run('items', 'get', '1')).toBe('name: Item 1\nid: 1\n')
  expect(await run('items', 'update', '1', '--price', '3', '--json')).toBe('{"name":"Item 1","id":1}\n')
  expect(await run('export', '--type', 'items')).toBe('name,id\nItem 1,1\nItem 2,2\n')
})

test('--jq is refused before a write, with the command to use instead', async () => {
  await using service = await startService()
  const refused = await service.run(['items', 'create', '--name', 'Lamp', '--price', '1', '--jq', '.id'])
  expect([refused.code, refused.stderr]).toEqual([2, "--jq no longer exists: write --json | jq '.id'\n"])
  expect((await service.client.items.list.query({})).items).toEqual([])
})

test('list --all prints all pages, as a table or as JSON, in flat memory', async () => {
  await using service = await startService()
  await withItems(service, 20_500)
  const few = await service.start(['items', 'list', '--json']).ended
  const json = await service.start(['items', 'list', '--all', '--sort', 'id_desc', '--json', '--count']).ended
  expect(JSON.parse(json.stdout).map(({ id }: { id: number }) => id)).toEqual(
    Array.from({ length: 20_500 }, (_, n) => 20_500 - n),
  )
  expect(JSON.parse(json.stderr)).toEqual({ total: 20_500 })
  expect(json.peakMiB).toBeLessThan(few.peakMiB + 60)
  const table = await service.run(['items', 'list', '--all', '--price-lt', '1'])
  expect(table.stdout.split('\n').length).toBe(2 + Math.ceil(20_500 / 7))
  expect((await service.run(['books', 'list', '--all', '--json'])).stdout).toBe('[]\n')
})

test('--quiet prints results and errors, without progress and remarks', async () => {
  await using service = await startService()
  await withItems(service, 2)
  const list = await service.run(['items', 'list', '--limit', '1', '--count', '--quiet', '--fields', 'id'])
  expect([list.stdout, list.stderr]).toEqual(['id\n 1\n', ''])
  writeFileSync(service.path('items.csv'), `name,price\n${'Lamp,1\n'.repeat(10_001)}Lamp,dear\n`)
  const imported = await service.run(['import', 'items.csv', '--type', 'items', '-q'])
  expect([imported.code, imported.stdout]).toEqual([6, '10001 items imported, 1 failed\n'])
  expect(imported.stderr).toBe(`The failed rows are in ${service.path('items.csv.remaining.csv')}\n`)
})
