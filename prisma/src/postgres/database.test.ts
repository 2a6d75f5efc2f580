import { startPostgres } from '@resource/postgres-test'
import { expect, test } from 'vitest'
import { breakableNetwork } from '../../test/network.ts'
import { emptyDatabase, openDatabase, temporaryDatabase } from '../../test/postgres.ts'
import { createDatabase, isBusy, uniqueViolation } from '../index.ts'
import { newUser } from '../test-database.ts'

test.each([
  'postgresql://',
  'postgresql://localhost',
  'postgresql://localhost/',
  'postgres://app:hunter2@db.example.com',
  'postgres://app:hunter2/@db.example.com/app',
  'postgres://app:hunter2@x@db.example.com/app',
  'postgres://app:hunter2#x@db.example.com/app',
  'postgres://app:hunter2?x@db.example.com/app',
  'postgres://app:hunter2@db.example.com:port/app',
])('the URL "%s" is refused with the form of a right one and without its password', async (url) => {
  await expect(createDatabase(url)).rejects.toThrow(
    'The database URL must be postgresql://user:password@host:port/database, special characters percent-encoded.',
  )
})

test('every connection has the time-outs of the settings, and those of the URL go before them', async () => {
  const { url } = await emptyDatabase()
  const settings = async (database: { read: { $queryRawUnsafe: (sql: string) => Promise<unknown> } }) =>
    database.read.$queryRawUnsafe(`SELECT name, setting FROM pg_settings
      WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout', 'application_name') ORDER BY name`)
  const first = await createDatabase(url, { statementTimeoutMs: 1234 })
  expect(await settings(first)).toEqual([
    { name: 'application_name', setting: 'resource-service' },
    { name: 'idle_in_transaction_session_timeout', setting: '60000' },
    { name: 'statement_timeout', setting: '1234' },
  ])
  await first.close()
  const second = await createDatabase(`${url}?statement_timeout=777&application_name=mine`, {
    statementTimeoutMs: 1234,
  })
  expect(await settings(second)).toEqual([
    { name: 'application_name', setting: 'mine' },
    { name: 'idle_in_transaction_session_timeout', setting: '60000' },
    { name: 'statement_timeout', setting: '777' },
  ])
  await second.close()
})

test('there are never more connections than the pool may have', async () => {
  await using database = await temporaryDatabase({ poolSize: 2 })
  await Promise.all(Array.from({ length: 20 }, () => database.read.user.count()))
  const [{ count } = {}] = await database.rows(
    `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  )
  expect(count).toBe(2)
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

test('a write that throws leaves nothing', async () => {
  await using database = await temporaryDatabase()
  const failing = database.write(async (tx) => {
    await tx.user.create({ data: newUser('ada') })
    throw new Error('changed my mind')
  })
  await expect(failing).rejects.toThrow('changed my mind')
  expect(await database.read.user.count()).toBe(0)
})

test('a write that swallows the failure of a statement is not told as written', async () => {
  await using database = await temporaryDatabase()
  await database.write((tx) => tx.user.create({ data: newUser('ada') }))
  const write = database.write(async (tx) => {
    await tx.user.create({ data: newUser('bob') })
    await tx.user.create({ data: newUser('ada') }).catch(() => {})
    return 'written'
  })
  await expect(write).rejects.toThrow('The transaction was undone: a statement in it had failed.')
  expect(await database.read.user.count()).toBe(1)
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
  await create()
  expect(uniqueViolation(await create().catch((error) => error))).toEqual(['email_key'])
  expect(uniqueViolation(await copy().catch((error) => error))).toEqual(['email_key'])
})

test('a thousand records are stored by one statement', async () => {
  await using database = await temporaryDatabase()
  const data = Array.from({ length: 1000 }, (_, n) => ({ ...newUser(`user${n}`), age: n % 100, password_hash: 'x' }))
  const stored = await database.write((tx) => tx.user.createManyAndReturn({ data }))
  expect(stored.map(({ id }) => id)).toEqual(Array.from({ length: 1000 }, (_, n) => n + 1))
  // The number of the statement within its transaction.
  expect(await database.rows('SELECT DISTINCT cmin::text FROM users')).toEqual([{ cmin: '0' }])
})

test('timestamps keep their milliseconds, whatever the time zone of the session', async () => {
  await using database = await temporaryDatabase()
  await database.setDefault("timezone = 'Asia/Kolkata'")
  const { id } = await database.write((tx) => tx.user.create({ data: newUser('ada') }))
  await using other = await openDatabase(database.url)
  expect(await other.read.user.findUnique({ where: { id } })).toMatchObject({
    created_at: new Date('2026-01-02T03:04:05.678Z'),
  })
  await other.write((tx) =>
    tx.user.update({ where: { id }, data: { updated_at: new Date('2026-07-02T03:04:05.001Z') } }),
  )
  expect(await database.read.user.findUnique({ where: { id } })).toMatchObject({
    updated_at: new Date('2026-07-02T03:04:05.001Z'),
  })
})

test.each([0, 0.1 + 0.2, 1e12, 999_999_999_999.9999, 5e-324, 1.7976931348623157e-300])(
  'the price %d comes back as it was',
  async (price) => {
    await using database = await temporaryDatabase()
    const { id } = await database.write((tx) => tx.item.create({ data: { name: 'x', price } }))
    expect((await database.read.item.findUnique({ where: { id } }))?.price).toBe(price)
  },
)

test('two writes that lock each other out both succeed', async () => {
  await using database = await temporaryDatabase()
  const [ada, bob] = await database.write((tx) =>
    tx.user.createManyAndReturn({ data: [newUser('ada'), newUser('bob')] }),
  )
  const met = barrier(2)
  const attempts: string[] = []
  const both = (name: string, ids: (number | undefined)[]) =>
    database.write(async (tx) => {
      attempts.push(name)
      await tx.user.updateMany({ where: { id: ids[0] ?? 0 }, data: { version: { increment: 1 } } })
      await met()
      await tx.user.updateMany({ where: { id: ids[1] ?? 0 }, data: { version: { increment: 1 } } })
    })
  await Promise.all([both('up', [ada?.id, bob?.id]), both('down', [bob?.id, ada?.id])])
  expect(attempts.length).toBe(3)
  const versions = await database.read.user.findMany({ select: { version: true }, orderBy: { id: 'asc' } })
  expect(versions).toEqual([{ version: 3 }, { version: 3 }])
})

test('a hundred concurrent writes whose own statement decides lose none', async () => {
  await using database = await temporaryDatabase()
  const { id } = await database.write((tx) => tx.user.create({ data: newUser('ada') }))
  const increment = () =>
    database.write((tx) => tx.user.updateMany({ where: { id }, data: { version: { increment: 1 } } }))
  await Promise.all(Array.from({ length: 100 }, increment))
  expect(await database.read.user.findUnique({ where: { id } })).toMatchObject({ version: 101 })
})

test('of two writes that ask for the same version one is done', async () => {
  await using database = await temporaryDatabase()
  const { id } = await database.write((tx) => tx.user.create({ data: newUser('ada') }))
  const claim = () =>
    database.write((tx) => tx.user.updateMany({ where: { id, version: 1 }, data: { version: { increment: 1 } } }))
  const counts = (await Promise.all([claim(), claim(), claim()])).map(({ count }) => count)
  expect(counts.sort()).toEqual([0, 0, 1])
})

test('a statement that takes too long is cut off and told as busy', async () => {
  await using database = await temporaryDatabase({ statementTimeoutMs: 50 })
  const slow = await database.read.$queryRaw`SELECT pg_sleep(30)::text`.catch((error) => error)
  expect(isBusy(slow)).toBe(true)
  expect(await database.read.user.count()).toBe(0)
})

test('a query for which no connection becomes free in time is told as busy', async () => {
  await using database = await temporaryDatabase({ poolSize: 1, connectTimeoutMs: 50 })
  await database.write(async (tx) => {
    await tx.user.create({ data: newUser('ada') })
    expect(isBusy(await database.read.user.count().catch((error) => error))).toBe(true)
    const inner = database.write((other) => other.user.count())
    expect(isBusy(await inner.catch((error) => error))).toBe(true)
  })
  expect(await database.read.user.count()).toBe(1)
})

test('while the server is gone every query is told as busy, and once it is back they succeed by themselves', async () => {
  await using server = await startPostgres()
  await using database = await openDatabase(server.url)
  const create = (name: string) => database.write((tx) => tx.user.create({ data: newUser(name) }))
  const fault = (query: Promise<unknown>) => query.catch((error) => ({ isBusy: isBusy(error), error }))
  await create('ada')
  const cut = database.write(async (tx) => {
    await tx.user.create({ data: newUser('lost') })
    await server.stop('crash')
    return tx.user.count()
  })
  expect(await fault(cut)).toMatchObject({ isBusy: true })
  expect(await fault(create('bob'))).toMatchObject({ isBusy: true })
  expect(await fault(database.read.user.count())).toMatchObject({ isBusy: true })
  expect(await fault(database.ping())).toMatchObject({ isBusy: true })
  await server.start()
  await database.ping()
  await create('bob')
  expect(await database.read.user.findMany({ select: { name: true } })).toEqual([{ name: 'ada' }, { name: 'bob' }])
})

test('a connection that the administrator ends is told as busy, and the next query has another', async () => {
  await using database = await temporaryDatabase()
  const cut = database.write(async (tx) => {
    await tx.user.create({ data: newUser('ada') })
    await database.endConnections()
    return 'written'
  })
  expect(await cut.catch((error) => ({ isBusy: isBusy(error), error }))).toMatchObject({ isBusy: true })
  expect(await database.read.user.count()).toBe(0)
})

test('a network that falls silent is given up, and the next query has another connection', async () => {
  const { url } = await emptyDatabase()
  await using network = await breakableNetwork(Number(new URL(url).port))
  const database = await createDatabase(url.replace(/:\d+\//, `:${network.port}/`), { statementTimeoutMs: 100 })
  expect(await database.read.user.count()).toBe(0)
  network.silence()
  expect(isBusy(await database.read.user.count().catch((error) => error))).toBe(true)
  expect(await database.read.user.count()).toBe(0)
  await database.close()
})

test('a server that takes no writes is told as busy', async () => {
  await using database = await temporaryDatabase()
  await database.setDefault('default_transaction_read_only = on')
  await database.endConnections()
  const write = database.write((tx) => tx.user.create({ data: newUser('ada') }))
  expect(isBusy(await write.catch((error) => error))).toBe(true)
})

test('another error is neither a unique violation nor a busy database', async () => {
  await using database = await temporaryDatabase()
  const missing = await database.write((tx) => tx.user.delete({ where: { id: 1 } })).catch((error) => error)
  const nowhere = await database.read.$queryRaw`SELECT * FROM nowhere`.catch((error) => error)
  for (const error of [missing, nowhere]) {
    expect(uniqueViolation(error)).toBeUndefined()
    expect(isBusy(error)).toBe(false)
  }
})

test('a closed database does not answer', async () => {
  const { url } = await emptyDatabase()
  const database = await createDatabase(url)
  await database.ping()
  await database.close()
  await expect(database.ping()).rejects.toThrow()
  await expect(database.read.user.count()).rejects.toThrow()
})

/** What many wait at until all have come; whoever comes later does not wait. */
function barrier(size: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let come = 0
  return () => {
    if (++come === size) resolve()
    return promise
  }
}
