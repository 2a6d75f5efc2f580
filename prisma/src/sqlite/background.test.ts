import { execFile } from 'node:child_process'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import Sqlite from 'better-sqlite3'
import { expect, test, vi } from 'vitest'
import { newUser, temporaryDatabase, temporaryFolder } from '../../test/database.ts'
import { insertOne } from '../../test/rows.ts'
import { Busy } from '../errors.ts'
import { createDatabase } from '../index.ts'
import { SqliteBackground } from './background.ts'
import { migrate } from './migrate.ts'

// Takes long enough for other things to happen meanwhile.
const LONG = {
  text: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT count(*) AS "total" FROM n`,
  values: [2_000_000],
}
const ONE = { text: 'SELECT ? AS "one"', values: [1] }

async function withReader() {
  const folder = await temporaryFolder()
  await migrate(folder.file)
  const background = new SqliteBackground(folder.file)
  return {
    background,
    file: folder.file,
    [Symbol.asyncDispose]: async () => {
      await background.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

test('a long read does not block the event loop', async () => {
  await using reader = await withReader()
  let rounds = 0
  const timer = setInterval(() => rounds++, 1)
  expect(await reader.background.all(LONG)).toEqual([{ total: 2_000_000 }])
  clearInterval(timer)
  expect(rounds).toBeGreaterThan(3)
})

test('a count of many rows does not block the event loop', async () => {
  await using database = await temporaryDatabase()
  await fill(database.file, 60_000)
  let rounds = 0
  const timer = setInterval(() => rounds++, 1)
  const where = { name_key: { contains: { words: ['lamp'] } } }
  expect(await database.read.items.count(where)).toBe(60_000)
  expect(await database.read.items.summarize({ where, by: 'category', limit: 1 })).toMatchObject([{ count: 20_000 }])
  clearInterval(timer)
  expect(rounds).toBeGreaterThan(3)
})

test('a read that has waited for others for over five seconds fails with Busy, and the next one succeeds', async () => {
  await using reader = await withReader()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const running = reader.background.all(LONG)
  const late = expect(reader.background.all(ONE)).rejects.toThrow(new Busy('The wait for other long reads timed out.'))
  vi.advanceTimersByTime(5_000)
  vi.useRealTimers()
  await late
  await running
  expect(await reader.background.all(ONE)).toEqual([{ one: 1 }])
})

test('a failed read rejects with the error, and the next one succeeds', async () => {
  await using reader = await withReader()
  const failed = reader.background.all({ text: 'SELECT missing', values: [] })
  const next = reader.background.all(ONE)
  await expect(failed).rejects.toThrow('no such column: missing')
  expect(await next).toEqual([{ one: 1 }])
})

test('when the thread cannot open the file, the read rejects with the reason, and the next one starts a new thread', async () => {
  await using folder = await temporaryFolder()
  const background = new SqliteBackground(folder.file)
  await expect(background.all(ONE)).rejects.toMatchObject({
    message: 'A thread of the database ended.',
    cause: { message: 'unable to open database file' },
  })
  await migrate(folder.file)
  expect(await background.all(ONE)).toEqual([{ one: 1 }])
  await background.close()
})

test('close rejects the running read and the waiting ones, and ends the thread', async () => {
  await using reader = await withReader()
  await reader.background.all(ONE)
  const reads = [reader.background.all(LONG), reader.background.all(ONE)]
  const settled = Promise.allSettled(reads)
  await Promise.resolve()
  await reader.background.close()
  const rejected = { status: 'rejected', reason: { message: 'The database is closed.' } }
  expect(await settled).toMatchObject([rejected, rejected])
  await expect(reader.background.all(ONE)).rejects.toThrow('The database is closed.')
})

test('a read sees every earlier write, and holds no snapshot afterwards', async () => {
  await using database = await temporaryDatabase()
  await fill(database.file, 60_000)
  expect(await database.read.items.count({})).toBe(60_000)
  await database.write((tx) => insertOne(tx.items, { name: 'Rug', name_key: 'rug', price: 1 }))
  expect(await database.read.items.count({})).toBe(60_001)
  // The reads of the event loop end with its iteration.
  await setImmediate()
  const other = new Sqlite(database.file)
  expect(other.pragma('wal_checkpoint(TRUNCATE)')).toMatchObject([{ busy: 0 }])
  other.close()
})

test('a read includes no commit that is not on disk', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file)
  const { promise: synced, reject } = Promise.withResolvers<void>()
  const background = new SqliteBackground(folder.file, () => synced)
  let isDone = false
  const read = background.all(ONE).finally(() => {
    isDone = true
  })
  const settled = Promise.allSettled([read])
  const other = new SqliteBackground(folder.file)
  await other.all(LONG)
  await other.close()
  expect(isDone).toBe(false)
  reject(new Error('The disk failed.'))
  expect(await settled).toMatchObject([{ status: 'rejected', reason: { message: 'The disk failed.' } }])
  await background.close()
})

test('a process with a database that it does not close ends by itself after its reads', async () => {
  await using folder = await temporaryFolder()
  const database = await createDatabase(`file:${folder.file}`)
  await database.write((tx) => insertOne(tx.users, newUser('ada')))
  await database.close()
  await fill(folder.file, 60_000)
  const script = `
    import { createDatabase } from ${JSON.stringify(new URL('../index.ts', import.meta.url).href)}
    const { read } = await createDatabase(${JSON.stringify(`file:${folder.file}`)})
    console.log(await read.items.count({}))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  expect(stdout).toBe('60000\n')
})

async function fill(file: string, rows: number) {
  const sqlite = new Sqlite(file)
  sqlite
    .prepare(
      `INSERT INTO items (name, name_key, price, category, version)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        SELECT 'Lamp ' || i, 'lamp ' || i, i % 7, 'c' || (i % 3), 1 FROM n`,
    )
    .run(rows)
  sqlite.close()
}
