import { startPostgres } from '@resource/postgres-test'
import { expect, test } from 'vitest'
import { newUser } from '../../test/database.ts'
import { breakableNetwork } from '../../test/network.ts'
import { emptyDatabase, migratedDatabase, openDatabase, temporaryDatabase } from '../../test/postgres.ts'
import { barrier, insertMany, insertOne, remove, removeMany, update } from '../../test/rows.ts'
import { Conflict, ReadOnly } from '../errors.ts'
import {
  createDatabase,
  type Database,
  isBusy,
  type RecordTable,
  type Tables,
  UniqueViolation,
  Unreachable,
  Unusable,
  type User,
} from '../index.ts'
import type { Executor } from '../tables/executor.ts'
import { sqlTables } from '../tables/tables.ts'
import { openPool } from './pool.ts'
import { PreparedQuery } from './query.ts'
import { openPrepared } from './transaction.ts'
import { readPostgresUrl } from './url.ts'

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
])('the URL "%s" is rejected with the required form and without its password', async (url) => {
  await expect(createDatabase(url)).rejects.toThrow(
    'The database URL must be postgresql://user:password@host:port/database, special characters percent-encoded.',
  )
})

test('every connection has the timeouts of the settings, and those of the URL take precedence', async () => {
  const { url, parsed } = await emptyDatabase()
  const settings = `SELECT name, setting FROM pg_settings WHERE name IN
    ('application_name', 'idle_in_transaction_session_timeout', 'statement_timeout') ORDER BY name`
  const first = openPool(parsed, { statementTimeoutMs: 1234 })
  expect((await first.query(settings)).rows).toEqual([
    { name: 'application_name', setting: 'resource-service' },
    { name: 'idle_in_transaction_session_timeout', setting: '60000' },
    { name: 'statement_timeout', setting: '1234' },
  ])
  await first.end()
  const named = readPostgresUrl(`${url}?statement_timeout=777&application_name=mine`)
  const second = openPool(named, { statementTimeoutMs: 1234 })
  expect((await second.query(settings)).rows).toEqual([
    { name: 'application_name', setting: 'mine' },
    { name: 'idle_in_transaction_session_timeout', setting: '60000' },
    { name: 'statement_timeout', setting: '777' },
  ])
  await second.end()
})

test('PostgreSQL plans a page once, but each time if the best index depends on the value of a filter', async () => {
  const { url, parsed } = await migratedDatabase()
  await using database = await openDatabase(url)
  const at = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n))
  const users = Array.from({ length: 5000 }, (_, n) => ({ ...newUser(`user${n}`), created_at: at(n) }))
  await database.write((tx) => insertMany(tx.users, users))
  const pool = openPool(parsed, { poolSize: 1 })
  await pool.query('ANALYZE users')
  const read = sqlTables(openPrepared(pool, 1000).executor)
  const order = { column: 'created_at', descending: false } as const
  const plans = async (query: Pick<Parameters<typeof read.users.page>[0], 'where' | 'seek'>) => {
    for (let run = 0; run < 10; run++) await read.users.page({ order, take: 21, ...query })
    const { rows } = await pool.query(
      `SELECT custom_plans::int, generic_plans::int FROM pg_prepared_statements ORDER BY prepare_time DESC LIMIT 1`,
    )
    return rows[0]
  }

  expect(await plans({ where: {} })).toEqual({ custom_plans: 0, generic_plans: 10 })
  // PostgreSQL makes five custom plans before it considers a generic one.
  const seek = [{ created_at: at(2500), id: { gt: 2501 } }, { created_at: { gt: at(2500) } }]
  expect(await plans({ where: {}, seek })).toEqual({ custom_plans: 5, generic_plans: 5 })
  expect(await plans({ where: { role: 'user', status: 'active' } })).toEqual({ custom_plans: 10, generic_plans: 0 })
  await pool.end()
})

test('a thousand records are inserted by one statement', async () => {
  await using database = await temporaryDatabase()
  await database.write((tx) =>
    insertMany(
      tx.users,
      Array.from({ length: 1000 }, (_, n) => newUser(`user${n}`)),
    ),
  )
  // The number of the statement within its transaction.
  expect(await database.rows('SELECT DISTINCT cmin::text FROM users')).toEqual([{ cmin: '0' }])
})

test('after a duplicate value the same write can insert other rows', async () => {
  await using database = await temporaryDatabase()
  await database.write(async (tx) => {
    await insertOne(tx.users, newUser('ada'))
    await expect(insertOne(tx.users, newUser('ada'))).rejects.toThrow(UniqueViolation)
    await insertOne(tx.users, newUser('bob'))
  })
  expect(await names(database)).toEqual(['ada', 'bob'])
})

test('a statement is named on every connection, and unnamed behind PgBouncer', async () => {
  const { url } = await migratedDatabase()
  for (const [parameters, known] of [
    ['', 1],
    ['?pgbouncer=true', 0],
  ] as const) {
    const parsed = readPostgresUrl(url + parameters)
    const pool = openPool(parsed, { poolSize: 1 })
    const read = sqlTables(openPrepared(pool, 1000).executor)
    await read.users.find({ id: 1 })
    await read.users.find({ id: 2 })
    expect((await pool.query('SELECT name FROM pg_prepared_statements')).rows).toHaveLength(known)
    await pool.end()
  }
})

test('a statement that the connection no longer has, or whose columns have changed, runs nevertheless, in a transaction too', async () => {
  await using database = await temporaryDatabase({ poolSize: 1 })
  await database.write((tx) => insertOne(tx.users, newUser('ada')))
  const pool = openPool(database.parsed, { poolSize: 1 })
  const { executor, transaction } = openPrepared(pool, 1000)
  const text = 'SELECT name, age FROM users WHERE id = ?'
  const read = async (from: Pick<Executor, 'all'>) => from.all({ text, values: [1] })
  const inTransaction = () => transaction(read, undefined)
  const found = [{ name: 'ada', age: null }]
  for (const change of ['DEALLOCATE ALL', 'ALTER TABLE users ALTER age TYPE bigint', 'DISCARD ALL']) {
    expect(await read(executor)).toEqual(found)
    await pool.query(change)
    expect(await read(executor)).toEqual(found)
  }
  const other = openPrepared(pool, 1000)
  const named = () => other.transaction(read, undefined)
  expect(await named()).toEqual(found)
  await pool.query('ALTER TABLE users ALTER age TYPE int')
  // A transaction is repeated as a whole.
  await expect(named()).rejects.toThrow(Conflict)
  expect(await named()).toEqual(found)
  expect(await inTransaction()).toEqual(found)
  await pool.end()
})

test('a write whose statement the connection has lost is repeated and applied once', async () => {
  await using database = await temporaryDatabase({ poolSize: 1 })
  const write = () =>
    database.write(async (tx) => {
      await tx.users.count({})
      await insertOne(tx.users, newUser(`user${await tx.users.count({})}`))
    })
  await write()
  await database.rows('ALTER TABLE users ALTER age TYPE bigint')
  await database.rows('ALTER TABLE users ALTER id TYPE bigint')
  await write()
  expect(await names(database)).toEqual(['user0', 'user1'])
})

test('a connection keeps the 500 statements used last', async () => {
  const { parsed } = await emptyDatabase()
  const pool = openPool(parsed, { poolSize: 1 })
  const { executor } = openPrepared(pool, 1000)
  const run = async (n: number) => expect(await executor.all({ text: `SELECT ${n} AS n`, values: [] })).toEqual([{ n }])
  for (let n = 1; n <= 3000; n++) {
    await run(n)
    if (n % 100 === 0) await run(1)
  }
  const { rows } = await pool.query('SELECT statement FROM pg_prepared_statements')
  const kept = rows.map(({ statement }) => Number(/\d+/.exec(statement))).sort((a, b) => a - b)
  expect([kept.length, kept[0], kept[1], kept[499]]).toEqual([500, 1, 2502, 3000])
  await pool.end()
})

test('behind a pooler every statement runs with the timeouts of the settings, alone and in a transaction', async () => {
  const { url } = await migratedDatabase()
  const pool = openPool(readPostgresUrl(`${url}?pgbouncer=true&lock_timeout=777`), { statementTimeoutMs: 1234 })
  const text = `SELECT name, setting FROM pg_settings WHERE name IN
    ('lock_timeout', 'idle_in_transaction_session_timeout', 'statement_timeout') ORDER BY name`
  const expected = [
    { name: 'idle_in_transaction_session_timeout', setting: '60000' },
    { name: 'lock_timeout', setting: '777' },
    { name: 'statement_timeout', setting: '1234' },
  ]
  const { executor, transaction } = openPrepared(pool, 1000)
  expect(await executor.all({ text, values: [] })).toEqual(expected)
  expect(await transaction(async (tx) => tx.all({ text, values: [] }), 1n)).toEqual(expected)
  expect((await pool.query(text)).rows).toEqual(expected)
  await pool.end()
})

test('a rollback is never taken for a commit, in whatever form the driver gets it', async () => {
  const { parsed } = await emptyDatabase()
  for (const pool of [openPool(parsed, {}), openPool({ ...parsed, pgbouncer: true }, {})]) {
    const client = await pool.connect()
    for (const commit of [
      () => client.query('COMMIT'),
      () => client.query('end'),
      () => client.query({ text: 'COMMIT' }),
      () => client.query({ text: 'COMMIT', values: [] }),
      () => client.query('SELECT 1; COMMIT').catch(() => client.query('COMMIT; SELECT 1')),
      () => new Promise((resolve, reject) => client.query('COMMIT', (error) => (error ? reject(error) : resolve(1)))),
      () =>
        new Promise((resolve, reject) => {
          const settle = (error: unknown) => (error ? reject(error) : resolve(1))
          client.query(new PreparedQuery('', 'COMMIT', []) as never, settle as never)
        }),
    ]) {
      await client.query('BEGIN')
      await client.query('SELECT 1 / 0').catch(() => {})
      await expect(commit()).rejects.toThrow('The transaction was rolled back because a statement in it failed.')
    }
    await client.query('BEGIN; SELECT 1')
    expect(await client.query('ROLLBACK')).toMatchObject({ command: 'ROLLBACK' })
    client.release()
    await pool.end()
  }
})

test('a database that cannot be opened leaves no connection', async () => {
  const { url, rows } = await migratedDatabase()
  await rows('DROP EXTENSION pg_trgm CASCADE')
  const onWarning = () => {
    throw new Error('no warnings')
  }
  await expect(createDatabase(url, { onWarning })).rejects.toThrow('no warnings')
  await expect
    .poll(() => rows('SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'))
    .toEqual([])
})

test('writes use at most one of two connections, reads both, and there is never a third', async () => {
  await using database = await temporaryDatabase({ poolSize: 2 })
  const connections = async () =>
    (
      await database.rows(`SELECT pid FROM pg_stat_activity WHERE datname = current_database()
        AND backend_type = 'client backend' AND pid <> pg_backend_pid()`)
    ).length
  const read = () => database.read.users.find({})
  const write = () => database.write((tx) => tx.users.find({}))
  const twenty = (work: () => Promise<unknown>) => Promise.all(Array.from({ length: 20 }, work))
  await twenty(write)
  expect(await connections()).toBe(1)
  await twenty(read)
  expect(await connections()).toBe(2)
  await twenty(() => Promise.all([read(), write(), database.read.users.count({})]))
  expect(await connections()).toBe(2)
})

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
  const { users } = database.read
  for (const write of [
    insertOne(users, newUser('ada')),
    insertMany(users, [newUser('ada')]),
    update(users, 1, undefined, { name: 'Ada' }),
    remove(users, 1, undefined),
    users.deleteAll({}),
  ]) {
    await expect(write).rejects.toThrow('readonly database')
  }
})

test('a write that throws is rolled back', async () => {
  await using database = await temporaryDatabase()
  const failing = database.write(async (tx) => {
    await insertOne(tx.users, newUser('ada'))
    throw new Error('changed my mind')
  })
  await expect(failing).rejects.toThrow('changed my mind')
  expect(await names(database)).toEqual([])
})

test('a write that ignores a failed statement is an error', async () => {
  await using database = await temporaryDatabase()
  const taken = { email_key: 'ada@example.com' }
  await database.write((tx) => insertMany(tx.users, [newUser('ada'), newUser('bob')]))
  const write = database.write(async (tx) => {
    await insertOne(tx.users, newUser('cid'))
    await update(tx.users, 2, undefined, taken).catch(() => {})
    return 'written'
  })
  await expect(write).rejects.toThrow('The transaction was rolled back because a statement in it failed.')
  expect(await names(database)).toEqual(['ada', 'bob'])
})

test('timestamps keep their milliseconds in every time zone of the session', async () => {
  await using database = await temporaryDatabase()
  await database.write((tx) => insertOne(tx.users, newUser('ada')))
  await database.setDefault("timezone = 'Asia/Kolkata'")
  await using other = await openDatabase(database.url)
  expect(await other.read.users.find({ id: 1 })).toMatchObject({ created_at: new Date('2026-01-02T03:04:05.678Z') })
  const updated_at = new Date('2026-07-02T03:04:05.001Z')
  expect(await other.write((tx) => update(tx.users, 1, undefined, { age: 1, updated_at }))).toMatchObject({
    after: { updated_at },
  })
  expect(await database.read.users.find({ id: 1, updated_at: { lte: updated_at } })).toMatchObject({ updated_at })
})

test('an update that changes nothing keeps version and updated_at, and still checks the version', async () => {
  await using database = await temporaryDatabase()
  const before = await database.write((tx) => insertOne(tx.users, newUser('ada')))
  const { id: _, version, ...same } = before
  const updated_at = new Date(before.updated_at.getTime() + 5)
  for (const changes of [{ ...same, updated_at }, { name: undefined, updated_at }, {}]) {
    const change = await database.write((tx) => update(tx.users, 1, [version], changes))
    expect(change).toEqual({ before, after: before })
    expect(await database.write((tx) => update(tx.users, 1, [version + 1], changes))).toBeUndefined()
  }
  expect(await database.read.users.find({ id: 1 })).toEqual(before)
})

test('each of the thousand milliseconds of a second is returned as stored, and so are the ends of months, years and the supported range', async () => {
  await using database = await temporaryDatabase()
  const times = [
    ...Array.from({ length: 1000 }, (_, ms) => new Date(Date.UTC(2026, 0, 2, 3, 4, 5, ms))),
    ...['1969-12-31T23:59:59.999Z', '2024-02-29T00:00:00.000Z', '2000-12-31T23:59:59.100Z'].map(
      (text) => new Date(text),
    ),
    ...[
      '0001-01-01T00:00:00.010Z',
      '0099-12-31T23:59:59.999Z',
      '0100-01-01T00:00:00.010Z',
      '9999-12-31T23:59:59.999Z',
    ].map((text) => new Date(text)),
  ]
  const rows = times.map((created_at, n) => ({ ...newUser(`user${n}`), created_at }))
  await database.write((tx) => insertMany(tx.users, rows))
  const read = await database.read.users.page({ where: {}, order: { column: 'id', descending: false }, take: 2000 })
  expect(read.map(({ created_at }) => created_at)).toEqual(times)
})

test.each([0, 0.1 + 0.2, 1e12, 999_999_999_999.9999, 5e-324, 1.7976931348623157e-300])(
  'the price %d is returned as stored, and finds its row',
  async (price) => {
    await using database = await temporaryDatabase()
    const stored = await database.write((tx) =>
      insertMany(tx.items, [
        { name: 'x', name_key: 'x', price },
        { name: 'y', name_key: 'y', price },
      ]),
    )
    expect(stored.map((row) => row.price)).toEqual([price, price])
    expect((await database.read.items.find({ id: 2 }))?.price).toBe(price)
    expect(await database.read.items.count({ price })).toBe(2)
  },
)

test('text is returned as stored, with quotes, braces, backslashes and all planes of Unicode', async () => {
  await using database = await temporaryDatabase()
  const text = ['"', "'", '\\', '{a,b}', 'NULL', 'null', '', '\u{1f600}', '\uffff', 'a\nb', '$1', '?']
  await database.write((tx) =>
    insertMany(
      tx.items,
      text.map((name) => ({ name, name_key: name, price: 1, category: name })),
    ),
  )
  const items = await database.read.items.page({ where: {}, order: byId, take: 100 })
  expect(items.map(({ name }) => name)).toEqual(text)
  expect(items.map(({ category }) => category)).toEqual(text)
})

test('two writes in a deadlock both succeed', async () => {
  await using database = await temporaryDatabase()
  await database.write((tx) => insertMany(tx.users, [newUser('ada'), newUser('bob')]))
  const met = barrier(2)
  let attempts = 0
  const both = (first: number, second: number) =>
    database.write(async (tx) => {
      attempts++
      await update(tx.users, first, undefined, { age: 1 })
      await met()
      await update(tx.users, second, undefined, { age: 2 })
    })
  await Promise.all([both(1, 2), both(2, 1)])
  expect(attempts).toBe(3)
  const users = await database.read.users.page({ where: {}, order: byId, take: 10 })
  expect(users.map(({ version }) => version)).toEqual([3, 3])
})

test('a write that loses twenty conflicts is retried until it succeeds', async () => {
  await using database = await temporaryDatabase()
  await database.write((tx) => insertOne(tx.users, newUser('ada')))
  await database.rows(loseWhile(`nextval('attempts') <= 20`))
  await database.write((tx) => update(tx.users, 1, undefined, { name: 'Ada' }))
  expect(await database.rows('SELECT name, version FROM users')).toEqual([{ name: 'Ada', version: 2 }])
})

test('a write that conflicts until its time limit is a busy error', async () => {
  await using database = await temporaryDatabase({ writeTimeoutMs: 500 })
  await database.write((tx) => insertOne(tx.users, newUser('ada')))
  await database.rows(loseWhile('true'))
  const losing = database.write((tx) => update(tx.users, 1, undefined, { name: 'Ada' }))
  expect(isBusy(await losing.catch((error) => error))).toBe(true)
})

test('a hundred concurrent writes decided by their own statement are all applied', async () => {
  await using database = await temporaryDatabase()
  await database.write((tx) => insertOne(tx.users, newUser('ada')))
  const write = (age: number) => database.write((tx) => update(tx.users, 1, undefined, { age }))
  const changes = await Promise.all(Array.from({ length: 100 }, (_, n) => write(n)))
  expect(await database.read.users.find({ id: 1 })).toMatchObject({ version: 101 })
  // The record before each write is the record after another one.
  const made = new Map(changes.map((change) => [change?.after.version, change?.after]))
  const ages = changes.map((change) => [change?.before.version, change?.before.age])
  expect(ages).toEqual(
    changes.map((change) => {
      const version = Number(change?.after.version) - 1
      return [version, version === 1 ? null : made.get(version)?.age]
    }),
  )
})

test('one of three writes with the same expected version succeeds', async () => {
  await using database = await temporaryDatabase()
  await database.write((tx) => insertOne(tx.users, newUser('ada')))
  const claim = () => database.write((tx) => update(tx.users, 1, [1], { age: 1 }))
  const written = await Promise.all([claim(), claim(), claim()])
  expect(written.filter((row) => row !== undefined)).toHaveLength(1)
})

test('one of two concurrent writes of the same unique value is rejected', async () => {
  await using database = await temporaryDatabase()
  const met = barrier(2)
  const insert = () =>
    database.write(async (tx) => {
      await met()
      return insertMany(tx.users, [newUser('bob'), newUser('ada')])
    })
  const [one, other] = (await Promise.allSettled([insert(), insert()])).sort((a, b) => (a.status < b.status ? -1 : 1))
  expect(one).toMatchObject({ status: 'fulfilled' })
  expect(other).toMatchObject({ status: 'rejected', reason: { columns: ['email_key'] } })
  expect(await names(database)).toEqual(['bob', 'ada'])
})

test('writes with the same lock key run one after another and see the previous result; others do not wait', async () => {
  await using database = await temporaryDatabase()
  await database.write((tx) => insertOne(tx.users, { ...newUser('ada'), age: 0 }))
  const increment = () =>
    database.write(
      async (tx) => {
        const user = await tx.users.find({ id: 1 })
        return update(tx.users, 1, undefined, { age: Number(user?.age) + 1 })
      },
      { lockKey: 'ada' },
    )
  await Promise.all(Array.from({ length: 20 }, increment))
  expect(await database.read.users.find({ id: 1 })).toMatchObject({ age: 20 })
  await database.write(() => database.write((tx) => insertOne(tx.users, newUser('bob')), { lockKey: 'bob' }), {
    lockKey: 'ada',
  })
  expect(await names(database)).toEqual(['ada', 'bob'])
})

test('large writes and dry runs of one caller run one after another, those of others beside them, two at once', async () => {
  await using database = await temporaryDatabase()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const begun: string[] = []
  const write = (name: string, caller: string, kind: 'isLarge' | 'isDryRun') =>
    database.write(
      async () => {
        begun.push(name)
        await ended
        throw new Error(name)
      },
      { [kind]: true, caller },
    )
  const running = Promise.allSettled([
    write('first of a', 'a', 'isDryRun'),
    write('second of a', 'a', 'isLarge'),
    write('first of b', 'b', 'isLarge'),
    write('first of c', 'c', 'isDryRun'),
  ])
  const firsts = ['first of a', 'first of b']
  await expect.poll(() => begun.toSorted()).toEqual(firsts)
  // Other writes do not wait for them.
  for (const caller of ['a', 'd']) await database.write((tx) => tx.items.count({}), { caller })
  expect(begun.toSorted()).toEqual(firsts)
  end()
  await running
  expect(begun.toSorted()).toEqual(['first of a', 'first of b', 'first of c', 'second of a'])
})

test('a delete during other writes returns the number of deleted rows', async () => {
  await using database = await temporaryDatabase()
  await database.write((tx) =>
    insertMany(
      tx.users,
      Array.from({ length: 1200 }, (_, n) => newUser(`user${n}`)),
    ),
  )
  const met = barrier(2)
  const [removed, kept] = await Promise.all([
    met().then(() => database.write((tx) => tx.users.deleteAll({ status: 'active' }))),
    database.write(async (tx) => {
      const row = await update(tx.users, 7, undefined, { status: 'inactive' })
      await met()
      return row
    }),
  ])
  expect([removed, kept?.after.status]).toEqual([1199, 'inactive'])
  expect(await database.read.users.count({})).toBe(1)
})

test('a delete of many records during other writes returns each in its last state', async () => {
  await using database = await temporaryDatabase()
  await database.write((tx) =>
    insertMany(
      tx.users,
      Array.from({ length: 20 }, (_, n) => newUser(`user${n}`)),
    ),
  )
  const ids = Array.from({ length: 20 }, (_, n) => n + 1).filter((id) => id !== 7)
  const met = barrier(2)
  const [removed] = await Promise.all([
    met().then(() => database.write((tx) => removeMany(tx.users, ids))),
    database.write(async (tx) => {
      await update(tx.users, 7, undefined, { status: 'inactive' })
      await update(tx.users, 8, undefined, { name: 'Ada' })
      await met()
    }),
  ])
  expect(removed.length).toBe(19)
  expect(removed.find(({ id }) => id === 8)).toMatchObject({ name: 'Ada', version: 2 })
  expect(await database.read.users.find({})).toMatchObject({ id: 7, status: 'inactive' })
})

test('a ping fails within a second if the network is silent, and succeeds on a new connection', async () => {
  await using database = await temporaryDatabase()
  await using network = await breakableNetwork(Number(new URL(database.url).port))
  const url = database.url.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${network.port}`)
  await using remote = await openDatabase(url)
  await remote.ping()
  network.silence()
  await expect(remote.ping()).rejects.toThrow('PostgreSQL does not answer.')
  await remote.ping()
})

test('a statement that takes too long is canceled with a busy error', async () => {
  await using database = await temporaryDatabase()
  await using impatient = await openDatabase(database.url, { statementTimeoutMs: 1_000 })
  await database.write((tx) => insertOne(tx.users, newUser('ada')))
  const late = await database.write(async (tx) => {
    await update(tx.users, 1, undefined, { age: 1 })
    return impatient.write((other) => update(other.users, 1, undefined, { age: 2 })).catch((error) => error)
  })
  expect(isBusy(late)).toBe(true)
  expect(await database.read.users.find({ id: 1 })).toMatchObject({ age: 1 })
})

test('a write that takes too long is a busy error and is rolled back', async () => {
  await using database = await temporaryDatabase({ writeTimeoutMs: 1_000 })
  const { promise: lateQuery, resolve } = Promise.withResolvers<unknown>()
  const slow = database.write(async (tx) => {
    try {
      for (let n = 0; ; n++) await insertOne(tx.users, newUser(`user${n}`))
    } catch (error) {
      resolve(error)
      throw error
    }
  })
  expect(isBusy(await slow.catch((error) => error))).toBe(true)
  expect(await lateQuery).toBeInstanceOf(Error)
  expect(await names(database)).toEqual([])
})

test('a read that gets no connection within the time limit of connections is a busy error, and a write within that of writes', async () => {
  await using database = await temporaryDatabase({
    poolSize: 1,
    connectTimeoutMs: 1_000,
    writeTimeoutMs: 5_000,
  })
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  // Outside of a transaction, a write has no time limit.
  const long = database.write(
    async (tx) => {
      await insertOne(tx.users, newUser('ada'))
      begun.resolve()
      await end.promise
    },
    { autocommit: true },
  )
  await begun.promise
  const late = database.write((tx) => insertOne(tx.users, newUser('bob')))
  expect(isBusy(await late.catch((error) => error))).toBe(true)
  end.resolve()
  await long
  await database.write(async () => {
    expect(isBusy(await database.read.users.find({}).catch((error) => error))).toBe(true)
  })
  expect(await names(database)).toEqual(['ada'])
})

test('queries fail as unreachable while the server is down, and succeed once it is back', async () => {
  await using server = await startPostgres()
  await using database = await openDatabase(server.url)
  const insert = (name: string) => database.write((tx) => insertOne(tx.users, newUser(name)))
  await insert('ada')
  const cut = database.write(async (tx) => {
    await insertOne(tx.users, newUser('lost'))
    await server.stop('crash')
    return tx.users.count({})
  })
  await expect(cut).rejects.toThrow(Unreachable)
  await expect(insert('bob')).rejects.toThrow(Unreachable)
  await expect(database.read.users.count({})).rejects.toThrow(Unreachable)
  await expect(database.ping()).rejects.toThrow()
  await server.start()
  await database.ping()
  await insert('bob')
  expect(await names(database)).toEqual(['ada', 'bob'])
})

test('a write is rolled back when the administrator ends its connection, and the next query opens another', async () => {
  await using database = await temporaryDatabase()
  const cut = database.write(async (tx) => {
    await insertOne(tx.users, newUser('ada'))
    await database.endConnections()
    return 'written'
  })
  await expect(cut).rejects.toThrow(Unreachable)
  expect(await names(database)).toEqual([])
})

test('a query on a network that stops responding times out, and the next query opens another connection', async () => {
  const { url } = await emptyDatabase()
  await using network = await breakableNetwork(Number(new URL(url).port))
  await using database = await openDatabase(url.replace(/:\d+\//, `:${network.port}/`), {
    statementTimeoutMs: 1_000,
  })
  expect(await database.read.users.count({})).toBe(0)
  network.silence()
  await expect(database.read.users.count({})).rejects.toThrow(Unreachable)
  expect(await database.read.users.count({})).toBe(0)
})

test('a server that accepts no writes, such as a standby, fails a write as read-only', async () => {
  await using database = await temporaryDatabase()
  await database.setDefault('default_transaction_read_only = on')
  await database.endConnections()
  await expect(database.write((tx) => insertOne(tx.users, newUser('ada')))).rejects.toThrow(ReadOnly)
  expect(await names(database)).toEqual([])
})

test('faults of the database or its role are named as such, by queries and by pings, and end with their cause', async () => {
  await using server = await startPostgres()
  const admin = openPool(readPostgresUrl(server.url), {})
  await admin.query('CREATE ROLE app LOGIN')
  await admin.query('CREATE DATABASE app OWNER app')
  const url = server.url.replace('postgres@', 'app@').replace(/postgres$/, 'app')
  await using database = await openDatabase(url)
  const reconnect = () =>
    admin.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname LIKE 'app%'`)
  const faults = [
    ['ALTER DATABASE app ALLOW_CONNECTIONS false', 'ALTER DATABASE app ALLOW_CONNECTIONS true', Unreachable],
    ['ALTER DATABASE app RENAME TO app_old', 'ALTER DATABASE app_old RENAME TO app', Unreachable],
    ['ALTER ROLE app NOLOGIN', 'ALTER ROLE app LOGIN', Unreachable],
    ['REVOKE CONNECT ON DATABASE app FROM app, public', 'GRANT CONNECT ON DATABASE app TO app', Unusable],
  ] as const
  for (const [begin, end, kind] of faults) {
    await reconnect()
    await admin.query(begin)
    await reconnect()
    await expect(database.read.users.count({}), begin).rejects.toThrow(kind)
    await expect(
      database.write((tx) => insertOne(tx.users, newUser('ada'))),
      begin,
    ).rejects.toThrow(kind)
    await expect(database.ping(), begin).rejects.toThrow()
    await admin.query(end)
    await database.ping()
    expect(await database.read.users.count({}), end).toBe(0)
  }
  const owned = openPool(readPostgresUrl(url), {})
  await owned.query('REVOKE INSERT ON items FROM app')
  await expect(database.ping()).rejects.toThrow(ReadOnly)
  await owned.query('REVOKE SELECT ON items FROM app')
  await expect(database.ping()).rejects.toThrow(Unusable)
  await expect(database.read.items.count({})).rejects.toThrow(Unusable)
  await owned.query('GRANT ALL ON items TO app')
  await owned.query('ALTER TABLE items RENAME TO items_old')
  await expect(database.ping()).rejects.toThrow(Unusable)
  await owned.query('ALTER TABLE items_old RENAME TO items')
  await owned.end()
  await admin.query('ALTER ROLE app CONNECTION LIMIT 1')
  await reconnect()
  await database.ping()
  expect(await database.read.users.count({})).toBe(0)
  await database.ping()
  await admin.end()
})

test('close lets an open write commit or roll back as reported, and then all queries fail', async () => {
  const { url } = await emptyDatabase()
  const database = await createDatabase(url)
  const { promise: closing, resolve } = Promise.withResolvers<void>()
  const open = database.write(async (tx) => {
    await insertOne(tx.users, newUser('ada'))
    await closing
  })
  await database.ping()
  const closed = database.close()
  resolve()
  const [written] = await Promise.allSettled([open, closed])
  await expect(database.ping()).rejects.toThrow()
  await expect(database.read.users.count({})).rejects.toThrow()
  await expect(database.write((tx) => tx.users.count({}))).rejects.toThrow()
  await using after = await openDatabase(url)
  expect(await names(after)).toEqual(written.status === 'fulfilled' ? ['ada'] : [])
})

const byId = { column: 'id', descending: false } as const

async function names({ read }: Database): Promise<string[]> {
  return (await read.users.page({ where: {}, order: byId, take: 10 })).map(({ name }) => name)
}

test('a connection that breaks while it closes does not terminate the process', async () => {
  const { url } = await emptyDatabase()
  const pool = openPool(readPostgresUrl(url), { poolSize: 1 })
  const client = await pool.connect()
  client.release(true)
  client.emit('error', new Error('terminating connection due to administrator command'))
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  await pool.end()
})

test('an autocommit write is its own transaction, and a second write is rejected before it is sent', async () => {
  await using database = await temporaryDatabase()
  const single = (work: (tx: Tables) => Promise<unknown>) => database.write(work, { autocommit: true })
  await single((tx) => insertOne(tx.users, newUser('ada')))
  const twice = single(async (tx) => {
    await update(tx.users, 1, undefined, { age: (await tx.users.count({})) + 1 })
    return insertOne(tx.users, newUser('bob'))
  })
  await expect(twice).rejects.toThrow('An autocommit write cannot write twice.')
  const several = single((tx) => insertMany(tx.users, [newUser('cid'), newUser('dan')]))
  await expect(several).rejects.toThrow('An autocommit write cannot insert several rows.')
  expect(await database.read.users.find({ id: 1 })).toMatchObject({ age: 2 })
  expect(await names(database)).toEqual(['ada'])
})

test('a change and its audit entry are one statement', async () => {
  await using database = await temporaryDatabase()
  const shared = { actor: 'key 3', actor_detail: null, request_id: null, address: '192.0.2.1' }
  const secrets = [
    { column: 'password_hash', field: 'password' },
    { column: 'role', field: 'role' },
  ]
  const audited = { resource: 'users', shown: ['id', 'name', 'age', 'created_at'], secrets }
  const write = <T>(procedure: string, work: (users: RecordTable<User>) => Promise<T>, autocommit = true) =>
    database.write(({ users }) => work(users), {
      autocommit,
      audit: { shared: { ...shared, procedure }, tables: { users: audited } },
    })
  await write('create', (users) => insertOne(users, { ...newUser('ada'), password_hash: 'secret' }))
  await write(
    'createMany',
    (users) => insertMany(users, [newUser('bob'), { ...newUser('cid'), password_hash: 'secret' }]),
    false,
  )
  await write('setAge', (users) => update(users, 2, [1], { age: 36 }))
  await write('setPassword', (users) => update(users, 2, undefined, { password_hash: 'secret' }))
  await write('nothing', (users) => update(users, 2, [1], { age: 37 }))
  await expect(write('taken', (users) => insertOne(users, newUser('ada')))).rejects.toThrow(UniqueViolation)
  await write('delete', (users) => remove(users, 2, [3]))
  await write('deleteMany', (users) => removeMany(users, [3, 1]), false)

  const { auditEntries } = database.read
  const entries = await auditEntries.page({ where: {}, order: { column: 'id', descending: false }, take: 20 })
  const created_at = '2026-01-02T03:04:05.678Z'
  const record = (id: number, name: string, age: number | null = null, rest = {}) =>
    JSON.stringify({ id, name, age, created_at, ...rest })
  const compact = (text: string | null) => text && JSON.stringify(JSON.parse(text))
  expect(
    entries.map(({ procedure, record_id, before, after }) => [procedure, record_id, compact(before), compact(after)]),
  ).toEqual([
    ['create', 1, null, record(1, 'ada', null, { password: 'set', role: 'set' })],
    ['createMany', 2, null, record(2, 'bob', null, { role: 'set' })],
    ['createMany', 3, null, record(3, 'cid', null, { password: 'set', role: 'set' })],
    ['setAge', 2, record(2, 'bob'), record(2, 'bob', 36)],
    ['setPassword', 2, record(2, 'bob', 36), record(2, 'bob', 36, { password: 'set' })],
    ['delete', 2, record(2, 'bob', 36), null],
    ['deleteMany', 1, record(1, 'ada'), null],
    ['deleteMany', 3, record(3, 'cid'), null],
  ])
  expect(entries[0]).toMatchObject({ ...shared, resource: 'users' })
})

test('a write that PostgreSQL rejects keeps its connection', async () => {
  await using database = await temporaryDatabase({ poolSize: 1 })
  const pids = async () => {
    await database.read.users.count({})
    return database.rows(`SELECT pid FROM pg_stat_activity
      WHERE application_name = 'resource-service' AND datname = current_database()`)
  }
  await database.write((tx) => insertMany(tx.users, [newUser('ada'), newUser('bob')]))
  const before = await pids()
  expect(before).toHaveLength(1)
  const rename = (autocommit: boolean) =>
    database.write((tx) => update(tx.users, 2, undefined, { email_key: 'ada@example.com' }), { autocommit })
  await expect(rename(true)).rejects.toThrow(UniqueViolation)
  await expect(rename(false)).rejects.toThrow(UniqueViolation)
  expect(await pids()).toEqual(before)
})

test('a query after the end of its write is rejected', async () => {
  await using database = await temporaryDatabase()
  let kept: Tables | undefined
  await database.write(async (tx) => {
    kept = tx
    await insertOne(tx.users, newUser('ada'))
  })
  await expect(insertOne((kept as Tables).users, newUser('bob'))).rejects.toThrow(/[Tt]ransaction/)
  await expect(kept?.users.count({})).rejects.toThrow(/[Tt]ransaction/)
  expect(await database.read.users.count({})).toBe(1)
})

test('every transaction is READ COMMITTED, for every default of the database', async () => {
  const { url, setDefault } = await emptyDatabase()
  await setDefault(`default_transaction_isolation = 'serializable'`)
  // Both apply migrations; the second waits for the first.
  await using database = await openDatabase(url)
  await using other = await openDatabase(url)
  const counts = await database.write(async (tx) => {
    const before = await tx.users.count({})
    await other.write((tx) => insertOne(tx.users, newUser('ada')))
    return [before, await tx.users.count({})]
  })
  expect(counts).toEqual([0, 1])
})

test('writes with the same lock key occupy one connection, and at most a hundred wait', async () => {
  await using database = await temporaryDatabase({ poolSize: 3 })
  const order: number[] = []
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const write = (n: number, work: Promise<void>) =>
    database.write(
      async () => {
        order.push(n)
        begun.resolve()
        await work
      },
      { lockKey: 'key' },
    )
  const writes = Array.from({ length: 100 }, (_, n) => write(n, n === 0 ? end.promise : Promise.resolve()))
  await begun.promise
  await expect(write(100, Promise.resolve())).rejects.toThrow('Too many writes with the same lock key are waiting.')
  await database.write((tx) => insertOne(tx.users, newUser('ada')), { lockKey: 'another key' })
  expect(await database.read.users.count({})).toBe(1)
  expect(database.connections?.()).toMatchObject({ busy: 1, waiting: 0 })
  end.resolve()
  await Promise.all(writes)
  expect(order).toEqual(Array.from({ length: 100 }, (_, n) => n))
})

test("several starts at once succeed if the database's transactions are serializable by default", async () => {
  const { url, setDefault } = await emptyDatabase()
  await setDefault(`default_transaction_isolation = 'repeatable read'`)
  const databases = await Promise.all(Array.from({ length: 4 }, () => createDatabase(url)))
  expect(await Promise.all(databases.map(({ read }) => read.users.count({})))).toEqual([0, 0, 0, 0])
  await Promise.all(databases.map((database) => database.close()))
})

test('a version list of any length is one statement', async () => {
  const { url, parsed } = await emptyDatabase()
  await (await openDatabase(url)).close()
  const pool = openPool(parsed, { poolSize: 1 })
  const driver = openPrepared(pool, 1000)
  const write = <T>(work: (tx: Tables) => Promise<T>) =>
    driver.transaction((executor) => work(sqlTables(executor)), undefined)
  const versions = (length: number) => Array.from({ length }, (_, n) => n + 1)
  await write((tx) => insertOne(tx.items, { name: 'lamp', name_key: 'lamp', price: 9 }))
  const prices: (number | undefined)[] = []
  for (const length of [0, 1, 2, 50, 100]) {
    const change = await write((tx) => update(tx.items, 1, versions(length), { price: length }))
    prices.push(change?.after.price)
  }
  expect(prices).toEqual([undefined, 1, 2, 50, 100])
  expect(await write((tx) => remove(tx.items, 1, [1, 2]))).toBeUndefined()
  expect(await write((tx) => remove(tx.items, 1, [1, 2, 5]))).toMatchObject({ id: 1, version: 5 })
  const { rows } = await pool.query(`SELECT count(*)::int FROM pg_prepared_statements
    WHERE statement LIKE '%UPDATE%' OR statement LIKE 'DELETE%' GROUP BY statement LIKE 'DELETE%'`)
  expect(rows).toEqual([{ count: 1 }, { count: 1 }])
  await pool.end()
})

/** Makes updates of users fail with a serialization failure under a condition. */
function loseWhile(condition: string): string {
  return `CREATE SEQUENCE attempts;
    CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF ${condition} THEN RAISE EXCEPTION 'lost' USING ERRCODE = 'serialization_failure'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER lose BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION lose()`
}
