import { type PostgresServer, query, startPostgres } from '@resource/postgres-test'
import { expect, test } from 'vitest'
import { drivers, newUser } from '../../test/database.ts'
import { breakableNetwork } from '../../test/network.ts'
import { emptyDatabase, openDatabase } from '../../test/postgres.ts'
import { createDatabase, type Options, type ReplicaChange, Unreachable } from '../index.ts'

const byId = { column: 'id', descending: false } as const

/** A primary with streaming replicas, and the database on them, whose replicas tell when they serve. */
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
    /** How many users each of `calls` calls sees that read what is recent. */
    recentCounts: async (calls: number) => {
      const counts: number[] = []
      for (let call = 0; call < calls; call++) counts.push(await database.replica().users.count({}))
      return counts
    },
    insert: (name: string) => database.write((tx) => tx.users.insert(newUser(name))),
    /** The last change told, as soon as it is this one. */
    told: (change: object) => expect.poll(() => changes.at(-1)).toMatchObject(change),
    allServe: () => expect.poll(() => changes.filter(({ serves }) => serves).length).toBe(replicaUrls.length),
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

test.each(drivers)('what is recent comes from each replica in turn, all else from the primary, %s', async (driver) => {
  await using cluster = await startReplicated(2)
  const [first, second] = cluster.replicas as [PostgresServer, PostgresServer]
  await using database = await cluster.open({ driver, replicaLagMs: 60_000 })
  await database.insert('ada')
  await database.allServe()
  await Promise.all([hasReplayed(first, 1), hasReplayed(second, 1)])
  await pause(first)
  await database.insert('bob')
  await hasReplayed(second, 2)
  expect((await database.recentCounts(4)).sort()).toEqual([1, 1, 2, 2])
  expect(await database.read.users.count({})).toBe(2)
  expect(await database.write((tx) => tx.users.count({}))).toBe(2)
  expect(await database.write((tx) => tx.users.count({}), { lockKey: 'name' })).toBe(2)
  // One call reads from one replica, however often it reads.
  const { users } = database.replica()
  const counts = [await users.count({}), await users.count({}), await users.count({})]
  expect(new Set(counts).size).toBe(1)
  expect((await users.page({ where: {}, order: byId, take: 10 })).length).toBe(counts[0])
  await expect(users.insert(newUser('cid'))).rejects.toThrow('readonly database')
})

test('a replica that falls too far behind is left out, and serves again once it has caught up', async () => {
  await using cluster = await startReplicated(1)
  const [replica] = cluster.replicas as [PostgresServer]
  await using database = await cluster.open({ replicaLagMs: 2_000 })
  await database.allServe()
  await pause(replica)
  await database.insert('ada')
  await database.told({ serves: false, reason: 'replication lag exceeds the maximum' })
  expect(await database.recentCounts(2)).toEqual([1, 1])
  await resume(replica)
  await database.told({ serves: true })
  expect(await database.recentCounts(2)).toEqual([1, 1])
})

test('a replica that is slow, but less than the longest lag, goes on serving while writes never cease', async () => {
  await using cluster = await startReplicated(1)
  const [replica] = cluster.replicas as [PostgresServer]
  await query(cluster.primary.url, `ALTER SYSTEM SET wal_writer_delay = '1ms'`)
  await query(replica.url, `ALTER SYSTEM SET recovery_min_apply_delay = '600ms'`)
  await query(replica.url, 'SELECT pg_reload_conf()')
  await using database = await cluster.open({ replicaLagMs: 2_000 })
  await database.allServe()
  const before = database.changes.length
  const end = performance.now() + 5_000
  for (let n = 0; performance.now() < end; n++) await database.insert(`user${n}`)
  expect(database.changes.slice(before)).toEqual([])
})

test.each(drivers)('while a replica is gone the primary reads, and it serves again by itself, %s', async (driver) => {
  await using cluster = await startReplicated(1)
  const [replica] = cluster.replicas as [PostgresServer]
  await using database = await cluster.open({ driver, replicaLagMs: 2_000 })
  await database.insert('ada')
  await database.allServe()
  await replica.stop('crash')
  expect(await database.recentCounts(3)).toEqual([1, 1, 1])
  await database.told({ serves: false })
  await replica.start()
  await database.told({ serves: true })
  expect(await database.recentCounts(3)).toEqual([1, 1, 1])
})

test('while the primary is gone no replica serves for longer than the lag, and each does once it is back', async () => {
  await using cluster = await startReplicated(1)
  await using database = await cluster.open({ replicaLagMs: 500 })
  await database.allServe()
  await cluster.primary.stop('crash')
  await database.told({ serves: false, reason: 'the primary does not respond' })
  await expect(database.replica().users.count({})).rejects.toThrow(Unreachable)
  await cluster.primary.start()
  await database.told({ serves: true })
  expect(await database.recentCounts(1)).toEqual([0])
})

test('a replica on a network that falls silent is left out, and a read that waits for it is done by the primary', async () => {
  await using cluster = await startReplicated(1)
  const [replica] = cluster.replicas as [PostgresServer]
  await using network = await breakableNetwork(replica.port)
  const url = replica.url.replace(`:${replica.port}/`, `:${network.port}/`)
  await using database = await cluster.open({ replicaLagMs: 60_000, statementTimeoutMs: 100 }, [url])
  await database.allServe()
  expect(await database.recentCounts(1)).toEqual([0])
  network.silence()
  expect(await database.recentCounts(1)).toEqual([0])
  await database.told({
    replica: url.replace('postgres@', ''),
    serves: false,
    reason: 'PostgreSQL did not respond in time.',
  })
})

test('what is no replica of the database is left out, and the reason holds no password', async () => {
  await using cluster = await startReplicated(1)
  const [replica] = cluster.replicas as [PostgresServer]
  const { url: another } = await emptyDatabase()
  const nobody = 'postgresql://with_password:secret@127.0.0.1:1/postgres'
  await query(cluster.primary.url, 'CREATE DATABASE other')
  for (const [url, reason] of [
    [cluster.primary.url, 'not a replica of the primary'],
    [another, 'not a replica of the primary'],
    [replica.url.replace(/postgres$/, 'other'), 'not a replica of the primary'],
    [nobody, 'connect ECONNREFUSED 127.0.0.1:1'],
  ] as const) {
    await using database = await cluster.open({}, [url])
    await database.told({ serves: false, reason })
    expect(database.changes.at(-1)?.replica).toBe(url.replace(/\/\/.*@/, '//'))
    expect(await database.recentCounts(1)).toEqual([0])
  }
})

test('a replica’s malformed URL is refused without its password', async () => {
  const { url } = await emptyDatabase()
  await expect(createDatabase(url, { replicaUrls: ['postgresql://app:hunter2@db.example.com'] })).rejects.toThrow(
    'The database URL must be postgresql://user:password@host:port/database, special characters percent-encoded.',
  )
})

test('a promoted replica, and one that follows another timeline, are left out; it serves once it follows the primary', async () => {
  await using cluster = await startReplicated(3)
  const [next, other, later] = cluster.replicas as [PostgresServer, PostgresServer, PostgresServer]
  await using before = await cluster.open()
  await before.allServe()
  // Whoever is to follow the new primary must not be ahead of it.
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

  // The other one goes on with the old primary, and is further than the new one.
  for (let i = 0; i < 20; i++) await before.insert(`ada${i}`)
  await hasReplayed(other, 20)
  const elsewhere = { serves: false, reason: 'on a different timeline than the primary' }
  await using after = await openReplicated(next.url, [other.url], {})
  await after.told(elsewhere)
  expect(await after.recentCounts(2)).toEqual([0, 0])

  await using last = await openReplicated(next.url, [later.url], {})
  await last.told(elsewhere)
  await follow(later, next.url)
  await last.told({ serves: true })
})

test('a read that a replica serves has the columns that were asked for, also where the primary takes over', async () => {
  await using cluster = await startReplicated(1)
  const [replica] = cluster.replicas as [PostgresServer]
  await using database = await cluster.open({ replicaLagMs: 60_000 })
  await database.insert('ada')
  await database.allServe()
  await hasReplayed(replica, 1)
  const find = () => database.replica().users.find({ id: 1 }, ['name', 'role'])
  expect(await find()).toEqual({ name: 'ada', role: 'user' })
  await replica.stop('crash')
  expect(await find()).toEqual({ name: 'ada', role: 'user' })
})

test('the reason why a replica is left out is reported again when it becomes another one', async () => {
  await using cluster = await startReplicated(1)
  const [replica] = cluster.replicas as [PostgresServer]
  await pause(replica)
  await query(cluster.primary.url, 'CREATE DATABASE later')
  const url = replica.url.replace(/postgres$/, 'later')
  await using database = await openReplicated(cluster.primary.url, [url], {})
  await database.told({ serves: false, reason: 'database "later" does not exist' })
  await resume(replica)
  await database.told({ serves: false, reason: 'not a replica of the primary' })
})
