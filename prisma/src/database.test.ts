import { stat } from 'node:fs'
import { access, readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { expect, test, vi } from 'vitest'
import { newUser, temporaryDatabase, temporaryFolder } from '../test/database.ts'
import { insertMany, insertOne, update } from '../test/rows.ts'
import { createDatabase, type Database, DiskFull, isBusy, ReadOnly, UniqueViolation } from './index.ts'
import { SqliteConnection } from './sqlite/connection.ts'
import { SqliteReader } from './sqlite/reader.ts'
import { Wal } from './sqlite/wal.ts'
import { SqliteWriter } from './sqlite/writer.ts'
import type { Tables } from './tables/declarations.ts'
import { sqlTables } from './tables/tables.ts'

test('a relative file: URL is resolved against the working directory, and missing folders are created', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'new', 'folder', 'app.db')
  const database = await createDatabase(`file:${relative(process.cwd(), file)}`)
  await database.close()
  await access(file)
})

test('an unsupported URL is rejected with its host and without its password', async () => {
  await expect(createDatabase('mysql://admin:hunter2@db.example.com/app')).rejects.toThrow(
    'The database URL "mysql://db.example.com/…" is not supported: use "file:" and a path, such as "file:data/app.db", or "postgresql://user:password@host/database".',
  )
})

test.each([
  '',
  'file:',
  'data/app.db',
  ':memory:',
  'file::memory:',
  'file:app.db?mode=ro',
  'file://host/app.db',
  'mysql:a:hunter2@b',
])('the URL "%s" is rejected with a valid example', async (url) => {
  const refusal = await createDatabase(url).catch((error: Error) => error.message)
  expect(refusal).toContain('such as "file:data/app.db"')
  expect(refusal).not.toContain('hunter2')
})

test('the error for a file that cannot be opened names the file', async () => {
  await using folder = await temporaryFolder()
  await expect(createDatabase(`file:${folder.path}`)).rejects.toThrow(
    `The database file ${folder.path} cannot be opened`,
  )
})

for (const readonly of [true, false]) {
  test(`a ${readonly ? 'read' : 'write'} connection uses WAL mode, syncs and checks foreign keys`, async () => {
    await using database = await temporaryDatabase()
    const connection = new SqliteConnection(database.file, { readonly })
    for (const [pragma, value] of [
      ['journal_mode', 'wal'],
      ['synchronous', 2],
      ['foreign_keys', 1],
    ] as const) {
      // Wal syncs its commits.
      const own = pragma === 'synchronous' ? 1 : value
      expect(connection.all({ text: `PRAGMA ${pragma}`, values: [] })).toEqual([{ [pragma]: own }])
    }
    connection.close()
  })
}

test('a read sees a write only after its commit', async () => {
  await using database = await temporaryDatabase()
  await database.write(async (tx) => {
    await insertOne(tx.users, newUser('ada'))
    expect(await tx.users.count({})).toBe(1)
    expect(await database.read.users.count({})).toBe(0)
  })
  expect(await database.read.users.count({})).toBe(1)
})

test('reads cannot write', async () => {
  await using database = await temporaryDatabase()
  await expect(insertOne(database.read.users, newUser('ada'))).rejects.toThrow('readonly database')
})

test('a write that throws is rolled back, and the next one succeeds', async () => {
  await using database = await temporaryDatabase()
  const failing = database.write(async (tx) => {
    await insertOne(tx.users, newUser('ada'))
    throw new Error('changed my mind')
  })
  await expect(failing).rejects.toThrow('changed my mind')
  await database.write((tx) => insertOne(tx.users, newUser('bob')))
  expect(await names(database)).toEqual(['bob'])
})

test('a hundred concurrent writes succeed, one after another', async () => {
  await using database = await temporaryDatabase()
  await database.write((tx) => insertOne(tx.users, { ...newUser('ada'), age: 0 }))
  const increment = () =>
    database.write(async (tx) => {
      const user = await tx.users.find({ id: 1 })
      return update(tx.users, 1, undefined, { age: Number(user?.age) + 1 })
    })
  await Promise.all(Array.from({ length: 100 }, increment))
  expect(await database.read.users.find({ id: 1 })).toMatchObject({ age: 100, version: 101 })
})

test('data survives close and reopen, to the millisecond, and close leaves only the database file', async () => {
  await using folder = await temporaryFolder()
  const before = await createDatabase(`file:${folder.file}`)
  await before.write((tx) => insertOne(tx.users, newUser('ada')))
  await before.close()
  expect(await readdir(dirname(folder.file))).toEqual(['test.db'])

  const after = await createDatabase(`file:${folder.file}`)
  expect(await after.read.users.find({ id: 1 })).toEqual({
    ...newUser('ada'),
    id: 1,
    password_hash: null,
    age: null,
    version: 1,
  })
  await after.close()
})

test('a lock held by another process is a busy error, and the next write succeeds', async () => {
  await using database = await temporaryDatabase({ lockTimeoutMs: 30 })
  const other = new Sqlite(database.file)
  other.exec('BEGIN IMMEDIATE')
  const insert = () => database.write((tx) => insertOne(tx.users, newUser('ada')))
  expect(isBusy(await insert().catch((error) => error))).toBe(true)
  other.exec('ROLLBACK')
  other.close()
  expect(await insert()).toMatchObject({ id: 1 })
})

test('reads and the event loop continue while a write waits for another process', async () => {
  await using database = await temporaryDatabase()
  const other = new Sqlite(database.file)
  other.exec('BEGIN IMMEDIATE')
  const order: string[] = []
  const write = database.write((tx) => insertOne(tx.users, newUser('ada'))).then(() => order.push('write'))
  for (let iteration = 0; iteration < 100; iteration++) await setImmediate()
  expect(await database.read.users.count({})).toBe(0)
  order.push('read')
  other.exec('ROLLBACK')
  other.close()
  await write
  expect(order).toEqual(['read', 'write'])
})

test('a write that times out in the queue is a busy error and writes nothing', async () => {
  await using database = await temporaryDatabase({ queueTimeoutMs: 1 })
  const late = await database.write(async (tx) => {
    await insertOne(tx.users, newUser('ada'))
    return database.write((inner) => insertOne(inner.users, newUser('bob'))).catch((error) => error)
  })
  expect(isBusy(late)).toBe(true)
  await database.write((tx) => insertOne(tx.users, newUser('cid')))
  expect(await names(database)).toEqual(['ada', 'cid'])
})

test('a write that takes too long is a busy error and is rolled back, and the next one succeeds', async () => {
  await using database = await temporaryDatabase({ writeTimeoutMs: 1 })
  const { promise: lateQuery, resolve } = Promise.withResolvers<unknown>()
  const slow = database.write(async (tx) => {
    try {
      // A query completes without the event loop, so the timer can only fire between iterations.
      for (let n = 0; ; n++, await setImmediate()) await insertOne(tx.users, newUser(`user${n}`))
    } catch (error) {
      resolve(error)
    }
  })
  expect(isBusy(await slow.catch((error) => error))).toBe(true)
  expect(await lateQuery).toBeInstanceOf(Error)
  expect(await names(database)).toEqual([])
})

test('close rolls back an open write and rejects waiting and new ones', async () => {
  await using folder = await temporaryFolder()
  const database = await createDatabase(`file:${folder.file}`)
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const open = database.write(async (tx) => {
    await insertOne(tx.users, newUser('ada'))
    await closed
    return insertOne(tx.users, newUser('bob'))
  })
  const settled = Promise.allSettled([open, database.write((tx) => insertOne(tx.users, newUser('cid')))])
  await setImmediate()
  await Promise.all([database.close(), setImmediate().then(resolve)])
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(database.write((tx) => insertOne(tx.users, newUser('dan')))).rejects.toThrow()
  await expect(database.read.users.count({})).rejects.toThrow('The database is closed')

  const after = await createDatabase(`file:${folder.file}`)
  expect(await names(after)).toEqual([])
  await after.close()
})

test('a closed database fails its ping', async () => {
  const database = await temporaryDatabase()
  await database.ping()
  await database[Symbol.asyncDispose]()
  await expect(database.ping()).rejects.toThrow('The database is closed')
})

test('a ping fails while another process holds the lock, and reports that reads are served', async () => {
  await using database = await temporaryDatabase()
  const other = new Sqlite(database.file)
  other.exec('BEGIN IMMEDIATE')
  await expect(database.ping()).rejects.toThrow(ReadOnly)
  expect(await database.read.users.count({})).toBe(0)
  other.exec('ROLLBACK')
  other.close()
  await database.ping()
})

test('a table whose ids have reached the largest one refuses further rows and keeps none of them', async () => {
  await using database = await temporaryDatabase()
  const other = new Sqlite(database.file)
  other.exec(`INSERT INTO sqlite_sequence (name, seq) VALUES ('users', 2147483646)`)
  other.close()
  const insert = (name: string) => database.write((tx) => insertOne(tx.users, newUser(name)), { autocommit: true })
  expect((await insert('ada')).id).toBe(2_147_483_647)
  await expect(insert('bob')).rejects.toThrow('The database cannot be used: a table has no ids left')
  expect(await names(database)).toEqual(['ada'])
})

test('a ping fails after another program has dropped a table', async () => {
  await using database = await temporaryDatabase()
  const other = new Sqlite(database.file)
  other.exec('ALTER TABLE items RENAME TO items_old')
  await expect(database.ping()).rejects.toThrow('The database cannot be used: it lacks a table')
  other.close()
})

/** Controls the clock that measures the age of a group, so that the test does not depend on the machine. */
function frozenClock() {
  vi.useFakeTimers({ toFake: ['performance'] })
  return { advance: (ms: number) => vi.advanceTimersByTime(ms), [Symbol.dispose]: () => void vi.useRealTimers() }
}

async function names({ read }: Database): Promise<string[]> {
  const users = await read.users.page({ where: {}, order: { column: 'id', descending: false }, take: 10 })
  return users.map(({ name }) => name)
}

test('a write is rolled back with its own error when there is no room on the disk', async () => {
  await using database = await temporaryDatabase()
  const connection = new SqliteConnection(database.file)
  const insertMany = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    INSERT INTO items (name, price, version) SELECT 'Lamp', i, 1 FROM n`
  // A page limit of the connection causes the error of a full disk.
  connection.all({ text: 'PRAGMA max_page_count = 1', values: [] })
  expect(() => connection.run({ text: insertMany, values: [] })).toThrow(DiskFull)
  expect(await database.read.items.count({})).toBe(0)
  connection.close()
})

/** The number of event loop iterations until `work` is done. */
async function roundsDuring(work: Promise<unknown>): Promise<number> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  let rounds = 0
  for (; !isDone; rounds++) await setImmediate()
  await done
  return rounds
}

test('queued writes yield to the event loop', async () => {
  await using database = await temporaryDatabase()
  const slow = async () => {
    const end = performance.now() + 3
    while (performance.now() < end);
  }
  const writes = Promise.all(Array.from({ length: 50 }, () => database.write(slow)))
  expect(await roundsDuring(writes)).toBeGreaterThanOrEqual(49)
})

test('concurrent writes share a sync, and none resolves before it', async () => {
  using _ = frozenClock()
  await using database = await temporaryDatabase()
  const insert = async (n: number) => {
    await database.write((tx) => insertOne(tx.users, newUser(`user${n}`)))
    return database.read.users.count({})
  }
  const counts = await Promise.all(Array.from({ length: 20 }, (_, n) => insert(n)))
  expect(counts).toEqual(Array(20).fill(20))
})

test('no write waits for a large one that comes after it', async () => {
  using _ = frozenClock()
  await using database = await temporaryDatabase()
  const gate = Promise.withResolvers<void>()
  const insert = (name: string) => (tx: Tables) => insertOne(tx.users, newUser(name))
  const small = database.write(insert('ada'))
  const large = database.write(
    async (tx) => {
      await insert('bob')(tx)
      await gate.promise
    },
    { isLarge: true },
  )
  await small
  expect(await names(database)).toEqual(['ada'])
  gate.resolve()
  await large
  expect(await names(database)).toEqual(['ada', 'bob'])
})

test('a failing write of a group is rolled back alone, and rejects when the others are on disk', async () => {
  using _ = frozenClock()
  await using database = await temporaryDatabase()
  const write = async (work: (tx: Tables) => Promise<unknown>) => {
    const outcome = await database.write(work).catch((error: Error) => error.message)
    return [outcome, await names(database)]
  }
  const insert = (name: string) => (tx: Tables) => insertOne(tx.users, newUser(name)).then(({ id }) => id)
  const insertAndThrow = (name: string) => async (tx: Tables) => {
    await insertOne(tx.users, newUser(name))
    throw new Error(`not ${name}`)
  }
  const stored = ['ada', 'bob', 'cid']
  const [[first], ...others] = await Promise.all([
    write(insertAndThrow('zoe')),
    write(insert('ada')),
    write(insertAndThrow('yan')),
    write(insert('bob')),
    write(insert('ada')),
    write(insert('cid')),
  ])
  // With nothing before it, the first write rolls back the whole transaction: the others are of a later group.
  expect(first).toBe('not zoe')
  expect(others).toEqual([
    [1, stored],
    ['not yan', stored],
    [2, stored],
    ['Another row has the same email_key.', stored],
    [3, stored],
  ])
})

test('in a group, an autocommit write that fails leaves the others alone, unless it has already stored a row', async () => {
  using _ = frozenClock()
  await using database = await temporaryDatabase()
  const insert = (name: string, fails = false) =>
    database.write(
      async (tx) => {
        const { id } = await insertOne(tx.users, newUser(name))
        if (fails) throw new Error('too late')
        return id
      },
      { autocommit: true },
    )
  const outcome = (write: Promise<number>) => write.catch((error: Error) => error.message)
  const stored = () => names(database)
  expect(await Promise.all([insert('ada'), insert('ada'), insert('bob')].map(outcome))).toEqual([
    1,
    'Another row has the same email_key.',
    2,
  ])
  expect(await stored()).toEqual(['ada', 'bob'])
  expect(await Promise.all([insert('cid'), insert('dan', true), insert('eve')].map(outcome))).toEqual([
    'too late',
    'too late',
    3,
  ])
  expect(await stored()).toEqual(['ada', 'bob', 'eve'])
})

test('when SQLite rolls back the transaction of a group, each write of it rejects, and the next one succeeds', async () => {
  using _ = frozenClock()
  await using database = await temporaryDatabase()
  const connection = new SqliteConnection(database.file)
  const log = new Wal(
    database.file,
    connection,
    new SqliteReader(new SqliteConnection(database.file, { readonly: true })),
  )
  const writer = new SqliteWriter(connection, log, {
    queueTimeoutMs: 10_000,
    lockTimeoutMs: 5_000,
    writeTimeoutMs: 30_000,
  })
  const [{ page_count }] = connection.all({ text: 'PRAGMA page_count', values: [] }) as [{ page_count: number }]
  connection.all({ text: `PRAGMA max_page_count = ${page_count}`, values: [] })
  // After the error of a statement that runs a trigger, SQLite would roll back that statement only.
  const key = { role: 'admin', hash: '', created_at: new Date(0) }
  const insert = (prefix: string, name = prefix) =>
    writer.write((executor) => insertOne(sqlTables(executor).apiKeys, { ...key, prefix, name }))
  const outcomes = await Promise.allSettled([insert('ada'), insert('bob', 'b'.repeat(300_000)), insert('cid')])
  expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason)).toEqual([
    expect.any(DiskFull),
    expect.any(DiskFull),
    false,
  ])
  expect(connection.all({ text: 'SELECT name FROM api_keys', values: [] })).toEqual([{ name: 'cid' }])
  writer.close()
  await log.close()
})

test('with other processes on the file, a read includes what they committed before its event loop iteration', async () => {
  await using database = await temporaryDatabase()
  const other = new SqliteConnection(database.file)
  const reader = new SqliteReader(new SqliteConnection(database.file, { readonly: true }), undefined, true)
  const count = () => reader.all({ text: 'SELECT count(*) AS count FROM api_keys', values: [] })
  const seen = await new Promise(
    (resolve) =>
      void setImmediate().then(() => {
        count()
        // Its callback runs in the next iteration, before the immediates.
        stat(database.file, () => resolve(count()))
        const key = {
          text: `INSERT INTO api_keys (name, prefix, role, hash, created_at) VALUES ('', '', '', '', 0)`,
          values: [],
        }
        other.run(key)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
      }),
  )
  expect(seen).toEqual([{ count: 1 }])
  reader.close()
  other.close()
})

test('a group that is 5 ms old is committed before the next write', async () => {
  using clock = frozenClock()
  await using database = await temporaryDatabase()
  const insert = async (n: number) => {
    await database.write((tx) => {
      clock.advance(2)
      return insertOne(tx.users, newUser(`user${n}`))
    })
    return database.read.users.count({})
  }
  expect(await Promise.all([insert(1), insert(2), insert(3), insert(4)])).toEqual([3, 3, 3, 4])
})

test('close rejects writes that are not on disk yet', async () => {
  await using folder = await temporaryFolder()
  const database = await createDatabase(`file:${folder.file}`)
  const { promise: isDone, resolve } = Promise.withResolvers<void>()
  const write = database.write((tx) => insertOne(tx.users, newUser('ada')).then(() => resolve()))
  await Promise.all([isDone.then(() => database.close()), expect(write).rejects.toThrow('The database is closed.')])
  const after = await createDatabase(`file:${folder.file}`)
  expect(await names(after)).toEqual([])
  await after.close()
})

test('a thousand rows are inserted in batches of a hundred with event loop iterations in between, all or none', async () => {
  await using database = await temporaryDatabase()
  const users = Array.from({ length: 1000 }, (_, n) => newUser(`user${n}`))
  const twin = users.with(777, newUser('user1'))
  const refused = await database.write((tx) => insertMany(tx.users, twin)).catch((error) => error)
  expect([refused instanceof UniqueViolation, refused.index]).toEqual([true, 777])
  expect(await database.read.users.count({})).toBe(0)
  const stored = database.write((tx) => insertMany(tx.users, users))
  expect(await roundsDuring(stored)).toBeGreaterThanOrEqual(9)
  expect((await stored).map(({ name }) => name)).toEqual(users.map(({ name }) => name))
})
