import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { contract } from '@resource/contract'
import { expect, test } from 'vitest'
import { startService, temporaryFolder } from './processes.ts'

const BULK = ['createMany', 'updateMany', 'updateWhere', 'deleteWhere']
// `get` and each status; the option --propose of other commands creates them.
const OF_PROPOSALS = ['list', 'show', 'apply', 'reject', 'withdraw']

test('every procedure of the contract of a resource with records has a command, except those of many records', async () => {
  await using service = await startService()
  for (const [noun, { procedures }] of Object.entries(contract)) {
    if (!('get' in procedures)) continue
    const { stdout, code } = await service.run([noun, '--help'])
    expect(code).toBe(0)
    const verbs = Object.keys(procedures).filter((verb) => !BULK.includes(verb))
    const names = verbs.map((verb) => verb.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`))
    for (const name of noun === 'proposals' ? OF_PROPOSALS : names) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
    }
  }
  expect((await service.run(['import', '--help'])).stdout).toMatch(/"users", "books",\s+"items"/)
})

test('commands create, read, update, replace and delete a record and print lines or JSON', async () => {
  await using service = await startService()
  const lamp = { id: 1, name: 'Lamp', price: 24.5, category: 'light', version: 1 }
  const created = await service.run(['items', 'create', '--name', 'Lamp', '--price', '24.5', '--category', 'light'])
  expect(created.stdout).toBe('id: 1\nname: Lamp\nprice: 24.5\ncategory: light\nversion: 1\n')
  expect(JSON.parse((await service.run(['items', 'get', '1', '--json'])).stdout)).toEqual(lamp)
  const updated = await service.run(['items', 'update', '1', '--no-category', '--if-version', '1', '--json'])
  expect(JSON.parse(updated.stdout)).toEqual({ ...lamp, category: null, version: 2 })
  const replaced = await service.run(['items', 'replace', '1', '--name', 'Desk', '--price', '9', '--json'])
  expect(JSON.parse(replaced.stdout)).toEqual({ ...lamp, name: 'Desk', price: 9, category: null, version: 3 })
  expect((await service.run(['items', 'delete', '1'])).stdout).toBe('Item deleted\n')
})

test('a list prints an aligned table, or an array with --json, and the next page on stderr', async () => {
  await using service = await startService()
  await service.client.items.createMany.mutate({
    items: [
      { name: 'Lamp', price: 24.5 },
      { name: 'A long name', price: 3 },
    ],
  })
  const list = await service.run(['items', 'list', '--sort', 'price_asc', '--limit', '1', '--count'])
  expect(list.stdout).toBe('id  name         price  category  version\n 2  A long name      3  -               1\n')
  expect(list.stderr).toBe('2 in total\nMore: --page 2, or --all\n')
  const json = await service.run(['items', 'list', '--price-lt', '10', '--json'])
  expect(JSON.parse(json.stdout)).toEqual([{ id: 2, name: 'A long name', price: 3, category: null, version: 1 }])
})

test('a password is read from stdin and never printed', async () => {
  await using service = await startService()
  const flags = ['users', 'create', '--name', 'Ada', '--email', 'ada@example.com', '--password']
  const { code, stdout, stderr } = await service.run(flags, 'correct horse\n')
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^Undo: resource undo [\da-f-]{36}\n$/)])
  const long = `hunter2${'x'.repeat(1024)}`
  const refused = await service.run(flags, `${long}\n`)
  expect([refused.code, refused.stderr.startsWith('--password: must be')]).toEqual([2, true])
  expect(`${refused.stderr}${stdout}`).not.toMatch(/hunter2|correct horse/)
})

test('each kind of error has its exit code and a message on stderr that names the flag', async () => {
  await using service = await startService()
  const book = ['--title', 'Emma', '--author', 'Jane Austen', '--published-date', '1815-12-23']
  await service.run(['books', 'create', ...book])
  await service.client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
  for (const [args, code, message] of [
    [['books', 'get', 'x'], 2, 'id: must be a whole number\n'],
    [['books', 'delete', '1', 'x'], 2, 'id: must be a whole number\n'],
    [['books', 'create', '--title', 'Emma'], 2, '--published-date: is required'],
    [['items', 'create', '--name', 'Lamp', '--price', 'dear'], 2, '--price: must be a number'],
    [['users', 'update', '1', '--role', 'king'], 2, "'--role <role>'"],
    [['users', 'get', '0'], 3, 'User not found'],
    [['items', 'delete', '99999999999999999999'], 3, 'Item not found'],
    [['boks', 'list'], 2, 'Did you mean books?'],
    [['books', 'list', '--url', 'nowhere'], 2, 'http://127.0.0.1:3000'],
    [['books', 'list', '--url', 'ftp://127.0.0.1'], 2, 'http or https'],
    [['books', 'list', '--url', 'http://ada:secret@127.0.0.1'], 2, 'without credentials'],
    [['books', 'list', '--url', 'http://127.0.0.1?x=1'], 2, 'query'],
    [['books', 'list', '--url', 'http://127.0.0.1#x'], 2, 'fragment'],
    [['books', 'get', '7'], 3, 'Book not found'],
    [['books', 'replace', '1', ...book, '--if-version', '4,5'], 4, 'version is now 1'],
    [['users', 'create', '--name', 'Eve', '--email', 'ADA@example.com'], 4, '--email: already in use'],
    [['books', 'list', '--url', 'http://127.0.0.1:1', '--timeout', '0.5'], 5, ''],
  ] as const) {
    const result = await service.run([...args])
    expect([args, result.code, result.stdout]).toEqual([args, code, ''])
    expect(result.stderr).toContain(message)
    expect(result.stderr).not.toContain('--id')
  }
})

test('a filter accepts any text, and an update accepts any subset of the fields', async () => {
  await using service = await startService()
  await service.client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
  expect(await service.run(['users', 'list', '--role', 'king', '--json'])).toMatchObject({ code: 0, stdout: '[]\n' })
  const { code, stdout } = await service.run(['users', 'update', '1', '--age', '36', '--json'])
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { id: 1, name: 'Ada', age: 36, version: 2 }])
})

test('the bash completion script completes commands, flags and values', async () => {
  await using service = await startService()
  const { stdout: script } = await service.run(['completion', 'bash'])
  const complete = (words: string) => {
    const line = `COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _resource; echo "\${COMPREPLY[@]}"`
    return spawnSync('bash', ['-c', `${script}\n${line}`], { encoding: 'utf8' }).stdout.trim()
  }
  expect(complete('resource u')).toBe('users undo')
  expect(complete('resource users set')).toBe('set-status')
  expect(complete('resource items list --pri')).toBe('--price-lt --price-lte --price-gt --price-gte')
  expect(complete('resource users list --role ""')).toBe('admin user')
  expect(complete('resource import x.csv --type b')).toBe('books')
})

test('list --search finds records, and summarize prints a table of groups', async () => {
  await using service = await startService()
  await service.client.items.createMany.mutate({
    items: [
      { name: 'Desk lamp', price: 20, category: 'light' },
      { name: 'Floor lamp', price: 40, category: 'light' },
      { name: 'Desk', price: 90, category: 'wood' },
    ],
  })
  const found = await service.run(['items', 'list', '--search', 'desk lam', '--fields', 'name', '--json'])
  expect([found.code, found.stdout]).toEqual([0, '[{"name":"Desk lamp"}]\n'])
  const short = await service.run(['items', 'list', '--search', 'd'])
  expect([short.code, short.stderr]).toEqual([2, '--search: must be words of at least 2 characters\n'])
  const summaries = await service.run(['items', 'summarize', '--by', 'category', '--of', 'price'])
  expect(summaries.stdout).toBe(
    'value  count  minimum  mean  maximum\nlight      2       20    30       40\nwood       1       90    90       90\n',
  )
  const none = await service.run(['users', 'summarize', '--by', 'role', '--fields', 'value,count'])
  expect(none.stdout).toBe('value  count\n')
  const exported = await service.run(['export', '--type', 'items', '--search', 'floor', '--fields', 'name'])
  expect(exported.stdout).toBe('name\nFloor lamp\n')
})

test('a --limit above that of a page is remarked on', async () => {
  await using service = await startService()
  const items = Array.from({ length: 1_000 }, () => ({ name: 'Lamp', price: 1.005 }))
  await service.client.items.createMany.mutate({ items })
  await service.client.items.create.mutate({ name: 'Rug', price: 2 })
  const { stdout, stderr } = await service.run(['items', 'list', '--limit', '5000'])
  expect([stdout.trim().split('\n').length, stderr]).toEqual([
    1001,
    'More: --page 2, or --all\nA page has at most 1000 items, whatever the --limit\n',
  ])
  expect((await service.run(['items', 'list', '--limit', '5'])).stderr).toBe('More: --page 2, or --all\n')
  const json = await service.run(['items', 'list', '--limit', '5000', '--json'])
  expect(JSON.parse(json.stderr)).toEqual({ limit: 1000, next: expect.any(String) })
  const summary = await service.run(['items', 'summarize', '--of', 'price'])
  expect(summary.stdout).toBe('value  count  minimum  mean  maximum\n-       1001    1.005  1.01        2\n')
  const [exact] = JSON.parse((await service.run(['items', 'summarize', '--of', 'price', '--json'])).stdout)
  expect(exact.mean).toBeCloseTo(1.005994, 6)
})

test('whoami shows the service, the profile and the role of the key', async () => {
  await using service = await startService()
  const anonymous = await service.run(['whoami', '--json'])
  expect(JSON.parse(anonymous.stdout)).toMatchObject({ url: service.url, profile: null, role: 'admin' })
  await service.client.keys.create.mutate({ name: 'root', role: 'admin' })
  const local = ['--database', 'file:data/resource.db']
  const created = await service.run(['keys', 'create', '--name', 'nightly', '--role', 'reader', '--json', ...local])
  const { key } = JSON.parse(created.stdout)
  const reader = await service.run(['whoami', '--json'], '', { RESOURCE_KEY: key })
  expect(JSON.parse(reader.stdout)).toMatchObject({ url: service.url, role: 'reader' })
  expect((await service.run(['whoami'])).code).toBe(7)
  const direct = await service.run(['whoami', '--json', ...local])
  expect(JSON.parse(direct.stdout)).toMatchObject({ profile: null, name: 'local', role: 'admin' })
})

test('with --database an unexpected error has its cause', async () => {
  await using folder = await temporaryFolder()
  const local = ['--database', 'file:d.db']
  await folder.run(['items', 'list', ...local])
  const database = new DatabaseSync(join(folder.path, 'd.db'))
  database.exec('DROP TABLE items')
  database.close()
  const { code, stderr } = await folder.run(['items', 'list', ...local])
  expect([code, stderr]).toEqual([1, 'Internal server error: no such table: items\n'])
})
