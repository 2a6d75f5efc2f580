import { setImmediate } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { newUser, temporaryDatabase } from '../../test/database.ts'
import { insertMany, insertOne, remove, removeMany, update } from '../../test/rows.ts'
import { isBusy, type NewRow, UniqueViolation, type User } from '../index.ts'

const at = (ms: number) => new Date(Date.parse('2026-01-02T03:04:05.678Z') + ms)
const byId = { column: 'id', descending: false } as const

async function withUsers(...users: Partial<NewRow<User>>[]) {
  const database = await temporaryDatabase()
  await database.write((tx) =>
    insertMany(
      tx.users,
      users.map((user, n) => ({ ...newUser(`user${n}`), ...user })),
    ),
  )
  return database
}

describe('find', () => {
  test('returns the row by id, by another column or by several, or undefined', async () => {
    await using database = await withUsers({ name: 'ada' }, { name: 'bob', role: 'admin' })
    const { users } = database.read
    expect((await users.find({ id: 2 }))?.name).toBe('bob')
    expect((await users.find({ email_key: 'user0@example.com' }))?.name).toBe('ada')
    expect((await users.find({ role: 'admin', status: 'active' }))?.name).toBe('bob')
    expect(await users.find({ id: 3 })).toBeUndefined()
  })

  test('returns only the requested columns', async () => {
    await using database = await withUsers({ age: 1, created_at: at(1) })
    const row = await database.read.users.find({ id: 1 }, ['name', 'created_at'])
    expect(row).toEqual({ name: 'user0', created_at: at(1) })
  })

  test('returns every column: text, numbers, dates and nulls', async () => {
    await using database = await withUsers({ name: '漢\u{1f600}', age: 36 })
    await database.write((tx) => insertOne(tx.items, { name: 'Lamp', name_key: 'lamp', price: 0.1 + 0.2 }))
    expect(await database.read.users.find({ id: 1 })).toEqual({
      id: 1,
      name: '漢\u{1f600}',
      name_key: 'user0',
      email: 'user0@example.com',
      email_key: 'user0@example.com',
      password_hash: null,
      role: 'user',
      status: 'active',
      age: 36,
      version: 1,
      created_at: at(0),
      updated_at: at(0),
    })
    expect(await database.read.items.find({ id: 1 })).toEqual({
      id: 1,
      name: 'Lamp',
      name_key: 'lamp',
      price: 0.30000000000000004,
      category: null,
      version: 1,
    })
  })
})

describe('page and count', () => {
  const ages = [30, null, 9, 30, null]

  for (const [what, where, expected] of [
    ['no condition matches all rows', {}, [1, 2, 3, 4, 5]],
    ['an undefined condition is ignored', { age: undefined }, [1, 2, 3, 4, 5]],
    ['a range without bounds is ignored', { age: { lt: undefined } }, [1, 2, 3, 4, 5]],
    ['a value', { age: 30 }, [1, 4]],
    ['null', { age: null }, [2, 5]],
    ['not null', { age: { not: null } }, [1, 3, 4]],
    ['below, excluding null', { age: { lt: 30 } }, [3]],
    ['at or below', { age: { lte: 30 } }, [1, 3, 4]],
    ['above', { age: { gt: 9 } }, [1, 4]],
    ['at or above', { age: { gte: 9 } }, [1, 3, 4]],
    ['between', { age: { gt: 9, lt: 31 } }, [1, 4]],
    ['two columns', { age: 30, id: { gt: 1 } }, [4]],
    ['a date', { created_at: at(2) }, [3]],
    ['at or after a date', { created_at: { gte: at(2) } }, [3, 4, 5]],
  ] as const) {
    test(`where ${what}`, async () => {
      await using database = await withUsers(...ages.map((age, n) => ({ age, created_at: at(n) })))
      const page = await database.read.users.page({ where, order: byId, take: 10 })
      expect(page.map(({ id }) => id)).toEqual(expected)
      expect(await database.read.users.count(where)).toBe(expected.length)
    })
  }

  for (const [descending, expected] of [
    [false, [2, 5, 3, 1, 4]],
    [true, [1, 4, 3, 2, 5]],
  ] as const) {
    test(`order ${descending ? 'descending' : 'ascending'}: null lowest, ties by id ascending`, async () => {
      await using database = await withUsers(...ages.map((age) => ({ age })))
      const order = { column: 'age', descending } as const
      const page = await database.read.users.page({ where: {}, order, take: 10 })
      expect(page.map(({ id }) => id)).toEqual(expected)
      const middle = await database.read.users.page({ where: {}, order, skip: 1, take: 3 })
      expect(middle.map(({ id }) => id)).toEqual(expected.slice(1, 4))
    })
  }

  test('a deep page follows the rows before it, in every order', async () => {
    await using database = await temporaryDatabase()
    const sqlite = new Sqlite(database.file)
    sqlite.exec(`INSERT INTO items (name, price, category, version)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
      SELECT 'Item', i % 7, CASE i % 3 WHEN 0 THEN NULL ELSE 'c' || (i % 3) END, 1 FROM n`)
    sqlite.close()
    const idsAt = async (column: 'id' | 'price' | 'category', descending: boolean, skip: number, where = {}) => {
      const order = { column, descending }
      return (await database.read.items.page({ where, order, skip, take: 3 })).map(({ id }) => id)
    }
    expect(await idsAt('id', false, 8000)).toEqual([8001, 8002, 8003])
    expect(await idsAt('id', true, 8000)).toEqual([1000, 999, 998])
    // 1285 items have the price 0, 1286 each of 1 to 5, and 1285 the price 6.
    expect(await idsAt('price', false, 1285 + 1286 + 1286)).toEqual([3, 10, 17])
    expect(await idsAt('price', true, 1285 + 1286 + 1286)).toEqual([3, 10, 17])
    // 3000 items each have no category, c1 and c2.
    expect(await idsAt('category', false, 6000)).toEqual([2, 5, 8])
    expect(await idsAt('category', true, 6000)).toEqual([3, 6, 9])
    expect(await idsAt('category', true, 5999)).toEqual([8998, 3, 6])
    expect(await idsAt('id', false, 8999)).toEqual([9000])
    expect(await idsAt('id', false, 9000)).toEqual([])
    expect(await idsAt('price', true, 20_000)).toEqual([])
  })

  test('a count of many rows is exact, with and without gaps between the ids', async () => {
    await using database = await temporaryDatabase()
    const sqlite = new Sqlite(database.file)
    sqlite.exec(`INSERT INTO items (id, name, price, version)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60_000)
      SELECT CASE WHEN i > 50_000 THEN i + 100_000 ELSE i END, 'Item', i % 10, 1 FROM n`)
    sqlite.close()
    const { items } = database.read
    expect(await items.count({})).toBe(60_000)
    expect(await items.count({ price: 3 })).toBe(6000)
    expect(await items.count({ price: { lt: 3 }, id: { gt: 49_990, lte: 150_010 } })).toBe(6)
    expect(await items.count({ price: 10 })).toBe(0)
  })

  test('text sorts by code point', async () => {
    const names = ['a', 'Z', 'é', '\uffff', '\u{1f600}', 'A', '']
    await using database = await withUsers(...names.map((name) => ({ name })))
    const order = { column: 'name', descending: false } as const
    const page = await database.read.users.page({ where: {}, order, take: 10 })
    expect(page.map(({ name }) => name)).toEqual(['', 'A', 'Z', 'a', 'é', '\uffff', '\u{1f600}'])
  })

  test('a keyset range is combined with a filter, also on the same column', async () => {
    await using database = await withUsers({ age: 1 }, { age: 2 }, { age: 3 })
    const where = { age: { lt: 3 } }
    const page = await database.read.users.page({ where, seek: [{ age: { gt: 1 } }], order: byId, take: 10 })
    expect(page.map(({ age }) => age)).toEqual([2])
  })

  test.each([
    [false, [{ age: 2, id: { gt: 2 } }, { age: { gt: 2 } }], [3, 1, 5]],
    [true, [{ age: 2, id: { gt: 2 } }, { age: { lt: 2 } }, { age: null }], [3, 4, 6, 7]],
  ] as const)('keyset ranges are returned one after the other (descending: %s)', async (descending, seek, ids) => {
    await using database = await withUsers(
      ...[3, 2, 2, 1, 4, null, null].map((age) => ({ age, status: 'active' })),
      ...[2, 5, null].map((age) => ({ age, status: 'inactive' })),
    )
    const query = { where: { status: 'active' }, seek, order: { column: 'age', descending } } as const
    for (let take = 1; take <= ids.length + 1; take++) {
      const page = await database.read.users.page({ ...query, columns: ['id', 'age'], take })
      expect(page.map(({ id }) => id)).toEqual(ids.slice(0, take))
    }
  })

  test('returns only the requested columns', async () => {
    await using database = await withUsers({ age: 1, created_at: at(1) })
    const columns = ['name', 'created_at'] as const
    const page = await database.read.users.page({ columns, where: {}, order: byId, take: 10 })
    expect(page).toEqual([{ name: 'user0', created_at: at(1) }])
  })
})

describe('insert', () => {
  test('returns the stored row', async () => {
    await using database = await temporaryDatabase()
    const row = await database.write((tx) => insertOne(tx.users, { ...newUser('ada'), age: 36 }))
    expect(row).toEqual({ ...newUser('ada'), id: 1, age: 36, password_hash: null, version: 1 })
    expect(await database.read.users.find({ id: 1 })).toEqual(row)
  })

  test('rejects a duplicate value with its columns, and the same write can insert other rows', async () => {
    await using database = await withUsers({})
    const key = { procedure: 'users.create', key: 'k', fingerprint: '', answer: '', created_at: at(0) }
    await database.write(async (tx) => {
      await insertOne(tx.idempotencyKeys, key)
      expect(await violation(insertOne(tx.users, newUser('user0')))).toEqual(['email_key'])
      expect(await violation(insertOne(tx.idempotencyKeys, key))).toEqual(['procedure', 'key'])
      await insertOne(tx.users, newUser('bob'))
    })
    expect(await database.read.users.count({})).toBe(2)
  })

  test('never reuses the id of a deleted record', async () => {
    await using database = await withUsers({})
    await database.write((tx) => remove(tx.users, 1, undefined))
    expect(await database.write((tx) => insertOne(tx.users, newUser('ada')))).toMatchObject({ id: 2 })
  })

  test('stores a date as milliseconds since 1970', async () => {
    await using database = await withUsers({})
    const plain = new Sqlite(database.file, { readonly: true })
    expect(plain.prepare('SELECT typeof(created_at), created_at FROM users').raw().get()).toEqual([
      'integer',
      Date.parse('2026-01-02T03:04:05.678Z'),
    ])
    plain.close()
  })
})

describe('insertMany', () => {
  test('returns a thousand rows in the given order, with ascending ids', async () => {
    await using database = await temporaryDatabase()
    const names = Array.from({ length: 1000 }, (_, n) => `user${(n * 7) % 1000}`)
    const rows = await database.write((tx) => insertMany(tx.users, names.map(newUser)))
    expect(rows.map(({ id, name }) => [id, name])).toEqual(names.map((name, n) => [n + 1, name]))
    expect(rows[999]).toEqual(await database.read.users.find({ id: 1000 }))
  })

  test('returns no rows for no rows', async () => {
    await using database = await temporaryDatabase()
    expect(await database.write((tx) => insertMany(tx.users, []))).toEqual([])
  })

  for (const [what, names, index] of [
    ['already stored', ['bob', 'cid', 'user0', 'dan', 'user0'], 2],
    ['given twice', ['bob', 'cid', 'dan', 'cid', 'bob'], 3],
  ] as const) {
    test(`names the first row with a value that is ${what}, and the write is rolled back`, async () => {
      await using database = await withUsers({})
      const write = database.write((tx) => insertMany(tx.users, names.map(newUser)))
      const error = await write.catch((error: unknown) => error)
      expect(error).toBeInstanceOf(UniqueViolation)
      expect(error).toMatchObject({ columns: ['email_key'], index })
      expect(await database.read.users.count({})).toBe(1)
    })
  }
})

describe('update', () => {
  test('writes the given values, keeps undefined ones, and increments the version', async () => {
    await using database = await withUsers({ age: 36 })
    const changes = { name: 'Ada', role: undefined, age: null, updated_at: at(5) }
    const change = await database.write((tx) => update(tx.users, 1, undefined, changes))
    const before = { ...newUser('user0'), id: 1, age: 36, password_hash: null, version: 1 }
    const after = { ...before, name: 'Ada', age: null, version: 2, updated_at: at(5) }
    expect(change).toEqual({ before, after })
    expect(await database.read.users.find({ id: 1 })).toEqual(after)
  })

  test('keeps version and updated_at if nothing changes, and still checks the version', async () => {
    await using database = await withUsers({ age: 36 })
    const before = await database.read.users.find({ id: 1 })
    const { id: _, version, ...same } = before as User
    for (const changes of [{ ...same, updated_at: at(5) }, { name: undefined, updated_at: at(5) }, {}]) {
      const change = await database.write((tx) => update(tx.users, 1, [version], changes))
      expect(change).toEqual({ before, after: before })
      expect(await database.write((tx) => update(tx.users, 1, [version + 1], changes))).toBeUndefined()
    }
    expect(await database.read.users.find({ id: 1 })).toEqual(before)
  })

  test('keeps updated_at when the clock was set back', async () => {
    await using database = await withUsers({})
    const changes = { name: 'Ada', updated_at: at(-5) }
    const change = await database.write((tx) => update(tx.users, 1, [1], changes))
    expect(change?.after).toMatchObject({ name: 'Ada', version: 2, updated_at: at(0) })
    expect(await database.read.users.find({ id: 1 })).toEqual(change?.after)
  })

  for (const [versions, written] of [
    [[1], true],
    [[7, 1], true],
    [[2], false],
    [[], false],
  ] as const) {
    test(`with the versions ${JSON.stringify(versions)} ${written ? 'writes' : 'keeps'} a record of version 1`, async () => {
      await using database = await withUsers({})
      const change = await database.write((tx) =>
        update(tx.users, 1, [...versions], { name: 'Ada', updated_at: at(1) }),
      )
      expect(change?.after.version).toBe(written ? 2 : undefined)
      expect((await database.read.users.find({ id: 1 }))?.name).toBe(written ? 'Ada' : 'user0')
    })

    test(`a delete with the versions ${JSON.stringify(versions)} ${written ? 'removes' : 'keeps'} a record of version 1`, async () => {
      await using database = await withUsers({})
      const before = await database.write((tx) => remove(tx.users, 1, [...versions]))
      expect(before?.name).toBe(written ? 'user0' : undefined)
      expect(await database.read.users.count({})).toBe(written ? 0 : 1)
    })
  }

  test('returns undefined for a record that does not exist', async () => {
    await using database = await temporaryDatabase()
    expect(await database.write((tx) => update(tx.users, 1, undefined, { name: 'Ada' }))).toBeUndefined()
    expect(await database.write((tx) => remove(tx.users, 1, undefined))).toBeUndefined()
  })

  test('rejects a duplicate value with its columns', async () => {
    await using database = await withUsers({}, {})
    const email_key = 'user0@example.com'
    const write = database.write((tx) => update(tx.users, 2, undefined, { email_key }))
    expect(await violation(write)).toEqual(['email_key'])
  })
})

describe('write', () => {
  test('carries out creates, changes and deletes in their order, and returns each row before and after', async () => {
    await using database = await withUsers({}, {}, {})
    const results = await database.write((tx) =>
      tx.users.write([
        { id: 1, delete: true },
        { id: 2, delete: true },
        { create: newUser('ada') },
        { create: newUser('bob') },
        { id: 4, change: { age: 7 } },
        { id: 3, versions: [2], delete: true },
        { id: 9, change: { age: 7 } },
      ]),
    )
    expect(results.slice(0, 5)).toMatchObject([
      { before: { id: 1, name: 'user0' } },
      { before: { id: 2, name: 'user1' } },
      { after: { id: 4, name: 'ada', version: 1 } },
      { after: { id: 5, name: 'bob', version: 1 } },
      { before: { id: 4, age: null, version: 1 }, after: { id: 4, age: 7, version: 2 } },
    ])
    expect(results.slice(5)).toEqual([undefined, undefined])
    expect(await database.read.users.count({})).toBe(3)
    expect(await database.write((tx) => tx.users.write([]))).toEqual([])
  })

  test('names the row that violates a constraint by its place in the list, and stores nothing', async () => {
    await using database = await withUsers({})
    const write = database.write((tx) =>
      tx.users.write([{ id: 1, change: { age: 1 } }, { create: newUser('ada') }, { create: newUser('ada') }]),
    )
    await expect(write).rejects.toMatchObject({ columns: ['email_key'], index: 2 })
    expect(await database.read.users.find({})).toMatchObject({ id: 1, age: null })
    expect(await database.read.users.count({})).toBe(1)
  })

  test('removes many rows, each once, and returns those that it found', async () => {
    await using database = await withUsers(...Array(600).fill({}))
    const removed = await database.write((tx) => removeMany(tx.users, [...Array(500).keys(), 7]))
    expect(removed.map(({ id }) => id)).toEqual(Array.from({ length: 499 }, (_, n) => n + 1))
    expect(removed[0]).toMatchObject({ created_at: at(0) })
    expect(await database.read.users.count({})).toBe(101)
  })

  const all = Array.from({ length: 1200 }, (_, n) => n + 1)

  test('allows reads during the removal of many rows, which see all rows until its end', async () => {
    await using database = await withUsers(...Array(1200).fill({}))
    const seen: number[] = []
    const removal = database.write((tx) => removeMany(tx.users, all))
    const { promise: isDone, resolve } = Promise.withResolvers<true>()
    removal.then(() => resolve(true))
    while (!(await Promise.race([isDone, setImmediate(false)]))) seen.push(await database.read.users.count({}))
    expect(await removal).toHaveLength(1200)
    expect(seen.length).toBeGreaterThan(1)
    expect(new Set(seen)).toEqual(new Set([1200]))
    expect(await database.read.users.count({})).toBe(0)
  })

  test('removes nothing when the database is closed in between', async () => {
    await using database = await withUsers(...Array(1200).fill({}))
    const removal = database.write((tx) => removeMany(tx.users, all))
    const settled = Promise.allSettled([removal])
    await setImmediate()
    await database.close()
    expect(await settled).toMatchObject([{ status: 'rejected' }])
    const plain = new Sqlite(database.file, { readonly: true })
    expect(plain.prepare('SELECT count(*) FROM users').pluck().get()).toBe(1200)
    plain.close()
  })
})

describe('deleteAll', () => {
  test('removes all matching rows and returns their number', async () => {
    await using database = await withUsers({ status: 'inactive' }, {}, { status: 'inactive' })
    expect(await database.write((tx) => tx.users.deleteAll({ status: 'inactive' }))).toBe(2)
    expect(await database.write((tx) => tx.users.deleteAll({ status: 'inactive' }))).toBe(0)
    expect(await database.read.users.find({ id: 2 })).toBeDefined()
    expect(await database.read.users.count({})).toBe(1)
  })

  test('removes at most the given number of rows', async () => {
    await using database = await withUsers({ status: 'inactive' }, {}, { status: 'inactive' })
    const gone = (most: number) => database.write((tx) => tx.users.deleteAll({ status: 'inactive' }, most))
    expect([await gone(1), await gone(9), await gone(9)]).toEqual([1, 1, 0])
  })

  test('removes nothing when the write fails afterwards', async () => {
    await using database = await withUsers(...Array(1200).fill({ status: 'inactive' }))
    const write = database.write(async (tx) => {
      await tx.users.deleteAll({ status: 'inactive' })
      throw new Error('changed my mind')
    })
    await expect(write).rejects.toThrow('changed my mind')
    expect(await database.read.users.count({})).toBe(1200)
  })

  test('supports a key of two columns', async () => {
    await using database = await temporaryDatabase()
    const key = { procedure: 'books.create', fingerprint: '', answer: '', created_at: at(0) }
    await database.write(async (tx) => {
      await insertOne(tx.idempotencyKeys, { ...key, key: 'a' })
      await insertOne(tx.idempotencyKeys, { ...key, key: 'b', created_at: at(1) })
      expect(await tx.idempotencyKeys.deleteAll({ created_at: { lte: at(0) } })).toBe(1)
    })
    expect(await database.read.idempotencyKeys.find({ procedure: 'books.create', key: 'a' })).toBeUndefined()
    expect(await database.read.idempotencyKeys.find({ procedure: 'books.create', key: 'b' })).toBeDefined()
  })
})

test('another error is neither a unique violation nor a busy database', async () => {
  await using database = await temporaryDatabase()
  const plain = new Sqlite(database.file)
  plain.exec('DROP TABLE books')
  plain.close()
  const error = await database.read.books.find({ id: 1 }).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(Error)
  expect(error).not.toBeInstanceOf(UniqueViolation)
  expect(isBusy(error)).toBe(false)
})

async function violation(write: Promise<unknown>): Promise<string[] | undefined> {
  const error = await write.catch((error: unknown) => error)
  return error instanceof UniqueViolation ? error.columns : undefined
}
