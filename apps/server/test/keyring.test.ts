import { setImmediate } from 'node:timers/promises'
import { Unreachable } from '@resource/database'
import { expect, onTestFinished, test, vi } from 'vitest'
import { newKey } from '../src/access/api-key.ts'
import { createKeyring } from '../src/access/keyring.ts'

type KeyringParameters = Parameters<typeof createKeyring>

/** A keyring with one known key; queries for other keys wait until the test releases them. */
function slowKeyring(known: { key: string; prefix: string; hash: string }) {
  const pending: { prefixes: string[]; release: () => void }[] = []
  const row = { id: 1, name: 'known', role: 'reader', revoked_at: null as Date | null, expires_at: null as Date | null }
  const stored = { ...row, ...known, last_used_at: new Date() }
  const outage: { error?: Error } = {}
  const page = async ({ where }: { where: { prefix: { in: string[] } } }) => {
    const { in: prefixes } = where.prefix
    if (outage.error !== undefined) throw outage.error
    if (prefixes.includes(known.prefix)) return [{ ...stored }]
    await new Promise<void>((release) => pending.push({ prefixes, release }))
    return []
  }
  const database = { read: { apiKeys: { page } } } as unknown as KeyringParameters[0]
  return { keyring: createKeyring(database, {} as KeyringParameters[1]), pending, stored, outage }
}

function fakeClocks(): void {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
}

test('unknown keys are looked up by one query at a time, none is refused, and a known key does not wait for them', async () => {
  fakeClocks()
  const known = newKey()
  const { keyring, pending } = slowKeyring(known)
  expect(await keyring.callerOf(known.key)).toMatchObject({ name: 'key 1' })
  const outcomes: unknown[] = []
  for (let n = 0; n < 1000; n++) {
    Promise.resolve(keyring.callerOf(newKey().key)).catch((error) => outcomes.push(error.status))
  }
  await setImmediate()
  expect(pending).toHaveLength(1)
  // After a second the known key is looked up again.
  vi.advanceTimersByTime(1_001)
  expect(await keyring.callerOf(known.key)).toMatchObject({ name: 'key 1' })
  let queries = 0
  for (; outcomes.length < 1000; await setImmediate()) {
    queries += pending.length
    pending.pop()?.release()
  }
  expect([queries, new Set(outcomes)]).toEqual([11, new Set([401])])
})

test('one unknown key that is sent a hundred times at once is looked up twice', async () => {
  const { keyring, pending } = slowKeyring(newKey())
  const { key } = newKey()
  const outcomes = Promise.allSettled(Array.from({ length: 100 }, async () => keyring.callerOf(key)))
  const queries: string[][] = []
  // The first query has begun before the other calls arrive.
  for (; queries.length < 2; await setImmediate()) {
    for (const { prefixes, release } of pending.splice(0)) {
      queries.push(prefixes)
      release()
    }
  }
  expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true)
  expect(queries.concat(pending.map(({ prefixes }) => prefixes))).toEqual([[key.slice(0, 16)], [key.slice(0, 16)]])
})

test('whether there are keys is one query of one row, however many requests ask at once', async () => {
  fakeClocks()
  const queries: unknown[] = []
  const released = Promise.withResolvers<object[]>()
  const page = (query: unknown) => {
    queries.push(query)
    return released.promise
  }
  const { hasKeys } = createKeyring(
    { read: { apiKeys: { page } } } as unknown as KeyringParameters[0],
    {} as KeyringParameters[1],
  )
  const answers = Promise.all(Array.from({ length: 60 }, hasKeys))
  released.resolve([])
  expect(new Set(await answers)).toEqual(new Set([false]))
  expect(queries).toEqual([{ where: {}, order: { column: 'id', descending: false }, take: 1 }])
  // Another process may have created one meanwhile.
  vi.advanceTimersByTime(1_001)
  await hasKeys()
  expect(queries).toHaveLength(2)
})

test('a revoked key is refused within a second, even if the clock is set back by an hour', async () => {
  fakeClocks()
  const known = newKey()
  const { keyring, stored } = slowKeyring(known)
  expect(await keyring.callerOf(known.key)).toMatchObject({ name: 'key 1' })
  stored.revoked_at = new Date()
  vi.advanceTimersByTime(1_001)
  vi.setSystemTime(Date.now() - 3_600_000)
  await expect(keyring.callerOf(known.key)).rejects.toMatchObject({ status: 401 })
})

test('a known key is accepted for a minute after its last lookup was due while the database is away; others are not', async () => {
  fakeClocks()
  const known = newKey()
  const { keyring, stored, outage } = slowKeyring(known)
  stored.expires_at = new Date(Date.now() + 30_000)
  expect(await keyring.callerOf(known.key)).toMatchObject({ name: 'key 1' })
  outage.error = new Unreachable()
  vi.advanceTimersByTime(29_999)
  expect(await keyring.callerOf(known.key)).toMatchObject({ name: 'key 1' })
  await expect(keyring.callerOf(newKey().key)).rejects.toMatchObject({ status: 503 })
  const similar = known.key.slice(0, -1) + (known.key.endsWith('x') ? 'y' : 'x')
  await expect(keyring.callerOf(similar)).rejects.toMatchObject({ status: 401 })
  vi.advanceTimersByTime(1)
  await expect(keyring.callerOf(known.key)).rejects.toMatchObject({ status: 401, reason: 'expired_key' })
  stored.expires_at = null
  stored.last_used_at = new Date(Date.now() + 59_000)
  delete outage.error
  expect(await keyring.callerOf(known.key)).toMatchObject({ name: 'key 1' })
  outage.error = new Unreachable()
  vi.advanceTimersByTime(60_999)
  expect(await keyring.callerOf(known.key)).toMatchObject({ name: 'key 1' })
  vi.advanceTimersByTime(1)
  await expect(keyring.callerOf(known.key)).rejects.toMatchObject({ status: 503 })
})
