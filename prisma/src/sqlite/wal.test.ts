import { stat, writeFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { afterEach, expect, test, vi } from 'vitest'
import { newUser, temporaryDatabase, temporaryFolder } from '../../test/database.ts'
import { insertMany, insertOne } from '../../test/rows.ts'
import { DurabilityLost } from '../errors.ts'
import { createDatabase } from '../index.ts'
import { SqliteConnection } from './connection.ts'
import { Wal } from './wal.ts'

// A test that fails must not leave its disk or its clock to the next.
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/**
 * A database with a simulated disk: each pending sync is an element of `waits`, which the test settles. The clock stands
 * still, because a group of writes ends after 5 ms, which a busy machine may need for a few inserts.
 */
async function slowDatabase() {
  const database = await temporaryDatabase()
  vi.useFakeTimers({ toFake: ['performance'] })
  const waits: PromiseWithResolvers<void>[] = []
  const sync = vi.spyOn(Wal.prototype, 'sync').mockImplementation(() => {
    const wait = Promise.withResolvers<void>()
    waits.push(wait)
    return wait.promise
  })
  return {
    ...database,
    waits,
    [Symbol.asyncDispose]: async () => {
      sync.mockRestore()
      vi.useRealTimers()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** Runs everything that does not need the disk. */
async function settle(): Promise<void> {
  for (let round = 0; round < 5; round++) await setImmediate()
}

test('a write resolves when it is on disk, reads see it then, and continue in the meantime', async () => {
  await using database = await slowDatabase()
  const { waits, read, write } = database
  let isAnswered = false
  const written = write((tx) => insertOne(tx.users, newUser('ada'))).then(() => {
    isAnswered = true
  })
  await settle()
  expect([waits.length, isAnswered, await read.users.count({})]).toEqual([1, false, 0])
  waits[0]?.resolve()
  await written
  expect(await read.users.count({})).toBe(1)
})

test('a log that could not be opened is opened again at the next sync', async () => {
  await using folder = await temporaryFolder()
  const file = `${folder.path}/app.db`
  const wal = new Wal(file, undefined as never, undefined as never)
  await expect(wal.sync()).rejects.toThrow('ENOENT')
  await writeFile(`${file}-wal`, '')
  await expect(wal.sync()).resolves.toBe(undefined)
  await wal.close()
})

test('reads of one event loop iteration see the same snapshot; the next one sees the writes of another process', async () => {
  await using database = await temporaryDatabase()
  const other = new SqliteConnection(database.file)
  const insert = (name: string) =>
    other.run({ text: 'INSERT INTO items (name, price) VALUES (?, ?)', values: [name, 1] })
  const { items } = database.read
  const seen = [await items.count({})]
  insert('lamp')
  seen.push(await items.count({}))
  await setImmediate()
  seen.push(await items.count({}))
  other.close()
  expect(seen).toEqual([0, 0, 1])
})

test('reads after a write include it, also in the same event loop iteration', async () => {
  await using database = await temporaryDatabase()
  const { read, write } = database
  const reads = setInterval(() => read.users.count({}))
  for (let n = 1; n <= 50; n++) {
    await Promise.all([read.users.count({}), write((tx) => insertOne(tx.users, newUser(`user${n}`)))])
    expect(await read.users.count({})).toBe(n)
  }
  clearInterval(reads)
})

test('during a sync, reads see the writes of another process, and then the pending commit as well', async () => {
  await using database = await slowDatabase()
  const { waits, read, write } = database
  const written = write((tx) => insertOne(tx.users, newUser('ada')))
  await settle()
  const other = new SqliteConnection(database.file)
  const seen = [[await read.users.count({}), await read.items.count({})]]
  other.run({ text: 'INSERT INTO items (name, price) VALUES (?, ?)', values: ['lamp', 1] })
  other.close()
  await setImmediate()
  seen.push([await read.users.count({}), await read.items.count({})])
  await settle()
  seen.push([await read.users.count({}), await read.items.count({})])
  expect(seen).toEqual([
    [0, 0],
    [1, 1],
    [1, 1],
  ])
  waits[0]?.resolve()
  await written
  expect(await read.users.count({})).toBe(1)
})

test('writes that arrive during a sync wait for it, and then share the next one', async () => {
  await using database = await slowDatabase()
  const { waits, read, write } = database
  const insert = (name: string) => write((tx) => insertOne(tx.users, newUser(name)))
  const first = insert('ada')
  await settle()
  const others = Promise.all([insert('bob'), insert('cid'), insert('dan')])
  await settle()
  expect(waits).toHaveLength(1)
  waits[0]?.resolve()
  await first
  await settle()
  expect([waits.length, await read.users.count({})]).toEqual([2, 1])
  waits[1]?.resolve()
  await others
  expect(await read.users.count({})).toBe(4)
})

test('a write without changes waits for the disk: its result may depend on a commit of another process', async () => {
  await using database = await slowDatabase()
  const { waits, write } = database
  const looked = write((tx) => tx.users.count({}))
  await settle()
  expect(waits).toHaveLength(1)
  waits[0]?.resolve()
  expect(await looked).toBe(0)
})

test('when the disk fails, the write and all later ones are rejected, and reads continue without it', async () => {
  await using database = await slowDatabase()
  const { waits, read, write, ping } = database
  const insert = (name: string) => write((tx) => insertOne(tx.users, newUser(name)))
  const outcomes = Promise.allSettled([insert('ada'), insert('bob')])
  await settle()
  const waiting = expect(insert('cid')).rejects.toThrow(DurabilityLost)
  waits[0]?.reject(new Error('EIO: i/o error, fdatasync'))
  const refused = { status: 'rejected', reason: expect.any(DurabilityLost) }
  expect(await outcomes).toEqual([refused, refused])
  await waiting
  await expect(insert('dan')).rejects.toThrow('The disk failed: stop the service and check the disk.')
  expect(await read.users.count({})).toBe(0)
  await expect(ping()).rejects.toThrow('The disk failed')
})

test.each([
  ['short', 0],
  ['long', 6],
])('close waits for a %s write on its way to the disk, and nothing answered is lost', async (_, ms) => {
  await using folder = await temporaryFolder()
  const database = await createDatabase(`file:${folder.file}`)
  vi.useFakeTimers({ toFake: ['performance'] })
  const write = database.write(async (tx) => {
    vi.advanceTimersByTime(ms)
    await insertOne(tx.users, newUser('ada'))
  })
  // The write is committed now.
  await settle()
  await Promise.all([database.close(), write])
  const after = await createDatabase(`file:${folder.file}`)
  expect(await after.read.users.count({})).toBe(1)
  await after.close()
})

test('a long log is checkpointed while writes continue, and restarts', async () => {
  await using database = await temporaryDatabase()
  const other = new SqliteConnection(database.file)
  const needsCheckpoint = () => {
    const [{ log }] = other.all({ text: 'PRAGMA wal_checkpoint(NOOP)', values: [] }) as [{ log: number }]
    return log > 4000
  }
  const insert = (name: string) => database.write((tx) => insertOne(tx.items, { name, name_key: '', price: 1 }))
  let count = 0
  for (; !needsCheckpoint(); count++) await insert('x'.repeat(1_000_000))
  for (; needsCheckpoint(); count++) await insert('small')
  expect((await stat(database.file)).size).toBeGreaterThan(16_000_000)
  other.close()
  expect(await database.read.items.count({})).toBe(count)
})

test('during a sync, reads see commits of another process, also right after a read', async () => {
  await using database = await slowDatabase()
  const { waits, read, write } = database
  const other = new SqliteConnection(database.file)
  expect(await read.items.count({})).toBe(0)
  other.run({ text: 'INSERT INTO items (name, price) VALUES (?, ?)', values: ['lamp', 1] })
  // After 5 ms the group is committed before the event loop's next round.
  const written = write(async (tx) => {
    vi.advanceTimersByTime(6)
    await insertOne(tx.users, newUser('ada'))
  })
  await vi.waitFor(() => expect(waits).toHaveLength(1))
  expect([await read.users.count({}), await read.items.count({})]).toEqual([0, 1])
  waits[0]?.resolve()
  await written
  other.close()
})

test('an error waits until commits of another process are on disk, and does not wait if there are none', async () => {
  await using database = await slowDatabase()
  const { waits, write } = database
  const other = new SqliteConnection(database.file)
  const refuse = () =>
    write(async (tx) => {
      throw new Error(`taken: ${await tx.items.count({})}`)
    }).catch((error: Error) => error.message)
  other.run({ text: 'INSERT INTO items (name, price) VALUES (?, ?)', values: ['lamp', 1] })
  let answer = ''
  const refused = refuse().then((message) => {
    answer = message
  })
  await settle()
  expect([waits.length, answer]).toEqual([1, ''])
  waits[0]?.resolve()
  await refused
  expect(answer).toBe('taken: 1')
  expect(await refuse()).toBe('taken: 1')
  expect(waits).toHaveLength(1)
  other.close()
})

test('if other processes serve the same file, SQLite syncs in the commit', async () => {
  await using folder = await temporaryFolder()
  const run = vi.spyOn(SqliteConnection.prototype, 'run')
  const sync = vi.spyOn(Wal.prototype, 'sync')
  const database = await createDatabase(`file:${folder.file}`, { isShared: true })
  sync.mockClear()
  await database.write((tx) => insertOne(tx.users, newUser('ada')))
  const writer = run.mock.contexts[run.mock.calls.findIndex(([{ text }]) => text === 'COMMIT')] as SqliteConnection
  expect(writer.all({ text: 'PRAGMA synchronous', values: [] })).toEqual([{ synchronous: 2 }])
  expect(await database.read.users.count({})).toBe(1)
  expect(sync).not.toHaveBeenCalled()
  vi.restoreAllMocks()
  await database.close()
})

test('where SQLite syncs in the commit, an answer without changes waits until commits of a process started apart are on disk', async () => {
  await using folder = await temporaryFolder()
  const database = await createDatabase(`file:${folder.file}`, { isShared: true })
  await database.write((tx) => insertOne(tx.users, newUser('ada')))
  const sync = vi.spyOn(Wal.prototype, 'sync')
  const count = () => database.write((tx) => tx.items.count({}))
  const refused = () => database.write(() => Promise.reject(new Error('taken'))).catch(({ message }) => message)
  expect([await count(), await refused(), sync.mock.calls.length]).toEqual([0, 'taken', 0])

  const apart = new SqliteConnection(folder.file)
  const commit = () => apart.run({ text: 'INSERT INTO items (name, price) VALUES (?, ?)', values: ['lamp', 1] })
  commit()
  expect([await count(), sync.mock.calls.length]).toEqual([1, 1])
  expect([await count(), sync.mock.calls.length]).toEqual([1, 1])
  commit()
  expect([await refused(), sync.mock.calls.length]).toEqual(['taken', 2])
  commit()
  // SQLite's own sync covers the whole log.
  await database.write((tx) => insertOne(tx.users, newUser('eve')))
  expect([await count(), sync.mock.calls.length]).toEqual([3, 2])
  vi.restoreAllMocks()
  apart.close()
  await database.close()
})

test('a failing checkpoint is reported once per reason, and retried', async () => {
  await using folder = await temporaryFolder()
  const warnings: string[] = []
  const reasons = ['EIO', 'EIO', 'ENOSPC']
  const checkpoint = vi.spyOn(Wal.prototype, 'checkpoint').mockImplementation(async () => {
    const reason = reasons.shift()
    if (reason !== undefined) throw new Error(reason)
  })
  const needsCheckpoint = vi.spyOn(Wal.prototype, 'needsCheckpoint', 'get').mockReturnValue(true)
  const database = await createDatabase(`file:${folder.file}`, {
    onWarning: (message, error) => warnings.push(`${message}: ${(error as Error).message}`),
  })
  for (let commit = 0; commit < 4 * 16; commit++)
    await database.write((tx) => insertOne(tx.users, newUser(`u${commit}`)))
  await database.close()
  checkpoint.mockRestore()
  needsCheckpoint.mockRestore()
  const what = 'the checkpoint of the write-ahead log failed; the log keeps growing'
  expect(warnings).toEqual([`${what}: EIO`, `${what}: ENOSPC`])
})

test('after thousands of rows the search indexes are merged, between other writes', async () => {
  await using folder = await temporaryFolder()
  const warnings: unknown[] = []
  const database = await createDatabase(`file:${folder.file}`, { onWarning: (...warning) => warnings.push(warning) })
  const merges = vi.spyOn(Wal.prototype, 'mergeSearchIndexes')
  const create = (name: string, count: number) => {
    const names = Array.from({ length: count }, (_, n) => `${name}${n}`)
    return database.write((tx) => insertMany(tx.users, names.map(newUser)))
  }
  await create('ada', 3_800)
  await vi.waitFor(async () => expect(await merges.mock.results.at(-1)?.value).toBe(false), 10_000)
  const sqlite = new Sqlite(folder.file, { readonly: true })
  const parts = sqlite.prepare('SELECT count(DISTINCT segid) FROM users_search_idx').pluck().get()
  sqlite.close()
  // At most three on each level. Commits alone leave 21.
  expect(parts).toBeLessThanOrEqual(10)

  // A short merge, after which a waiting write begins at once.
  merges.mockResolvedValue(false)
  const writer = async (_: unknown, writer: number) => {
    for (let n = 0; n < 150; n++) await create(`eve${writer}x${n}x`, 1)
  }
  await Promise.all(Array.from({ length: 16 }, writer))
  const found = (word: string) => database.read.users.count({ name_key: { contains: { words: [word] } } })
  expect([await found('ada3799'), await found('eve9x149x'), await found('eve15x')]).toEqual([1, 1, 150])
  await database.close()
  expect(warnings).toEqual([])
})

test('a search index that cannot be merged is reported', async () => {
  await using folder = await temporaryFolder()
  const warnings: string[] = []
  vi.spyOn(Wal.prototype, 'mergeSearchIndexes').mockRejectedValue(new Error('EIO'))
  const database = await createDatabase(`file:${folder.file}`, {
    onWarning: (message, error) => warnings.push(`${message}: ${(error as Error).message}`),
  })
  const names = Array.from({ length: 1_000 }, (_, n) => `user${n}`)
  await database.write((tx) => insertMany(tx.users, names.map(newUser)))
  await vi.waitFor(() => expect(warnings).toEqual(['the merge of the search indexes failed; searches slow down: EIO']))
  await database.close()
})

test('a long merge of the search indexes lets a long log be checkpointed', async () => {
  await using folder = await temporaryFolder()
  const merge = vi.spyOn(Wal.prototype, 'mergeSearchIndexes').mockResolvedValue(true)
  vi.spyOn(Wal.prototype, 'needsCheckpoint', 'get').mockImplementation(() => merge.mock.calls.length >= 3)
  const checkpoint = vi.spyOn(Wal.prototype, 'checkpoint').mockResolvedValue()
  const database = await createDatabase(`file:${folder.file}`)
  const names = Array.from({ length: 1_000 }, (_, n) => `user${n}`)
  await database.write((tx) => insertMany(tx.users, names.map(newUser)))
  await vi.waitFor(() => expect(checkpoint).toHaveBeenCalled())
  expect(merge).toHaveBeenCalledTimes(3)
  await database.close()
})
