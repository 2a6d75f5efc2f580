import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startService } from './processes.ts'

const UNKNOWN = '01989f2e-6a00-7c3e-8a51-3f0f4d1c9b20'

type Service = Awaited<ReturnType<typeof startService>>

const pricesOf = async ({ client }: Service) =>
  (await client.items.list.query({})).items.map(({ id, name, price }) => `${id} ${name} ${price}`)

/** The command that a write has shown. */
const commandOf = (stderr: string) => /^Undo: resource (undo .*)$/m.exec(stderr)?.[1]?.split(' ') ?? []

/** A file of items that are imported in three requests. */
function writeItems(service: Service): string[] {
  writeFileSync(service.path('items.csv'), `name,price\n${[1, 2, 3, 4, 5].map((n) => `Item ${n},${n}\n`).join('')}`)
  return ['import', 'items.csv', '--type', 'items', '--chunk-size', '2']
}

test('every write shows how it is undone, and that undoes it, and its own undo', async () => {
  await using service = await startService()
  const create = await service.run(['items', 'create', '--name', 'Lamp', '--price', '3'])
  const update = await service.run(['items', 'update', '1', '--price', '4', '--json'])
  const { request_id } = JSON.parse(update.stderr)
  expect(commandOf(create.stderr)[1]).toMatch(/^[\da-f-]{36}$/)
  const undone = await service.run(['undo', request_id, '--yes'])
  expect([undone.code, undone.stdout, await pricesOf(service)]).toEqual([0, '1 updated\n', ['1 Lamp 3']])
  const redone = await service.run([...commandOf(undone.stderr), '--yes', '--json'])
  expect([redone.code, JSON.parse(redone.stdout)]).toEqual([
    0,
    { request_id: expect.any(String), restored: 0, updated: 1, deleted: 0 },
  ])
  expect(await pricesOf(service)).toEqual(['1 Lamp 4'])
  const quiet = await service.run(['items', 'update', '1', '--price', '5', '--quiet'])
  expect([quiet.code, quiet.stderr]).toEqual([0, ''])
  for (const args of [
    ['update', '1', '--price', '5'],
    ['update', '1', '9', '--price', '6'],
    ['delete', '1', '9', '--yes'],
  ]) {
    expect(commandOf((await service.run(['items', ...args])).stderr), args.join(' ')).toHaveLength(2)
  }
  expect((await service.run(['items', 'delete', '9', '8', '--yes'])).stderr).toBe('2 items not found\n')
})

test('undo shows the changes and asks, and --preview changes nothing', async () => {
  await using service = await startService()
  await service.run(['items', 'create', '--name', 'Lamp', '--price', '3'])
  const undo = commandOf((await service.run(['items', 'update', '1', '--price', '4'])).stderr)
  const preview = await service.run([...undo, '--preview'])
  expect([preview.code, preview.stdout]).toEqual([
    0,
    'id  name  price  category  version\n 1  Lamp  4 → 3  -               2\n1 item would be updated\n',
  ])
  const refused = await service.run(undo)
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('Undo the changes of 1 item? Add --yes to confirm.'),
  ])
  expect(await pricesOf(service)).toEqual(['1 Lamp 4'])
  const typed = await service.type(undo, [{ question: 'Undo the changes of 1 item? [y/N]', text: 'y' }])
  expect([typed.code, typed.screen]).toEqual([0, expect.stringContaining('1 updated\n')])
  expect(await pricesOf(service)).toEqual(['1 Lamp 3'])
})

test('an import is undone as one, and again after that is undone', async () => {
  await using service = await startService()
  const imported = await service.run(writeItems(service))
  const undo = commandOf(imported.stderr)
  expect([imported.code, undo.length]).toEqual([0, 3])
  const preview = await service.run([...undo, '--preview', '--json'])
  expect(JSON.parse(preview.stdout).map(({ changes }: { changes: number }) => changes)).toEqual([1, 2, 2])
  const typed = await service.type(undo, [{ question: 'Undo 3 requests? [y/N]', text: 'y' }])
  expect([typed.code, typed.screen]).toEqual([0, expect.stringContaining('3 requests undone: 5 deleted\n')])
  const again = await service.run([...undo, '--yes'])
  expect([again.code, again.stdout, again.stderr]).toEqual([0, 'Nothing is left to undo\n', ''])
  const redone = await service.run([...commandOf(typed.screen), '--yes'])
  expect([redone.stdout, await pricesOf(service)]).toEqual([
    '3 requests undone: 5 restored\n',
    ['1 Item 1 1', '2 Item 2 2', '3 Item 3 3', '4 Item 4 4', '5 Item 5 5'],
  ])
  expect((await service.run([...undo, '--yes', '--json'])).code).toBe(0)
  expect(await pricesOf(service)).toEqual([])
})

test('an undo stops at what has changed since, says what it is, and continues', async () => {
  await using service = await startService()
  const undo = [...commandOf((await service.run(writeItems(service))).stderr), '--yes']
  const changed = await service.run(['items', 'update', '3', '--price', '9'])
  const stopped = await service.run(undo)
  expect([stopped.code, stopped.stderr]).toEqual([
    6,
    'items[3].price: was changed since\nStopped after 1 of 3 requests. Run the same command to continue.\n',
  ])
  const json = await service.run([...undo, '--json'])
  expect([json.code, JSON.parse(json.stderr).error]).toMatchObject([4, { code: 'conflict', done: 0, total: 2 }])
  await service.run([...commandOf(changed.stderr), '--yes'])
  expect((await service.run(undo)).stdout).toBe('2 requests undone: 4 deleted\n')
})

test('undo refuses what is no request', async () => {
  await using service = await startService()
  const outcome = async (...args: string[]) => {
    const { code, stderr } = await service.run(['undo', '--yes', ...args])
    return [code, stderr]
  }
  const rule = 'Either the id of a request or --group is required\n'
  expect(await outcome()).toEqual([2, rule])
  expect(await outcome(UNKNOWN, '--group', UNKNOWN)).toEqual([2, rule])
  expect(await outcome(UNKNOWN)).toEqual([3, 'The audit log has no changes of this request\n'])
  expect(await outcome('x')).toEqual([2, expect.stringContaining('must be the X-Request-Id of the answer to a write')])
  expect(await outcome('--group', 'x')).toEqual([2, expect.stringContaining('group: must be a UUID')])
})

test('a change of more than 10,000 records is made in steps, stops at what others have changed, and is undone as one', async () => {
  await using service = await startService()
  const { items } = service.client
  const rows = Array.from({ length: 1000 }, (_, n) => ({ name: `Item ${n}`, price: 1, category: 'lamp' }))
  for (let n = 0; n < 11; n++) await items.createMany.mutate({ items: rows }, { attemptTimeoutMs: 30_000 })
  const total = async (price: number) =>
    (await items.list.query({ price_gte: price, price_lt: price + 1, count: true, limit: 1 })).total
  const raise = ['items', 'update', '--where', 'category=lamp', '--add', 'price=1']
  const raised = await service.run([...raise, '--yes'])
  expect([raised.code, raised.stdout, await total(2)]).toEqual([0, '11000 items updated\n', 11_000])
  expect(raised.stderr).toMatch(/^updated 10000 of 11000 .*\nUndo: resource undo --group [\da-f-]{36}\n$/)
  const undone = await service.run([...commandOf(raised.stderr), '--yes'])
  expect([undone.code, undone.stdout, await total(1)]).toEqual([0, '44 requests undone: 11000 updated\n', 11_000])

  const another = async () => {
    await items.update.mutate({ id: 10_999, price: 7 })
    return 'y'
  }
  const stopped = await service.type(raise, [{ question: 'Update 11000 items: price + 1? [y/N]', text: another }])
  expect([stopped.code, stopped.screen]).toEqual([6, expect.stringContaining('Stopped after 10750 of 11000 items.')])
  expect([await total(2), await total(1)]).toEqual([10_750, 249])
  const back = await service.run([...commandOf(stopped.screen), '--yes', '--json'])
  expect([JSON.parse(back.stdout), await total(1)]).toMatchObject([{ requests: 43, updated: 10_750 }, 10_999])
  const json = await service.run(['items', 'delete', '--all', '--yes', '--json'])
  expect([JSON.parse(json.stdout), JSON.parse(json.stderr)]).toMatchObject([
    { group: expect.any(String), deleted: 11_000 },
    { group: expect.any(String) },
  ])
})
