import { access, readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { connect } from './connection.ts'
import { createDatabase, isBusy, uniqueViolation } from './index.ts'
import { newUser, temporaryDatabase, temporaryFolder } from './test-database.ts'

test('a relative file: URL counts from the working directory and makes the missing folders', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'new', 'folder', 'app.db')
  const database = await createDatabase(`file:${relative(process.cwd(), file)}`)
  await database.close()
  await access(file)
})

test('a URL of another kind is refused with its host and without its password', async () => {
  await expect(createDatabase('postgres://admin:hunter2@db.example.com/app')).rejects.toThrow(
    'The database URL "postgres://db.example.com/…" is not supported: use "file:" and a path, such as "file:data/app.db".',
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
])('the URL "%s" is refused with an example of a right one', async (url) => {
  const refusal = await createDatabase(url).catch((error: Error) => error.message)
  expect(refusal).toContain('such as "file:data/app.db"')
  expect(refusal).not.toContain('hunter2')
})

test('a file that cannot be opened is named', async () => {
  await using folder = await temporaryFolder()
  await expect(createDatabase(`file:${folder.path}`)).rejects.toThrow(
    `The database file ${folder.path} cannot be opened`,
  )
})

test('both connections write ahead, reach the disk, check references and wait for locks', async () => {
  await using database = await temporaryDatabase()
  const settings = async (pragma: (name: string) => Promise<unknown>) => ({
    journal_mode: await pragma('journal_mode'),
    synchronous: await pragma('synchronous'),
    foreign_keys: await pragma('foreign_keys'),
  })
  const expected = {
    journal_mode: [{ journal_mode: 'wal' }],
    synchronous: [{ synchronous: 2n }],
    foreign_keys: [{ foreign_keys: 1n }],
  }
  expect(await settings((name) => database.read.$queryRawUnsafe(`PRAGMA ${name}`))).toEqual(expected)
  expect(await database.write((tx) => settings((name) => tx.$queryRawUnsafe(`PRAGMA ${name}`)))).toEqual(expected)
})

test('a read does not see a write that is still open, and sees it once it is done', async () => {
  await using database = await temporaryDatabase()
  await database.write(async (tx) => {
    await tx.user.create({ data: newUser('ada') })
    expect(await tx.user.count()).toBe(1)
    expect(await database.read.user.count()).toBe(0)
  })
  expect(await database.read.user.count()).toBe(1)
})

test('the read connection refuses to write and to open a transaction', async () => {
  await using database = await temporaryDatabase()
  await expect(database.read.user.create({ data: newUser('ada') })).rejects.toThrow('readonly database')
  await expect(database.read.$transaction((tx) => tx.user.count())).rejects.toThrow('belong to Database.write')
})

test('a write that throws leaves nothing, and the next one is not held up', async () => {
  await using database = await temporaryDatabase()
  const failing = database.write(async (tx) => {
    await tx.user.create({ data: newUser('ada') })
    throw new Error('changed my mind')
  })
  await expect(failing).rejects.toThrow('changed my mind')
  await database.write((tx) => tx.user.create({ data: newUser('bob') }))
  expect(await database.read.user.findMany({ select: { name: true } })).toEqual([{ name: 'bob' }])
})

test('a hundred concurrent writes succeed, one after another', async () => {
  await using database = await temporaryDatabase()
  const { id } = await database.write((tx) => tx.user.create({ data: newUser('ada') }))
  const increment = () =>
    database.write(async (tx) => {
      const { version } = await tx.user.findUniqueOrThrow({ where: { id } })
      return tx.user.update({ where: { id }, data: { version: version + 1 } })
    })
  await Promise.all(Array.from({ length: 100 }, increment))
  expect(await database.read.user.findUnique({ where: { id } })).toMatchObject({ version: 101 })
})

test('the id of a deleted record is never given out again', async () => {
  await using database = await temporaryDatabase()
  const first = await database.write((tx) => tx.user.create({ data: newUser('ada') }))
  await database.write((tx) => tx.user.delete({ where: { id: first.id } }))
  const second = await database.write((tx) => tx.user.create({ data: newUser('ada') }))
  expect(second.id).toBe(first.id + 1)
})

test('what was written is there after close and reopen, to the millisecond', async () => {
  await using folder = await temporaryFolder()
  const before = await createDatabase(`file:${folder.file}`)
  await before.write((tx) => tx.user.create({ data: newUser('ada') }))
  await before.close()
  expect(await readdir(dirname(folder.file))).toEqual(['test.db'])

  const after = await createDatabase(`file:${folder.file}`)
  expect(await after.read.user.findUnique({ where: { id: 1 } })).toEqual({
    ...newUser('ada'),
    id: 1,
    password_hash: null,
    age: null,
    version: 1,
  })
  await after.close()
})

test('a timestamp is stored as milliseconds since 1970', async () => {
  await using database = await temporaryDatabase()
  await database.write((tx) => tx.user.create({ data: newUser('ada') }))
  const plain = new Sqlite(database.file, { readonly: true })
  expect(plain.prepare('SELECT created_at FROM users').pluck().get()).toBe(Date.parse('2026-01-02T03:04:05.678Z'))
  plain.close()
})

test('a unique violation is recognised with its columns, in a model query and in raw SQL', async () => {
  await using database = await temporaryDatabase()
  const create = () => database.write((tx) => tx.user.create({ data: newUser('ada') }))
  const copy = () =>
    database.write(
      (tx) => tx.$executeRaw`
        INSERT INTO users (name, email, email_key, role, status, created_at, updated_at)
        SELECT name, email, email_key, role, status, created_at, updated_at FROM users`,
    )
  const key = { procedure: 'users.create', key: 'k', fingerprint: '', answer: '', created_at: new Date() }
  const createKey = () => database.write((tx) => tx.idempotencyKey.create({ data: key }))
  await create()
  await createKey()
  expect(uniqueViolation(await create().catch((error) => error))).toEqual(['email_key'])
  expect(uniqueViolation(await copy().catch((error) => error))).toEqual(['email_key'])
  expect(uniqueViolation(await createKey().catch((error) => error))).toEqual(['procedure', 'key'])
})

test('another error is neither a unique violation nor a busy database', async () => {
  await using database = await temporaryDatabase()
  const missing = await database.write((tx) => tx.user.delete({ where: { id: 1 } })).catch((error) => error)
  for (const error of [missing, new Error('other'), undefined, null, 'text']) {
    expect(uniqueViolation(error)).toBeUndefined()
    expect(isBusy(error)).toBe(false)
  }
})

test('a lock held by another process is told as busy, and the write after it succeeds', async () => {
  await using database = await temporaryDatabase({ lockWaitMs: 30 })
  const other = new Sqlite(database.file)
  other.exec('BEGIN IMMEDIATE')
  const create = () => database.write((tx) => tx.user.create({ data: newUser('ada') }))
  expect(isBusy(await create().catch((error) => error))).toBe(true)
  other.exec('ROLLBACK')
  other.close()
  expect(await create()).toMatchObject({ id: 1 })
})

test('while a write waits for another process, reads and the event loop go on', async () => {
  await using database = await temporaryDatabase()
  const other = new Sqlite(database.file)
  other.exec('BEGIN IMMEDIATE')
  const order: string[] = []
  const write = database.write((tx) => tx.user.create({ data: newUser('ada') })).then(() => order.push('write'))
  for (let turn = 0; turn < 100; turn++) await setImmediate()
  expect(await database.read.user.count()).toBe(0)
  order.push('read')
  other.exec('ROLLBACK')
  other.close()
  await write
  expect(order).toEqual(['read', 'write'])
})

test('a transaction whose turn does not come in time is told as busy and writes nothing', async () => {
  await using database = await temporaryDatabase()
  const client = connect(database.file)
  const late = await client.$transaction(async (tx) => {
    await tx.user.create({ data: newUser('ada') })
    return client
      .$transaction((inner) => inner.user.create({ data: newUser('bob') }), { maxWait: 1 })
      .catch((error) => error)
  })
  expect(isBusy(late)).toBe(true)
  await client.$transaction((tx) => tx.user.create({ data: newUser('cid') }))
  expect(await database.read.user.findMany({ select: { name: true } })).toEqual([{ name: 'ada' }, { name: 'cid' }])
  await client.$disconnect()
})

test('a transaction that takes too long is told as busy and leaves nothing', async () => {
  await using database = await temporaryDatabase()
  const client = connect(database.file)
  const slow = client.$transaction(
    async (tx) => {
      // A query needs no turn of the event loop, so the clock is only looked at between turns.
      for (let n = 0; ; n++, await setImmediate()) await tx.user.create({ data: newUser(`user${n}`) })
    },
    { timeout: 1 },
  )
  expect(isBusy(await slow.catch((error) => error))).toBe(true)
  expect(await database.read.user.count()).toBe(0)
  await client.$disconnect()
})

test('a closed database does not answer', async () => {
  const database = await temporaryDatabase()
  await database.ping()
  await database[Symbol.asyncDispose]()
  await expect(database.ping()).rejects.toThrow('The database is closed')
})
