import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { drivers, newUser } from '../../test/database.ts'
import { emptyDatabase, temporaryDatabase } from '../../test/postgres.ts'
import { isBusy } from '../index.ts'
import { openPool } from './pool.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

test.each(drivers)(
  'a hundred queries may wait for any time; after a quarter of a second further ones fail as busy at once, %s',
  async (driver) => {
    await using database = await temporaryDatabase({ driver, poolSize: 1 })
    const count = () => database.read.users.count({})
    const waiting = (queries: number) => expect.poll(() => database.connections?.().waiting).toBe(queries)
    const counts: Promise<number>[] = []
    await database.write(async (tx) => {
      await tx.users.insert(newUser('ada'))
      while (counts.length < 99) counts.push(count())
      await waiting(99)
      vi.advanceTimersByTime(251)
      expect(database.isOverloaded?.()).toBe(false)
      counts.push(count())
      await waiting(100)
      expect(database.isOverloaded?.()).toBe(true)
      expect(isBusy(await count().catch((error) => error))).toBe(true)
    })
    expect(await Promise.all(counts)).toEqual(Array(100).fill(1))
    expect(database.isOverloaded?.()).toBe(false)
    expect(await count()).toBe(1)
  },
)

test('a hundred queries may wait until two hundred have waited, then ten', async () => {
  const { parsed } = await emptyDatabase()
  const pool = openPool(parsed, { poolSize: 1 })
  let refused = 0
  let toFollow = 300
  /** Holds the connection for 200 ms, during which another query arrives. */
  const come = async (): Promise<void> => {
    const client = await pool.connect().catch(() => undefined)
    if (client === undefined) {
      refused++
      return
    }
    vi.advanceTimersByTime(200)
    const other = toFollow-- > 0 ? come() : undefined
    client.release()
    await other
  }
  const first = await pool.connect()
  const waiting = Array.from({ length: 99 }, come)
  vi.advanceTimersByTime(251)
  expect(pool.isOverloaded()).toBe(false)
  first.release()
  await Promise.all(waiting)
  // 101 queries follow the 99. After that a query is refused while ten or more others wait: for 98 down to 10 waiting queries.
  expect(refused).toBe(89)
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

test('a ping succeeds while other queries wait', async () => {
  const { parsed } = await emptyDatabase()
  const pool = openPool(parsed, { poolSize: 1 })
  const first = await pool.connect()
  const others = Array.from({ length: 100 }, () => pool.query('SELECT 1'))
  vi.advanceTimersByTime(251)
  expect(pool.isOverloaded()).toBe(true)
  const asked = pool.ping()
  first.release()
  expect(await asked).toBeUndefined()
  await Promise.all(others)
  await pool.end()
})
