import { describe, expect, test } from 'vitest'
import { engines } from '../scripts/models.ts'
import { newUser, temporaryDatabase } from '../test/database.ts'
import { openDatabase } from '../test/everywhere.ts'
import { insertMany, insertOne, update } from '../test/rows.ts'
import { withAttempts } from './attempts.ts'
import { type Database, DiskFull, UniqueViolation } from './index.ts'
import { SqliteConnection } from './sqlite/connection.ts'
import { SqliteReader } from './sqlite/reader.ts'
import { Wal } from './sqlite/wal.ts'
import { SqliteWriter } from './sqlite/writer.ts'
import { sqlTables } from './tables/tables.ts'

test('an attempt whose error makes SQLite end the transaction ends the write', async () => {
  await using database = await temporaryDatabase()
  const connection = new SqliteConnection(database.file)
  const wal = new Wal(
    database.file,
    connection,
    new SqliteReader(new SqliteConnection(database.file, { readonly: true })),
  )
  const limits = { queueTimeoutMs: 10_000, lockTimeoutMs: 5_000, writeTimeoutMs: 30_000 }
  const writer = new SqliteWriter(connection, wal, limits)
  const [{ page_count }] = connection.all({ text: 'PRAGMA page_count', values: [] }) as [{ page_count: number }]
  connection.all({ text: `PRAGMA max_page_count = ${page_count}`, values: [] })
  const key = (prefix: string, name: string) => ({ name, prefix, role: 'admin', hash: '', created_at: new Date(0) })
  const write = writer.write(async (executor) => {
    const { guarded, attempt } = withAttempts(executor)
    const { apiKeys } = sqlTables(guarded)
    await insertOne(apiKeys, key('a', 'ada'))
    await expect(attempt(() => insertOne(apiKeys, key('b', 'b'.repeat(300_000))))).rejects.toThrow(DiskFull)
    await insertOne(apiKeys, key('c', 'cid'))
  })
  await expect(write).rejects.toThrow('The transaction was rolled back because a statement in it failed.')
  expect(connection.all({ text: 'SELECT name FROM api_keys', values: [] })).toEqual([])
  writer.close()
})

const byId = { column: 'id', descending: false } as const
const namesIn = async ({ read }: Database) =>
  (await read.users.page({ where: {}, order: byId, take: 100 })).map(({ name }) => name)

describe.each(engines)('on %s', (engine) => {
  test('a failed attempt is undone alone, and the write continues', async () => {
    await using database = await openDatabase(engine)
    const error = await database.write(async (tx, { attempt }) => {
      await insertOne(tx.users, newUser('ada'))
      const failed = attempt(async () => {
        await insertOne(tx.users, newUser('bob'))
        await update(tx.users, 1, undefined, { name: 'Ada' })
        throw new Error('changed my mind')
      })
      const caught = await failed.catch((error: Error) => error)
      expect(await attempt(() => insertOne(tx.users, newUser('cid')))).toMatchObject({ name: 'cid' })
      return caught
    })
    expect(error).toMatchObject({ message: 'changed my mind' })
    expect(await namesIn(database)).toEqual(['ada', 'cid'])
  })

  test('a violated constraint in an attempt does not end the write', async () => {
    await using database = await openDatabase(engine)
    await database.write((tx) => insertMany(tx.users, [newUser('ada'), newUser('bob')]))
    await database.write(async (tx, { attempt }) => {
      const change = { name: 'Bob', email_key: 'ada@example.com' }
      await expect(attempt(() => update(tx.users, 2, undefined, change))).rejects.toThrow(UniqueViolation)
      await insertOne(tx.users, newUser('cid'))
    })
    expect(await namesIn(database)).toEqual(['ada', 'bob', 'cid'])
  })

  test('attempts can be nested, and end with the write', async () => {
    await using database = await openDatabase(engine)
    await database.write(async (tx, { attempt }) => {
      await attempt(async () => {
        await insertOne(tx.users, newUser('ada'))
        await attempt(async () => {
          await insertOne(tx.users, newUser('bob'))
          throw new Error('inner')
        }).catch(() => {})
        await insertOne(tx.users, newUser('cid'))
      })
    })
    expect(await namesIn(database)).toEqual(['ada', 'cid'])
    const write = database.write(async (tx, { attempt }) => {
      await attempt(() => insertOne(tx.users, newUser('dan')))
      throw new Error('outer')
    })
    await expect(write).rejects.toThrow('outer')
    expect(await namesIn(database)).toEqual(['ada', 'cid'])
  })

  test('writes at the same time undo their own attempts only', async () => {
    await using database = await openDatabase(engine)
    const write = (name: string) =>
      database.write(async (tx, { attempt }) => {
        await insertOne(tx.users, newUser(name))
        await attempt(async () => {
          await insertOne(tx.users, newUser(`${name}2`))
          throw new Error('undo')
        }).catch(() => {})
      })
    await Promise.all(['ada', 'bob', 'cid'].map(write))
    expect((await namesIn(database)).sort()).toEqual(['ada', 'bob', 'cid'])
  })

  test('lock returns ids and versions of the matching records in the order of the ids', async () => {
    await using database = await openDatabase(engine)
    await database.write((tx) => insertMany(tx.users, ['ada', 'bob', 'cid', 'dan'].map(newUser)))
    await database.write((tx) => update(tx.users, 3, undefined, { age: 3 }))
    const expected = [
      { id: 2, version: 1 },
      { id: 3, version: 2 },
    ]
    expect(await database.read.users.lock({ id: { gt: 1 } }, 2)).toEqual(expected)
    expect(await database.write((tx) => tx.users.lock({ id: { gt: 1 } }, 2))).toEqual(expected)
    const searched = { name_key: { contains: { words: ['an'] } } }
    expect(await database.read.users.lock(searched, 9)).toEqual([])
    expect(await database.write((tx) => tx.users.lock({ name_key: { contains: { words: ['dan'] } } }, 9))).toEqual([
      { id: 4, version: 1 },
    ])
  })

  test('no other write changes a locked record before the end of the write', async () => {
    await using database = await openDatabase(engine)
    await database.write((tx) => insertOne(tx.users, newUser('ada')))
    const events: string[] = []
    let other: Promise<unknown> | undefined
    await database.write(async (tx) => {
      await tx.users.lock({}, 10)
      other = database.write((tx) => update(tx.users, 1, undefined, { age: 1 })).then(() => events.push('other'))
      for (let n = 0; n < 20; n++) await tx.users.find({ id: 1 })
      events.push('locked')
    })
    await other
    expect(events).toEqual(['locked', 'other'])
  })
})
