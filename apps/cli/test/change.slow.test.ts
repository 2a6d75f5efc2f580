import { expect, test } from 'vitest'
import { startService } from './processes.ts'

async function withItems(names: string[]) {
  const service = await startService()
  await service.client.items.createMany.mutate({ items: names.map((name) => ({ name, price: 1 })) })
  return service
}

test('update and delete take several ids; one that fails does not stop the others', async () => {
  await using service = await withItems(['A', 'B', 'C'])
  const updated = await service.run(['items', 'update', '1', '2,3', '--price', '5', '--json'])
  expect([updated.code, JSON.parse(updated.stdout)]).toMatchObject([0, [{ price: 5 }, { price: 5 }, { price: 5 }]])
  const deleted = await service.run(['items', 'delete', '1', '9', '2', '--json'])
  expect([deleted.code, JSON.parse(deleted.stdout)]).toEqual([6, { message: '2 items removed', removed: 2 }])
  expect(JSON.parse(deleted.stderr).error).toMatchObject({ code: 'partial', message: '1 item not found' })
  const none = await service.run(['items', 'delete', '8', '9'])
  expect([none.code, none.stdout, none.stderr]).toEqual([3, '', '2 items not found\n'])
  expect((await service.client.items.list.query({})).items.map(({ id }) => id)).toEqual([3])
})

test('--preview with ids shows the records before and after, and changes nothing', async () => {
  await using service = await withItems(['Lamp', 'Rug'])
  const update = await service.run(['items', 'update', '1', '2', '--price', '5', '--preview'])
  expect([update.code, update.stdout]).toEqual([
    0,
    'id  name  price  category  version\n 1  Lamp  1 → 5  -               1\n 2  Rug   1 → 5  -               1\n2 items would be updated\n',
  ])
  const json = await service.run(['items', 'update', '1', '--no-category', '--price', '5', '--preview', '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({
    updated: 1,
    changes: [{ before: { price: 1 }, after: { price: 5 } }],
  })
  const remove = await service.run(['items', 'delete', '2', '9', '--preview'])
  expect([remove.code, remove.stdout]).toEqual([
    0,
    'id  name  price  category  version\n 2  Rug       1  -               1\n1 item would be deleted\n',
  ])
  expect((await service.run(['items', 'delete', '9', '--preview'])).code).toBe(3)
  const create = await service.run(['items', 'create', '--name', 'Pot', '--price', '3', '--preview'])
  expect([create.code, create.stdout]).toEqual([0, 'name  price  category\nPot       3  -\n1 item would be created\n'])
  const { items } = await service.client.items.list.query({})
  expect(items.map(({ price, version }) => [price, version])).toEqual([
    [1, 1],
    [1, 1],
  ])
})

test('on a terminal a deletion shows the records and asks; only yes deletes', async () => {
  await using service = await withItems(['Lamp', 'Rug'])
  const no = await service.typeOnTerminal(
    ['items', 'delete', '1', '2'],
    [{ question: 'Delete 2 items? [y/N]', text: '' }],
  )
  expect([no.code, no.screen]).toEqual([130, expect.stringMatching(/Lamp[\s\S]*Rug[\s\S]*Nothing was changed\./)])
  expect((await service.client.items.list.query({})).items.length).toBe(2)
  const yes = await service.typeOnTerminal(['items', 'delete', '1'], [{ question: 'Delete 1 item? [y/N]', text: 'y' }])
  expect([yes.code, yes.screen]).toEqual([0, expect.stringContaining('Item deleted')])
  const flag = await service.typeOnTerminal(['items', 'delete', '2', '--yes'], [])
  expect([flag.code, flag.screen]).toEqual([
    0,
    expect.stringMatching(/^Item deleted\nUndo: resource undo [\da-f-]{36}\n$/),
  ])
  expect((await service.client.items.list.query({})).items).toEqual([])
})

test('the revocation of a key asks on a terminal', async () => {
  await using service = await startService()
  const { key } = await service.client.keys.create.mutate({ name: 'operator', role: 'admin' })
  const environment = { RESOURCE_KEY: key }
  const no = await service.type(
    ['keys', 'revoke', '1'],
    [{ question: 'Revoke a key: id 1? [y/N]', text: 'n' }],
    environment,
  )
  expect([no.code, no.screen]).toEqual([130, expect.stringContaining('Nothing was changed.')])
  const { stdout } = await service.run(['keys', 'get', '1', '--json'], '', environment)
  expect(JSON.parse(stdout).revoked_at).toBeNull()
})

test('update and delete by filter show what matches, change exactly that, and need --yes without a terminal', async () => {
  await using service = await startService()
  const categories = [...Array.from({ length: 7 }, () => 'old'), 'new']
  await service.client.items.createMany.mutate({
    items: categories.map((category, n) => ({ name: `Item ${n + 1}`, price: n, category })),
  })
  const update = ['items', 'update', '--where', 'category=old', '--where', 'price_gt=0', '--category', 'sale']
  const dry = await service.run([...update, '--preview'])
  expect([dry.code, dry.stdout]).toEqual([
    0,
    expect.stringMatching(/Item 2 .* old → sale[\s\S]*Item 7 .* old → sale.*\n6 items would be updated\n$/),
  ])
  const refused = await service.run(update)
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringMatching(/Item 2 [\s\S]*\nUpdate 6 items: category sale\? Add --yes to confirm\.\n$/),
  ])
  const cleared = await service.run(['items', 'update', '--all', '--no-category', '--price', '3'])
  expect(cleared.stderr).toContain('\nUpdate 8 items: price 3, no category? Add --yes to confirm.\n')
  const unique = await service.run(['users', 'update', '--all', '--email', 'a@example.com', '--age', '3'])
  expect([unique.code, unique.stderr]).toEqual([
    2,
    '--email: cannot be set with --where, --search, --all, --add or --multiply\n',
  ])
  const twice = await service.run([...update, '--where', 'price_gt=3'])
  expect([twice.code, twice.stderr]).toEqual([2, '--where: price_gt must be given once\n'])
  const { error } = JSON.parse((await service.run([...update, '--json'])).stderr)
  expect(error).toMatchObject({ created: 0, updated: 6, deleted: 0 })
  const updated = await service.run([...update, '--yes', '--json'])
  expect([updated.code, JSON.parse(updated.stdout)]).toEqual([0, { matched: 6, changed: 6 }])
  const { items } = await service.client.items.list.query({})
  expect(items.map(({ category, version }) => [category, version])).toEqual([
    ['old', 1],
    ...Array.from({ length: 6 }, () => ['sale', 2]),
    ['new', 1],
  ])

  const remove = ['items', 'delete', '--search', 'item', '--where', 'category=sale']
  const no = await service.type(remove, [{ question: 'Delete 6 items? [y/N]', text: 'n' }])
  expect([no.code, no.screen]).toEqual([130, expect.stringContaining('Item 2')])
  const yes = await service.type(remove, [{ question: 'Delete 6 items? [y/N]', text: 'y' }])
  expect([yes.code, yes.screen]).toEqual([0, expect.stringContaining('6 items removed')])
  expect((await service.run(remove)).stdout).toBe('Nothing would change\n')
  expect((await service.run(['items', 'delete', '--all', '--yes'])).stdout).toBe('2 items removed\n')
  expect((await service.client.items.list.query({})).items).toEqual([])
})

test('a change between the preview and the answer stops a deletion by filter', async () => {
  await using service = await withItems(['A', 'B'])
  const change = service.client.items.update
  const { code, screen } = await service.type(
    ['items', 'delete', '--all'],
    [{ question: 'Delete 2 items? [y/N]', text: () => change.mutate({ id: 1, price: 2 }).then(() => 'y') }],
  )
  expect([code, screen]).toEqual([4, expect.stringContaining('no longer')])
  expect((await service.client.items.list.query({})).items.length).toBe(2)
})

test('a record that changes between the preview and the answer stops a deletion by ids', async () => {
  await using service = await withItems(['A', 'B'])
  const change = service.client.items.update
  const { code, screen } = await service.type(
    ['items', 'delete', '1', '2'],
    [{ question: 'Delete 2 items? [y/N]', text: () => change.mutate({ id: 1, price: 2 }).then(() => 'y') }],
  )
  expect([code, screen]).toEqual([4, expect.stringContaining('no longer')])
  expect((await service.client.items.list.query({})).items.map(({ name }) => name)).toEqual(['A', 'B'])
})

test('update and delete require either ids or filters, and an update by filter requires a change', async () => {
  await using service = await startService()
  for (const [args, message] of [
    [['delete'], 'Either ids, or --where, --search or --all is required'],
    [['delete', '1', '--all'], 'Either ids, or --where, --search or --all is required'],
    [['delete', '--where', 'colour=red'], '--where: must be FIELD=VALUE, with FIELD one of: category, price_lt'],
    [['delete', '--search', 'a'], '--search: must be words of at least 2 characters'],
    [['update', '--all'], 'A field to change is required'],
    [['update', '1', '2', '--if-version', '1', '--price', '1'], '--if-version: is for one id'],
  ] as const) {
    const { code, stderr } = await service.run(['items', ...args])
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(message)])
  }
})

test('an update without a field to change is refused, and names the fields', async () => {
  await using service = await withItems(['Lamp'])
  const message = 'A field to change is required: --name, --price, --category\n'
  for (const args of [['1'], ['1', '2', '--preview'], ['1', '--if-version', '1'], ['--all', '--yes']]) {
    const { code, stderr } = await service.run(['items', 'update', ...args])
    expect([args, code, stderr]).toEqual([args, 2, message])
  }
})

test('update of a collection without it names replace', async () => {
  await using service = await startService()
  const book = await service.run(['books', 'update', '1', '--title', 'Dune'])
  expect([book.code, book.stderr]).toEqual([
    2,
    'There is no books update. Use "books replace", which sets all fields\n',
  ])
  const key = await service.run(['keys', 'update', '1'])
  expect([key.code, key.stderr]).toEqual([2, 'There is no keys update\n'])
  expect((await service.run(['books', 'creat'])).stderr).toBe("unknown command 'creat'\n(Did you mean create?)\n")
})

test('update changes a number by a factor or an amount, by ids or filter, after a preview', async () => {
  await using service = await startService()
  const items = [19.99, 3.015, 0.1, 100].map((price) => ({ name: 'Lamp', price, category: 'light' }))
  await service.client.items.createMany.mutate({ items })
  const prices = async () => (await service.client.items.list.query({})).items.map(({ price }) => price)
  const update = ['items', 'update', '--where', 'category=light', '--multiply', 'price=1.1']
  const refused = await service.run(update)
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringMatching(/19\.99 → 21\.99[\s\S]*\nUpdate 4 items: price × 1\.1\? Add --yes to confirm\.\n$/),
  ])
  expect((await service.run([...update, '--preview'])).stdout).toMatch(/100 → 110 [\s\S]*4 items would be updated\n$/)
  expect(await prices()).toEqual([19.99, 3.015, 0.1, 100])
  expect((await service.run([...update, '--yes'])).stdout).toBe('4 items updated\n')
  expect(await prices()).toEqual([21.99, 3.32, 0.11, 110])
  const added = await service.run(['items', 'update', '1', '4', '--add', 'price=-21.99', '--json'])
  expect([added.code, JSON.parse(added.stdout)]).toEqual([0, { matched: 2, changed: 2 }])
  expect(await prices()).toEqual([0, 3.32, 0.11, 88.01])
  expect((await service.run(['items', 'update', '3', '--add', 'price=1e3'])).stdout).toBe('1 item updated\n')
  expect(await prices()).toEqual([0, 3.32, 1000.11, 88.01])
  const below = await service.run(['items', 'update', '1', '2', '--add', 'price=-1'])
  expect([below.code, below.stdout, below.stderr]).toEqual([
    2,
    '',
    'changes.add.price: must be a number from 0 to 1e12, and would be -1 in item 1\n',
  ])
  for (const [args, message] of [
    [['--add', 'name=1'], '--add: must be FIELD=NUMBER, with FIELD one of: price\n'],
    [['--multiply', 'price'], '--multiply: "" is not a number: must be price=NUMBER, such as price=1.5\n'],
    [['--multiply', 'price=1,1'], '--multiply: "1,1" is not a number: must be price=NUMBER, such as price=1.5\n'],
    [['--add', 'price=1e999'], '--add: "1e999" is not a number: must be price=NUMBER, such as price=1.5\n'],
    [
      ['--add', 'price=1', '--multiply', 'price=2'],
      'changes.multiply.price: must be in only one of set, add and multiply\n',
    ],
  ] as const) {
    const { code, stderr } = await service.run(['items', 'update', '1', ...args])
    expect([args, code, stderr]).toEqual([args, 2, message])
  }
})
