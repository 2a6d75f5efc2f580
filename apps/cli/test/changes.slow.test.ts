import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startService, startServiceProcess } from './processes.ts'

const CLI = fileURLToPath(new URL('../src/main.mjs', import.meta.url))
const LAMP = { name: 'Lamp', price: 24.5 }

/** Starts a command whose stdout is a pipe. */
function follow(url: string, args: string[]) {
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { RESOURCE_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let stderr = ''
  child.stderr.on('data', (text) => {
    stderr += text
  })
  const ended = once(child, 'close').then(([code]) => ({ code, stderr }))
  return {
    child,
    ended,
    line: async () => String((await lines.next()).value),
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}

test('changes prints a line for each change, and the cursor after the last one', async () => {
  await using service = await startService()
  await service.client.items.create.mutate(LAMP)
  await service.client.books.create.mutate({ title: 'Emma', author: 'Jane Austen', published_date: '1815-12-23' })
  await service.client.items.delete.mutate({ id: 1 })
  const { changes } = await service.client.changes.list.query({ after: '0-0' })
  const last = changes[2]?.cursor
  const all = await service.run(['changes', '--after', '0-0'])
  const at = /\d{4}-\d\d-\d\dT[\d:.]+Z/g
  expect(all.stdout.replace(at, 'AT')).toBe(
    'AT  items.created  1  1\nAT  books.created  1  1\nAT  items.deleted  1  1\n',
  )
  expect([all.code, all.stderr]).toEqual([0, `More: --after ${last}\n`])
  const json = await service.run(['changes', '--after', '0-0', '--resources', 'items', '--json'])
  expect(json.stdout).toBe(`${JSON.stringify(changes[0])}\n${JSON.stringify(changes[2])}\n`)
  expect(json.stderr).toBe(`{"cursor":"${last}"}\n`)
  const none = await service.run(['changes', '--fields', 'record_id,record'])
  expect([none.stdout, none.stderr]).toEqual(['', `More: --after ${last}\n`])
  const some = await service.run(['changes', '--after', changes[1]?.cursor ?? '', '--fields', 'record_id,record'])
  expect(some.stdout).toBe('1  -\n')
  const local = await service.run([
    'changes',
    '--after',
    '0-0',
    '--database',
    `file:${service.path('data/resource.db')}`,
  ])
  expect(local.stdout).toBe(all.stdout)
})

test('changes names what is wrong with an option', async () => {
  await using service = await startService()
  const unknown = await service.run(['changes', '--resources', 'items,keys'])
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    '--resources: must be of users, books, items, separated by commas\n',
  ])
  const invalid = await service.run(['changes', '--after', 'x'])
  expect([invalid.code, invalid.stderr]).toEqual([2, '--after: must be a cursor of the feed\n'])
  const gone = await service.run(['changes', '--after', '1-a', '--json'])
  expect([gone.code, JSON.parse(gone.stderr).error]).toMatchObject([3, { code: 'not_found', reason: 'cursor_reset' }])
  const missing = await service.run(['items', 'get', '9', '--json'])
  expect(missing.stderr).toBe('{"error":{"code":"not_found","exit_code":3,"message":"Item not found"}}\n')
})

test('changes and mirror, also with --follow, fail within seconds if the service cannot be reached', async () => {
  await using service = await startService()
  const { client, run, path } = service
  await client.items.create.mutate(LAMP)
  const startMs = performance.now()
  for (const command of [
    ['changes'],
    ['changes', '--follow', '--after', '0-0'],
    ['mirror', path('copy.db'), '--follow'],
  ]) {
    const { code, stderr } = await run(command, undefined, { RESOURCE_URL: 'http://127.0.0.1:1' })
    expect([code, stderr]).toEqual([5, expect.stringContaining('at http://127.0.0.1:1')])
  }
  expect(performance.now() - startMs).toBeLessThan(15_000)
})

test('changes --follow prints changes as they happen, also after a restart, and ends with 0 at Ctrl-C', async () => {
  await using service = await startServiceProcess()
  await service.client.items.create.mutate(LAMP)
  using command = follow(service.url, ['changes', '--follow', '--after', '0-0', '--json'])
  expect(JSON.parse(await command.line())).toMatchObject({ type: 'items.created', record: { ...LAMP, id: 1 } })
  await service.stop('SIGKILL')
  await using second = await startServiceProcess(service.folder, new URL(service.url).port)
  await second.client.items.update.mutate({ id: 1, price: 20 })
  const change = JSON.parse(await command.line())
  expect(change).toMatchObject({ type: 'items.updated', version: 2, record: { price: 20 } })
  command.child.kill('SIGINT')
  expect(await command.ended).toEqual({ code: 0, stderr: `{"cursor":"${change.cursor}"}\n` })
})

test('changes --follow ends with 0 when the reader of its pipe goes away', async () => {
  await using service = await startService()
  await service.client.items.create.mutate(LAMP)
  using command = follow(service.url, ['changes', '--follow', '--after', '0-0'])
  expect(await command.line()).toMatch(/items\.created {2}1 {2}1$/)
  command.child.stdout.destroy()
  await service.client.items.update.mutate({ id: 1, price: 20 })
  expect((await command.ended).code).toBe(0)
})

/** The records of a table. */
function rows(file: string, table: string) {
  using database = new DatabaseSync(file, { readOnly: true })
  return database
    .prepare(`SELECT * FROM ${table} ORDER BY id`)
    .all()
    .map((row) => ({ ...row }))
}

test('mirror copies the records, and run again only what has changed', async () => {
  await using service = await startService()
  const file = service.path('copy.db')
  await service.client.items.createMany.mutate({ items: [LAMP, { name: 'Rug', price: 3, category: 'floor' }] })
  await service.client.users.create.mutate({ name: 'Ada', email: 'ada@example.com', age: 36 })
  const first = await service.run(['mirror', file])
  expect(first).toEqual({ code: 0, stdout: '1 users, 0 books, 2 items\n', stderr: expect.stringContaining('Copying') })
  expect(rows(file, 'items')).toEqual([
    { id: 1, ...LAMP, category: null, version: 1 },
    { id: 2, name: 'Rug', price: 3, category: 'floor', version: 1 },
  ])
  expect(rows(file, 'users')).toEqual((await service.client.users.list.query({})).users)
  await service.client.items.update.mutate({ id: 2, category: null })
  await service.client.items.delete.mutate({ id: 1 })
  const second = await service.run(['mirror', file, '--json'])
  expect(second).toEqual({ code: 0, stdout: '{"users":1,"books":0,"items":1}\n', stderr: '' })
  expect(rows(file, 'items')).toEqual([{ id: 2, name: 'Rug', price: 3, category: null, version: 2 }])
  // Other tables: everything is copied again.
  expect((await service.run(['mirror', file, '--resources', 'items'])).stdout).toBe('1 items\n')
  expect(() => rows(file, 'users')).toThrow('no such table: users')
  expect((await service.run(['mirror', file, '--fields', 'category,name'])).code).toBe(0)
  expect([rows(file, 'items'), rows(file, 'books')]).toEqual([[{ id: 2, name: 'Rug', category: null }], []])
  const unknown = await service.run(['mirror', file, '--resources', 'items', '--fields', 'title'])
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    '--fields: unknown: title. Known: id, name, price, category, version\n',
  ])
})

test('mirror --follow continues a copy once the service can be reached', async () => {
  await using service = await startServiceProcess()
  const file = service.path('copy.db')
  await service.client.items.create.mutate(LAMP)
  await service.run(['mirror', file])
  await service.client.items.update.mutate({ id: 1, price: 20 })
  await service.stop('SIGKILL')
  const { port } = new URL(service.url)
  const askedMs: number[] = []
  const refusing = createServer((socket) => {
    askedMs.push(performance.now())
    socket.destroy()
  }).listen(Number(port), '127.0.0.1')
  using command = follow(service.url, ['mirror', file, '--follow'])
  // A call that is not patient is retried for two seconds.
  await expect.poll(() => (askedMs.at(-1) ?? 0) - (askedMs[0] ?? 0)).toBeGreaterThan(3_000)
  refusing.close()
  await using _second = await startServiceProcess(service.folder, port)
  await expect.poll(() => rows(file, 'items')).toEqual([{ id: 1, ...LAMP, category: null, price: 20, version: 2 }])
  command.child.kill('SIGINT')
  expect((await command.ended).code).toBe(0)
})

test('mirror copies everything again when the position no longer exists', async () => {
  await using service = await startService()
  const file = service.path('copy.db')
  await service.client.items.create.mutate(LAMP)
  await service.run(['mirror', file])
  {
    using database = new DatabaseSync(file)
    database.exec("UPDATE mirror SET cursor = '1-a'; DELETE FROM items")
  }
  const { stderr, stdout } = await service.run(['mirror', file])
  expect([stderr.split('\n')[0], stdout]).toEqual([
    'The changes since the last copy are no longer available',
    '0 users, 0 books, 1 items\n',
  ])
})

test('mirror refuses the file of another program and the copy of another service', async () => {
  await using service = await startService()
  await using other = await startService()
  const file = service.path('copy.db')
  await service.run(['mirror', file])
  expect((await other.run(['mirror', file])).stderr).toBe(`${file}: is a copy of ${service.url}; name another file\n`)
  const foreign = service.path('foreign.db')
  {
    using database = new DatabaseSync(foreign)
    database.exec('CREATE TABLE notes (text TEXT)')
  }
  writeFileSync(service.path('text.db'), 'This is no database, only a text that is long enough.')
  for (const [name, reason] of [
    ['foreign.db', 'is not a copy'],
    ['text.db', 'file is not a database'],
  ]) {
    const { code, stderr } = await service.run(['mirror', service.path(name ?? '')])
    expect([code, stderr]).toEqual([2, `${service.path(name ?? '')}: ${reason}; name another file\n`])
  }
})
