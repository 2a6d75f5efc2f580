import { randomBytes } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { expect, test } from 'vitest'
import { startService, startServiceProcess } from './processes.ts'

type Service = Awaited<ReturnType<typeof startService>>

const LOADED = 20_000
const DATABASE = 'data/resource.db'

test('a backup of a busy service contains every write acknowledged before it, without gaps', async () => {
  await using service = await startServiceProcess()
  await load(service)
  const acknowledged: number[] = []
  let isDone = false
  const write = async () => {
    const { id } = await service.client.items.create.mutate({ name: 'Late', price: 1 })
    acknowledged.push(id)
  }
  const writer = async () => {
    while (!isDone) await write()
  }
  const writers = [writer(), writer(), writer(), writer()]
  await expect.poll(() => acknowledged.length).toBeGreaterThan(20)
  const before = Math.max(...acknowledged)

  const backup = await service.run(['backup', 'copy.db', '--json'])
  isDone = true
  await Promise.all(writers)
  await write()

  expect([backup.code, backup.stderr]).toEqual([0, ''])
  const last = Math.max(...acknowledged)
  const held = JSON.parse(backup.stdout).rows.items as number
  expect(held).toBeGreaterThanOrEqual(before)
  expect(held).toBeLessThan(last)
  const check = await service.run(['check', '--database', 'file:copy.db'])
  const known =
    /^(database|sound|pending migrations|users|books|items|idempotency_keys|api_keys|rate_shares|audit_entries):/
  expect(check.code).toBe(0)
  expect(
    check.stdout
      .split('\n')
      .filter((line) => known.test(line))
      .sort(),
  ).toEqual([
    ...['api_keys: 0', `audit_entries: ${held}`, 'books: 0', 'database: file:copy.db'],
    ...[`idempotency_keys: ${idempotencyKeys(backup.stdout)}`, `items: ${held}`, 'pending migrations: none'],
    ...['rate_shares: 0', 'sound: yes', 'users: 0'],
  ])

  // Killed, so that the writes after the backup are still in the write-ahead log.
  await service.stop('SIGKILL')
  const refused = await service.run(['restore', 'copy.db'])
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('Use --replace to replace it')])
  const restored = await service.run(['restore', 'copy.db', '--replace'])
  expect([restored.code, restored.stderr]).toEqual([0, ''])
  expect(readdirSync(service.path('data'))).toEqual(['resource.db'])
  await using again = await startServiceProcess(service.folder)
  const ids: number[] = []
  for await (const { id } of again.client.items.iterate({})) ids.push(id)
  expect(ids).toEqual(Array.from({ length: held }, (_, n) => n + 1))
  expect(await again.client.items.create.mutate({ name: 'Next', price: 1 })).toMatchObject({ id: last + 1 })
})

test('check reads the database of a running service', async () => {
  await using service = await startService()
  await service.client.books.create.mutate({
    title: 'Kindred',
    author: 'Octavia E. Butler',
    published_date: '1979-06-01',
  })
  const check = await service.run(['check', '--json'])
  expect([check.code, JSON.parse(check.stdout)]).toEqual([
    0,
    {
      database: 'file:./data/resource.db',
      damage: [],
      mismatch: null,
      pending: [],
      rows: expect.objectContaining({ users: 0, books: 1, items: 0 }),
    },
  ])
})

test('the --database of backup and check is not that of RESOURCE_DATABASE', async () => {
  await using service = await startService()
  const environment = { RESOURCE_DATABASE: 'file:none.db' }
  const backup = await service.run(['backup', 'copy.db'], '', environment)
  expect([backup.code, backup.stderr]).toEqual([0, ''])
  const check = await service.run(['check', '--database', 'file:copy.db', '--json'], '', environment)
  expect([check.code, JSON.parse(check.stdout).database]).toEqual([0, 'file:copy.db'])
})

test('restore does not replace a database in use, and the service keeps running', async () => {
  await using service = await startService()
  await service.run(['backup', 'copy.db'])
  await service.client.items.create.mutate({ name: 'Rug', price: 80 })
  const refused = await service.start(['restore', 'copy.db', '--replace']).ended
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('is in use. Stop the service first.')])
  expect(await service.client.items.get.query({ id: 1 })).toMatchObject({ name: 'Rug' })
  expect(await service.client.items.create.mutate({ name: 'Lamp', price: 20 })).toMatchObject({ id: 2 })
})

test('neither restore nor backup replaces a database in use, even if its first page is damaged', async () => {
  await using service = await startServiceProcess()
  await service.run(['backup', 'copy.db'])
  await service.client.items.create.mutate({ name: 'Rug', price: 80 })
  const refusal = async (...args: string[]) => {
    const { code, stderr } = await service.run([...args, '--replace'])
    return [code, stderr]
  }
  const inUse = [4, expect.stringContaining('is in use. Stop the service first.')]
  const own = [
    2,
    expect.stringContaining(`belongs to the database ${service.path(DATABASE)} itself. Name another file.`),
  ]
  expect(await refusal('backup', DATABASE, '--database', 'file:copy.db')).toEqual(inUse)
  expect(await refusal('backup', DATABASE)).toEqual(own)
  expect(await refusal('backup', `${DATABASE}-wal`)).toEqual(own)
  const firstPage = readFileSync(service.path(DATABASE)).subarray(0, 4096)
  const file = openSync(service.path(DATABASE), 'r+')
  writeSync(file, Buffer.alloc(4096, 'letter'), 0, 4096, 0)
  expect(await refusal('restore', 'copy.db')).toEqual(inUse)
  expect(await refusal('backup', DATABASE, '--database', 'file:copy.db')).toEqual(inUse)
  writeSync(file, firstPage, 0, 4096, 0)
  closeSync(file)
  expect(readdirSync(service.path('data')).sort()).toEqual(['resource.db', 'resource.db-shm', 'resource.db-wal'])
  expect(await service.client.items.create.mutate({ name: 'Lamp', price: 20 })).toMatchObject({ id: 2 })
  await service.stop('SIGKILL')
  await using again = await startServiceProcess(service.folder)
  expect(await again.client.items.list.query({})).toMatchObject({ items: [{ name: 'Rug' }, { name: 'Lamp' }] })
})

test('only the owner can read a backup, and a backup replaces a file only with --replace', async () => {
  await using service = await startService()
  expect((await service.run(['backup', 'copy.db'])).code).toBe(0)
  expect(statSync(service.path('copy.db')).mode & 0o777).toBe(0o600)
  const refused = await service.run(['backup', 'copy.db'])
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('copy.db already exists')])
  await service.client.items.create.mutate({ name: 'Rug', price: 80 })
  expect((await service.run(['backup', 'copy.db', '--replace'])).code).toBe(0)
  const check = await service.run(['check', '--database', 'file:copy.db', '--json'])
  expect(JSON.parse(check.stdout).rows.items).toBe(1)
  expect(readdirSync(service.folder).sort()).toEqual(['copy.db', 'data'])
})

test('check reports a damaged file, and backup and restore reject it', async () => {
  await using service = await startServiceProcess()
  await load(service)
  await service.run(['backup', 'good.db'])
  await service.stop('SIGTERM')
  const good = readFileSync(service.path('good.db'))
  const middle = Math.floor(good.length / 2)
  writeFileSync(
    service.path('bad.db'),
    Buffer.concat([good.subarray(0, middle), randomBytes(8192), good.subarray(middle + 8192)]),
  )
  writeFileSync(service.path('cut.db'), good)
  truncateSync(service.path('cut.db'), middle)
  writeFileSync(service.path('letter.db'), 'This is a letter. '.repeat(1000))
  const database = readFileSync(service.path(DATABASE))
  for (const name of ['bad.db', 'cut.db', 'letter.db']) {
    const check = await service.run(['check', '--database', `file:${name}`])
    expect([name, check.code, check.stdout]).toEqual([name, 8, expect.stringContaining('sound: no\n')])
    expect(check.stderr).toMatch(/malformed|not a database|Tree|never used|Freelist|wrong # of entries/)
    const backup = await service.run(['backup', 'new.db', '--database', `file:${name}`])
    expect([name, backup.code, backup.stderr]).toEqual([name, 8, expect.stringContaining(`${name} is damaged`)])
    const restored = await service.run(['restore', name, '--replace'])
    expect([name, restored.code, restored.stderr]).toEqual([name, 8, expect.stringContaining(`${name} is damaged`)])
  }
  expect(readFileSync(service.path(DATABASE)).subarray(100)).toEqual(database.subarray(100))
  expect(readdirSync(service.folder).sort()).toEqual(['bad.db', 'cut.db', 'data', 'good.db', 'letter.db'])
})

test('restore replaces a damaged database', async () => {
  await using service = await startServiceProcess()
  await service.client.items.create.mutate({ name: 'Rug', price: 80 })
  await service.run(['backup', 'copy.db'])
  await service.stop('SIGKILL')
  writeFileSync(service.path(DATABASE), 'This is a letter. '.repeat(1000))
  expect((await service.run(['restore', 'copy.db', '--replace'])).code).toBe(0)
  await using again = await startServiceProcess(service.folder)
  expect(await again.client.items.get.query({ id: 1 })).toMatchObject({ name: 'Rug' })
})

test('restore creates a missing database and its folder', async () => {
  await using service = await startService()
  await service.run(['backup', 'copy.db'])
  mkdirSync(service.path('empty'))
  const restored = await service.run(['restore', 'copy.db', '--database', 'file:new/folder/app.db'])
  expect([restored.code, restored.stderr]).toEqual([0, ''])
  expect(readdirSync(service.path('new/folder'))).toEqual(['app.db'])
})

test('check reports a backup of a newer version, and restore rejects it', async () => {
  await using service = await startService()
  await service.run(['backup', 'copy.db'])
  const file = readFileSync(service.path('copy.db'))
  // Renames the migration in the history to a later one of the same length.
  file.write('9001', file.indexOf('0001_init'))
  writeFileSync(service.path('newer.db'), file)
  const words = 'Migration 9001_init was applied to the database but is missing here'
  const check = await service.run(['check', '--database', 'file:newer.db'])
  expect([check.code, check.stderr]).toEqual([8, expect.stringContaining(words)])
  const restored = await service.run(['restore', 'newer.db', '--database', 'file:app.db'])
  expect([restored.code, restored.stderr]).toEqual([8, expect.stringContaining(words)])
  expect((await service.run(['backup', 'again.db', '--database', 'file:newer.db'])).code).toBe(0)
})

test('a missing file exits with code 3, and a PostgreSQL URL with code 2', async () => {
  await using service = await startService()
  const codes = async (...args: string[]) => {
    const { code, stderr } = await service.run(args)
    return [code, stderr]
  }
  expect(await codes('restore', 'none.db', '--replace')).toEqual([3, expect.stringContaining('does not exist')])
  expect(await codes('check', '--database', 'file:none.db')).toEqual([3, expect.stringContaining('does not exist')])
  const url = 'postgresql://resource:hunter2@localhost/resource'
  for (const args of [['backup', 'x.db'], ['restore', 'x.db'], ['check']]) {
    writeFileSync(service.path('x.db'), '')
    const [code, stderr] = await codes(...args, '--database', url)
    expect([code, stderr]).toEqual([2, expect.stringContaining('pg_dump and pg_restore')])
    expect(stderr).not.toContain('hunter2')
  }
})

async function load({ client }: Service): Promise<void> {
  for (let start = 0; start < LOADED; start += 1000) {
    const items = Array.from({ length: 1000 }, (_, n) => ({ name: `Item ${start + n}`, price: n }))
    await client.items.createMany.mutate({ items })
  }
}

function idempotencyKeys(report: string): number {
  return JSON.parse(report).rows.idempotency_keys
}
