import { statSync } from 'node:fs'
import { copyFile, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { newUser, temporaryDatabase, temporaryFolder } from '../../test/database.ts'
import { insertOne } from '../../test/rows.ts'
import { createDatabase, Damaged, type Database, DurabilityLost } from '../index.ts'
import { check } from './backup.ts'

const insert = (database: Database, name: string) => database.write((tx) => insertOne(tx.users, newUser(name)))

async function remove(file: string): Promise<void> {
  for (const ending of ['', '-wal', '-shm']) await rm(file + ending)
}

test.each<[string, (file: string) => Promise<void>]>([
  ['deleted', remove],
  ['moved', (file) => rename(file, `${file}.old`)],
  [
    'moved with its write-ahead log',
    async (file) => {
      for (const ending of ['', '-wal', '-shm']) await rename(file + ending, `${file}.old${ending}`)
    },
  ],
  [
    'replaced',
    async (file) => {
      await copyFile(file, `${file}.new`)
      await rename(`${file}.new`, file)
    },
  ],
])('a file that is %s accepts no further writes', async (_, displace) => {
  const warned = Promise.withResolvers<string>()
  await using database = await temporaryDatabase({ onWarning: warned.resolve })
  await insert(database, 'ada')
  await displace(database.file)
  expect(await warned.promise).toBe('no more writes are accepted')
  await expect(insert(database, 'bob')).rejects.toThrow(DurabilityLost)
  await expect(insert(database, 'cid')).rejects.toThrow('was moved, deleted or replaced while the service was running')
  await expect(database.ping()).rejects.toThrow(DurabilityLost)
  expect(await database.read.users.find({ name: 'ada' })).toMatchObject({ name: 'ada' })
})

test('a ping finds that the write-ahead log was deleted, and no further writes are accepted', async () => {
  await using database = await temporaryDatabase()
  await insert(database, 'ada')
  await database.ping()
  await rm(`${database.file}-wal`)
  await expect(database.ping()).rejects.toThrow(DurabilityLost)
  await expect(insert(database, 'bob')).rejects.toThrow(DurabilityLost)
})

test('the log of a replaced file is renamed, so that the next start does not apply it to the new file', async () => {
  await using folder = await temporaryFolder()
  const url = `file:${folder.file}`
  const other = await createDatabase(`${url}.other`)
  await insert(other, 'other')
  await other.close()
  const database = await createDatabase(url)
  await insert(database, 'ada')
  const { ino } = statSync(folder.file)
  await rename(`${folder.file}.other`, folder.file)
  await database.close()
  await rm(`${folder.file}-shm`, { force: true })
  expect((await readdir(dirname(folder.file))).sort()).toEqual(['test.db', `test.db-wal.${ino}`])
  await using next = { ...(await createDatabase(url)), [Symbol.asyncDispose]: () => next.close() }
  expect(await next.read.users.find({ name: 'other' })).toMatchObject({ name: 'other' })
  expect(await next.read.users.find({ name: 'ada' })).toBeUndefined()
  expect(check(url)).toMatchObject({ damage: [], mismatch: null })
})

test('a damaged page is reported as such by reads and writes', async () => {
  await using folder = await temporaryFolder()
  const url = `file:${folder.file}`
  await (await createDatabase(url)).close()
  const sqlite = new Sqlite(folder.file)
  const page = sqlite.prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'users'`).pluck().get() as number
  sqlite.close()
  await using file = await open(folder.file, 'r+')
  await file.write(Buffer.alloc(4096, 0xff), 0, 4096, (page - 1) * 4096)
  await using database = { ...(await createDatabase(url)), [Symbol.asyncDispose]: () => database.close() }
  await expect(insert(database, 'ada')).rejects.toThrow(Damaged)
  await expect(async () => await database.read.users.find({ id: 1 })).rejects.toThrow(Damaged)
})

test('a process that joins others does not create a file', async () => {
  await using folder = await temporaryFolder()
  const url = `file:${folder.file}`
  await expect(createDatabase(url, { mustExist: true })).rejects.toThrow(`The database file ${folder.file} or its`)
  expect(await readdir(folder.path)).toEqual([])
  await (await createDatabase(url)).close()
  await (await createDatabase(url, { mustExist: true })).close()
})
