import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { drivers, newUser } from '../../test/database.ts'
import { emptyDatabase, temporaryDatabase } from '../../test/postgres.ts'
import { isBusy } from '../index.ts'
import { openPool } from './pool.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

test.each(drivers)(
  'a hundred queries may wait however long; beyond a quarter of a second more fail as busy at once, %s',
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

test('a hundred may wait until two hundred had to, and after them ten', async () => {
  const { parsed } = await emptyDatabase()
  const pool = openPool(parsed, { poolSize: 1 })
  let refused = 0
  let toFollow = 300
  /** Has the connection for 200 ms, in which another one comes. */
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
  // 101 follow the 99. Then who comes while 98 others wait, or 97, or at the least ten, does not wait.
  expect(refused).toBe(89)
  await pool.end()
})

test('a burst may be a quarter of a second of work; when more come without an end, each waits for 30 ms at the most', async () => {
  const { parsed } = await emptyDatabase()
  const pool = openPool(parsed, { poolSize: 1 })
  const waits: number[] = []
  let refused = 0
  let toFollow = 0
  /** Has the connection for 2 ms, in which two others come. */
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
  // How long one takes is known after some turns.
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

test('whether the server answers can be asked whoever waits', async () => {
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
