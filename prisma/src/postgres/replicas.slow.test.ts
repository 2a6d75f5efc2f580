import { type PostgresServer, query, startPostgres } from '@resource/postgres-test'
import { expect, test } from 'vitest'
import { drivers, newUser } from '../../test/database.ts'
import { breakableNetwork } from '../../test/network.ts'
import { emptyDatabase, openDatabase } from '../../test/postgres.ts'
import { createDatabase, type Options, type ReplicaChange, Unreachable } from '../index.ts'

const byId = { column: 'id', descending: false } as const

/** A primary with streaming replicas. */
async function startReplicated(count: number) {
  const primary = await startPostgres()
  const replicas: PostgresServer[] = []
  while (replicas.length < count) replicas.push(await primary.startReplica())
  return {
    primary,
    replicas,
    open: (options: Options = {}, urls = replicas.map(({ url }) => url)) => openReplicated(primary.url, urls, options),
    [Symbol.asyncDispose]: async () => {
      for (const server of [...replicas, primary]) await server[Symbol.asyncDispose]()
    },
  }
}

async function openReplicated(url: string, replicaUrls: string[], options: Options) {
  const changes: ReplicaChange[] = []
  const database = await openDatabase(url, { replicaUrls, ...options, onReplica: (change) => changes.push(change) })
  return {
    ...database,
    changes,
    /** The number of users that each of `calls` replica reads returns. */
    replicaCounts: async (calls: number) => {
      const counts: number[] = []
      for (let call = 0; call < calls; call++) counts.push(await database.replica().users.count({}))
      return counts
    },
    insert: (name: string) => database.write((tx) => tx.users.insert(newUser(name))),
    /** Waits until the last reported change matches. */
    reports: (change: object) => expect.poll(() => changes.at(-1)).toMatchObject(change),
    allInRotation: () => {
      const latest = () => Object.values(Object.fromEntries(changes.map(({ replica, serves }) => [replica, serves])))
      return expect.poll(latest).toEqual(replicaUrls.map(() => true))
    },
  }
}

const pause = ({ url }: PostgresServer) => query(url, 'SELECT pg_wal_replay_pause()')
const resume = ({ url }: PostgresServer) => query(url, 'SELECT pg_wal_replay_resume()')

async function follow(replica: PostgresServer, primary: string) {
  await query(replica.url, `ALTER SYSTEM SET primary_conninfo = '${primary}'`)
  await query(replica.url, 'SELECT pg_reload_conf()')
}

async function hasReplayed({ url }: PostgresServer, users: number) {
  const count = async () => (await query(url, 'SELECT count(*)::int FROM users')).rows[0].count
  await expect.poll(count).toBe(users)
}

test.each(drivers)('replica reads go to each replica in turn, all others to the primary, %s', async (driver) => {
  await using cluster = await startReplicated(2)
  const [first, second] = cluster.replicas as [PostgresServer, PostgresServer]
  await using database = await cluster.open({ driver, replicaLagMs: 60_000 })
  await database.insert('ada')
  await database.allInRotation()
  await Promise.all([hasReplayed(first, 1), hasReplayed(second, 1)])
  await pause(first)
  await database.insert('bob')
  await hasReplayed(second, 2)
  expect((await database.replicaCounts(4)).sort()).toEqual([1, 1, 2, 2])
  expect(await database.read.users.count({})).toBe(2)
  expect(await database.write((tx) => tx.users.count({}))).toBe(2)
  expect(await database.write((tx) => tx.users.count({}), { lockKey: 'name' })).toBe(2)
  // All reads of one `replica()` call go to the same replica.
  const { users } = database.replica()
  const counts = [await users.count({}), await users.count({}), await users.count({})]
  expect(new Set(counts).size).toBe(1)
  expect((await users.page({ where: {}, order: byId, take: 10 })).length).toBe(counts[0])
  await expect(users.insert(newUser('cid'))).rejects.toThrow('readonly database')
})

test('a replica with too much lag leaves rotation, and returns once it has caught up', async () => {
  await using cluster = await startReplicated(1)
  const [replica] = cluster.replicas as [PostgresServer]
  await using database = await cluster.open({ replicaLagMs: 2_000 })
  await database.allInRotation()
  await pause(replica)
  await database.insert('ada')
  await database.reports({ serves: false, reason: 'replication lag exceeds the maximum' })
  expect(await database.replicaCounts(2)).toEqual([1, 1])
  await resume(replica)
  await database.reports({ serves: true })
  expect(await database.replicaCounts(2)).toEqual([1, 1])
})

test('a slow replica within the maximum lag stays in rotation under constant writes', async () => {
  await using cluster = await startReplicated(1)
  const [replica] = cluster.replicas as [PostgresServer]
  await query(cluster.primary.url, `ALTER SYSTEM SET wal_writer_delay = '1ms'`)
  await query(replica.url, `ALTER SYSTEM SET recovery_min_apply_delay = '600ms'`)
  await query(replica.url, 'SELECT pg_reload_conf()')
  await using database = await cluster.open({ replicaLagMs: 4_000 })
  await database.allInRotation()
  const before = database.changes.length
  const end = performance.now() + 6_000
  for (let n = 0; performance.now() < end; n++) await database.insert(`user${n}`)
  expect(database.changes.slice(before)).toEqual([])
})

test.each(drivers)(
  'the primary serves reads while a replica is down, and the replica returns automatically, %s',
  async (driver) => {
    await using cluster = await startReplicated(1)
    const [replica] = cluster.replicas as [PostgresServer]
    await using database = await cluster.open({ driver, replicaLagMs: 2_000 })
    await database.insert('ada')
    await database.allInRotation()
    await replica.stop('crash')
    expect(await database.replicaCounts(3)).toEqual([1, 1, 1])
    await database.reports({ serves: false })
    await replica.start()
    await database.reports({ serves: true })
    expect(await database.replicaCounts(3)).toEqual([1, 1, 1])
  },
)

test('while the primary is down no replica serves for longer than the maximum lag, and each returns once it is back', async () => {
  await using cluster = await startReplicated(1)
  await using database = await cluster.open({ replicaLagMs: 2_000 })
  await database.allInRotation()
  await cluster.primary.stop('crash')
  await database.reports({ serves: false, reason: 'the primary does not respond' })
  await expect(database.replica().users.count({})).rejects.toThrow(Unreachable)
  await cluster.primary.start()
  await database.reports({ serves: true })
  expect(await database.replicaCounts(1)).toEqual([0])
})

test('a replica on a network that stops responding leaves rotation, and the primary serves the pending read', async () => {
  await using cluster = await startReplicated(1)
  const [replica] = cluster.replicas as [PostgresServer]
  await using network = await breakableNetwork(replica.port)
  const url = replica.url.replace(`:${replica.port}/`, `:${network.port}/`)
  await using database = await cluster.open({ replicaLagMs: 60_000, statementTimeoutMs: 1_000 }, [url])
  await database.allInRotation()
  expect(await database.replicaCounts(1)).toEqual([0])
  network.silence()
  expect(await database.replicaCounts(1)).toEqual([0])
  // The replica accepts new connections, so it may have returned since.
  const report = { replica: url.replace('postgres@', ''), serves: false, reason: 'PostgreSQL did not respond in time.' }
  await expect.poll(() => database.changes).toContainEqual(report)
})

test('a server that is not a replica of the database stays out of rotation, and the reason omits the password', async () => {
  await using cluster = await startReplicated(1)
  const [replica] = cluster.replicas as [PostgresServer]
  const { url: another } = await emptyDatabase()
  const unreachable = 'postgresql://with_password:secret@127.0.0.1:1/postgres'
  await query(cluster.primary.url, 'CREATE DATABASE other')
  for (const [url, reason] of [
    [cluster.primary.url, 'not a replica of the primary'],
    [another, 'not a replica of the primary'],
    [replica.url.replace(/postgres$/, 'other'), 'not a replica of the primary'],
    [unreachable, 'connect ECONNREFUSED 127.0.0.1:1'],
  ] as const) {
    await using database = await cluster.open({}, [url])
    await database.reports({ serves: false, reason })
    expect(database.changes.at(-1)?.replica).toBe(url.replace(/\/\/.*@/, '//'))
    expect(await database.replicaCounts(1)).toEqual([0])
  }
})

test("the error for a replica's malformed URL names the setting and omits the password", async () => {
  const { url } = await emptyDatabase()
  await expect(createDatabase(url, { replicaUrls: ['postgresql://app:hunter2@db.example.com'] })).rejects.toThrow(
    'DATABASE_REPLICA_URLS: The database URL must be postgresql://user:password@host:port/database, special characters percent-encoded.',
  )
})

test('a promoted replica and one on another timeline leave rotation; the latter returns once it follows the primary', async () => {
  await using cluster = await startReplicated(3)
  const [next, other, later] = cluster.replicas as [PostgresServer, PostgresServer, PostgresServer]
  await using before = await cluster.open()
  await before.allInRotation()
  // A replica that will follow the new primary must not be ahead of it.
  await follow(later, '')
  const receivers = 'SELECT count(*)::int FROM pg_stat_wal_receiver'
  await expect.poll(async () => (await query(later.url, receivers)).rows).toEqual([{ count: 0 }])
  const { lsn } = (await query(later.url, 'SELECT pg_last_wal_receive_lsn() AS lsn')).rows[0]
  const isAhead = `SELECT pg_last_wal_replay_lsn() >= '${lsn}' AS is_ahead`
  await expect.poll(async () => (await query(next.url, isAhead)).rows).toEqual([{ is_ahead: true }])
  await query(next.url, 'SELECT pg_promote()')
  await expect
    .poll(() => before.changes.findLast(({ replica }) => replica.includes(`:${next.port}/`)))
    .toMatchObject({ serves: false, reason: 'not a replica of the primary' })

  // The other replica continues to follow the old primary, and is ahead of the new one.
  for (let i = 0; i < 20; i++) await before.insert(`ada${i}`)
  await hasReplayed(other, 20)
  const elsewhere = { serves: false, reason: 'on a different timeline than the primary' }
  await using after = await openReplicated(next.url, [other.url], {})
  await after.reports(elsewhere)
  expect(await after.replicaCounts(2)).toEqual([0, 0])

  await using last = await openReplicated(next.url, [later.url], {})
  await last.reports(elsewhere)
  await follow(later, next.url)
  await last.reports({ serves: true })
})

test('a replica read returns the requested columns, also when the primary takes over', async () => {
  await using cluster = await startReplicated(1)
  const [replica] = cluster.replicas as [PostgresServer]
  await using database = await cluster.open({ replicaLagMs: 60_000 })
  await database.insert('ada')
  await database.allInRotation()
  await hasReplayed(replica, 1)
  const find = () => database.replica().users.find({ id: 1 }, ['name', 'role'])
  expect(await find()).toEqual({ name: 'ada', role: 'user' })
  await replica.stop('crash')
  expect(await find()).toEqual({ name: 'ada', role: 'user' })
})

test('a changed reason for a replica out of rotation is reported again', async () => {
  await using cluster = await startReplicated(1)
  const [replica] = cluster.replicas as [PostgresServer]
  await pause(replica)
  await query(cluster.primary.url, 'CREATE DATABASE later')
  const url = replica.url.replace(/postgres$/, 'later')
  await using database = await openReplicated(cluster.primary.url, [url], {})
  await database.reports({ serves: false, reason: 'database "later" does not exist' })
  await resume(replica)
  await database.reports({ serves: false, reason: 'not a replica of the primary' })
})
