import { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { newUser } from '../../test/database.ts'
import { emptyDatabase, temporaryDatabase } from '../../test/postgres.ts'
import { insertOne } from '../../test/rows.ts'
import { isBusy, workOf } from '../index.ts'
import { openPool } from './pool.ts'
import { withServers } from './servers.ts'
import { readPostgresUrl } from './url.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

test('if no server is found, no socket has a timeout, whose error nobody would handle', async () => {
  using timeouts = vi.spyOn(Socket.prototype, 'setTimeout')
  const pool = openPool(withServers(readPostgresUrl('postgresql://127.0.0.1:1,127.0.0.1:2/shop')), {})
  await expect(pool.connect()).rejects.toThrow('ECONNREFUSED')
  expect(timeouts.mock.calls.filter(([ms]) => ms > 0)).toEqual([])
  await pool.end()
})

test('a hundred queries may wait for any time; after a quarter of a second further ones fail as busy at once, %s', async () => {
  await using database = await temporaryDatabase({ poolSize: 1 })
  const read = () => database.read.users.find({}, ['id'])
  const waiting = (queries: number) => expect.poll(() => database.connections?.().waiting).toBe(queries)
  const reads: Promise<unknown>[] = []
  await database.write(async (tx) => {
    await insertOne(tx.users, newUser('ada'))
    while (reads.length < 99) reads.push(read())
    await waiting(99)
    vi.advanceTimersByTime(251)
    expect(database.isOverloaded('nobody')).toBe(false)
    reads.push(read())
    await waiting(100)
    expect(database.isOverloaded('nobody')).toBe(true)
    expect(isBusy(await read().catch((error) => error))).toBe(true)
  })
  expect(await Promise.all(reads)).toEqual(Array(100).fill({ id: 1 }))
  expect(database.isOverloaded('nobody')).toBe(false)
  expect(await read()).toEqual({ id: 1 })
})

test('fewer than a hundred waiting queries are never refused, however often they come and however slow they are', async () => {
  const { parsed } = await emptyDatabase()
  const pool = openPool(parsed, { poolSize: 1 })
  let refused = 0
  const come = async () => {
    const client = await pool.connect().catch(() => void refused++)
    vi.advanceTimersByTime(200)
    if (typeof client === 'object') client.release()
  }
  for (let time = 0; time < 5; time++) await Promise.all(Array.from({ length: 100 }, come))
  expect(refused).toBe(0)
  await pool.end()
})

test('after a hundred queries have waited too long, ten may wait, until half a second has passed without a long queue', async () => {
  const { parsed } = await emptyDatabase()
  const pool = openPool(parsed, { poolSize: 1 })
  let refused = 0
  const come = async () => {
    const client = await pool.connect().catch(() => void refused++)
    if (typeof client !== 'object') return
    vi.advanceTimersByTime(4)
    client.release()
  }
  const first = await pool.connect()
  const waiting = Array.from({ length: 101 }, come)
  vi.advanceTimersByTime(251)
  await come()
  expect(refused).toBe(1)
  first.release()
  await Promise.all(waiting)
  refused = 0
  // The first one does not wait.
  await Promise.all(Array.from({ length: 50 }, come))
  expect(refused).toBe(39)
  vi.advanceTimersByTime(501)
  refused = 0
  await Promise.all(Array.from({ length: 50 }, come))
  expect(refused).toBe(0)
  await pool.end()
})

test('a burst may be a quarter of a second of work; under sustained load each query waits at most 30 ms', async () => {
  const { parsed } = await emptyDatabase()
  const pool = openPool(parsed, { poolSize: 1 })
  const waits: number[] = []
  let refused = 0
  let toFollow = 0
  /** Holds the connection for 2 ms, during which two others arrive. */
  const come = async (): Promise<void> => {
    const since = performance.now()
    const client = await pool.connect().catch(() => undefined)
    if (client === undefined) {
      refused++
      return
    }
    waits.push(performance.now() - since)
    vi.advanceTimersByTime(2)
    const others = toFollow-- > 0 ? [come(), come()] : []
    client.release()
    await Promise.all(others)
  }
  const comeTogether = async (count: number) => {
    const first = await pool.connect()
    const all = Array.from({ length: count }, come)
    first.release()
    await Promise.all(all)
  }
  // The moving average needs some samples.
  await comeTogether(251)
  expect(refused).toBe(0)

  vi.advanceTimersByTime(501)
  waits.length = 0
  toFollow = 2_000
  await comeTogether(600)
  expect(waits[125]).toBe(250)
  expect(Math.max(...waits.slice(126 + 600, 2_000))).toBe(30)
  await pool.end()
})

test('callers take turns for connections; under overload further queries of the caller with the most fail', async () => {
  const { parsed } = await emptyDatabase()
  const pool = openPool(parsed, { poolSize: 1 })
  const served: string[] = []
  const refused: string[] = []
  const come = async (name: string, query: string) => {
    const caller = { name, onLong: () => {}, onRefused: () => refused.push(query) }
    const client = await workOf(caller, () => pool.connect()).catch(() => undefined)
    if (client === undefined) return
    served.push(query)
    client.release()
  }
  const first = await pool.connect()
  const waiting = Array.from({ length: 101 }, (_, n) => come('a', `a${n}`))
  vi.advanceTimersByTime(251)
  expect([pool.isOverloaded('a'), pool.isOverloaded('b')]).toEqual([true, false])
  waiting.push(come('b', 'b0'), come('b', 'b1'), come('a', 'a101'))
  expect([pool.isOverloaded('a'), pool.isOverloaded('b')]).toEqual([true, false])
  first.release()
  await Promise.all(waiting)
  expect(refused).toEqual(['a101'])
  expect(served.slice(0, 6)).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'a3'])
  expect(served).toHaveLength(103)
  await pool.end()
})

test('a query of a transaction never waits for those of others', async () => {
  await using database = await temporaryDatabase({ poolSize: 1 })
  const reads: Promise<unknown>[] = []
  const counted = await database.write(async (tx) => {
    await insertOne(tx.users, newUser('ada'))
    while (reads.length < 100) reads.push(database.read.users.find({}, ['id']))
    await expect.poll(() => database.connections?.().waiting).toBe(100)
    return tx.users.count({})
  })
  expect(counted).toBe(1)
  expect(await Promise.all(reads)).toEqual(Array(100).fill({ id: 1 }))
})
