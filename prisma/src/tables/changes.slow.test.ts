import { expect, test } from 'vitest'
import { engines } from '../../scripts/models.ts'
import { newUser } from '../../test/database.ts'
import { openDatabase } from '../../test/everywhere.ts'
import { type Author, openLibrary } from '../../test/library.ts'
import { insertMany } from '../../test/rows.ts'
import { UniqueViolation } from '../errors.ts'
import type { NewRow } from './types.ts'

const byId = { column: 'id', descending: false } as const

async function withAuthors(engine: (typeof engines)[number], names: string[]) {
  const library = await openLibrary(engine)
  const authors = names.map((name) => ({ name, email: `${name}@example.com`, active: true }) as NewRow<Author>)
  await library.write((tx) => insertMany(tx.authors, authors))
  return library
}

test.each(engines)(
  'changes of several rows return each row before and after, in the order of the list, on %s',
  async (engine) => {
    await using library = await withAuthors(engine, ['ada', 'bob', 'cid', 'dan'])
    const born = new Date('0099-02-28T23:59:59.999Z')
    const changes = await library.write((tx) =>
      tx.authors.write([
        { id: 4, change: { active: false, rating: 0.1, born, retired: null } },
        { id: 2, versions: [3], change: { active: false, rating: 0.1, born, retired: null } },
        { id: 9, change: { active: false, rating: 0.1, born, retired: null } },
        { id: 1, versions: [7, 1], change: { active: true, rating: null, born: null, retired: null } },
        { id: 3, versions: [], change: { active: true, rating: 1, born: null, retired: true } },
        { id: 4, versions: [2], change: { active: false, rating: 0.1, born: null, retired: null } },
      ]),
    )
    expect(changes).toMatchObject([
      {
        before: { id: 4, name: 'dan', active: true, rating: null, born: null, version: 1 },
        after: { id: 4, name: 'dan', active: false, rating: 0.1, born, retired: null, version: 2 },
      },
      undefined,
      undefined,
      { before: { id: 1, version: 1 }, after: { id: 1, active: true, rating: null, version: 1 } },
      undefined,
      { before: { id: 4, born, version: 2 }, after: { id: 4, active: false, born: null, version: 3 } },
    ] as never)
    const stored = await library.read.authors.page({ where: {}, order: byId, take: 9 })
    expect(stored.map(({ active, rating, version }) => [active, rating, version])).toEqual([
      [true, null, 1],
      [true, null, 1],
      [true, null, 1],
      [false, 0.1, 3],
    ])
  },
)

test.each(engines)('a unique value can move to another row only after it is free, on %s', async (engine) => {
  await using library = await withAuthors(engine, ['ada', 'bob', 'cid'])
  const rename = (...names: [id: number, name: string][]) =>
    library.write((tx) => tx.authors.write(names.map(([id, name]) => ({ id, change: { name } }))))
  await expect(rename([1, 'bob'], [2, 'dan'])).rejects.toThrow(UniqueViolation)
  await expect(rename([1, 'eve'], [2, 'eve'])).rejects.toThrow(UniqueViolation)
  await expect(rename([1, 'eve'], [2, 'cid'])).rejects.toThrow(UniqueViolation)
  await rename([2, 'dan'], [1, 'bob'], [3, 'cid'])
  const stored = await library.read.authors.page({ where: {}, order: byId, take: 9 })
  expect(stored.map(({ name, version }) => [name, version])).toEqual([
    ['bob', 2],
    ['dan', 2],
    ['cid', 1],
  ])
})

test.each(engines)('the audit entries of several changes have the order of the changes, on %s', async (engine) => {
  await using database = await openDatabase(engine)
  await database.write((tx) => insertMany(tx.users, ['ada', 'bob', 'cid'].map(newUser)))
  const secrets = [{ column: 'password_hash', field: 'password' }]
  const users = { resource: 'users', shown: ['id', 'age'], secrets }
  const shared = { actor: 'key 3', actor_detail: null, procedure: 'test', request_id: null, address: null }
  await database.write(
    (tx) =>
      tx.users.write([
        { id: 3, change: { age: 3, password_hash: 'secret' } },
        { id: 1, change: { age: 1, password_hash: null } },
        { id: 2, change: { age: null, password_hash: null } },
      ]),
    { audit: { shared, tables: { users } } },
  )
  const entries = await database.read.auditEntries.page({ where: {}, order: byId, take: 9 })
  expect(entries.map(({ before, after }) => [JSON.parse(String(before)), JSON.parse(String(after))])).toEqual([
    [
      { id: 3, age: null },
      { id: 3, age: 3, password: 'set' },
    ],
    [
      { id: 1, age: null },
      { id: 1, age: 1 },
    ],
  ])
})

test.each(engines)('deletes of several rows check the version of each, on %s', async (engine) => {
  await using library = await withAuthors(engine, ['ada', 'bob', 'cid'])
  const removed = await library.write((tx) =>
    tx.authors.write([
      { id: 3, versions: [1, 2], delete: true },
      { id: 1, versions: [2], delete: true },
      { id: 1, delete: true },
      { id: 3, delete: true },
      { id: 2, versions: [], delete: true },
    ]),
  )
  expect(removed.map((row) => row?.before.name)).toEqual(['cid', undefined, 'ada', undefined, undefined])
  expect(await library.read.authors.page({ where: {}, order: byId, take: 9 })).toMatchObject([{ name: 'bob' }])
})

test('on PostgreSQL changes of the same columns are one statement', async () => {
  const operations: string[] = []
  await using database = await openDatabase('postgresql', {
    around: (operation, table, run) => {
      if (table === 'users') operations.push(operation)
      return run()
    },
  })
  const names = Array.from({ length: 500 }, (_, n) => `user${n}`)
  await database.write((tx) => insertMany(tx.users, names.map(newUser)))
  operations.length = 0
  const changes = names.map((_, n) => ({ id: 500 - n, versions: [1], change: { age: n % 100 } }))
  const written = await database.write((tx) => tx.users.write(changes))
  expect(written.map((change) => change?.after.id)).toEqual(names.map((_, n) => 500 - n))
  expect(operations).toEqual(['lock', 'updateMany'])
})
