import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createKeyring } from '../src/access/keyring.ts'
import { newKey } from '../src/access/secret.ts'

type KeyringParameters = Parameters<typeof createKeyring>

/** A keyring with one known key; look-ups of other keys wait until the test releases them. */
function slowKeyring(known: { key: string; prefix: string; hash: string }) {
  const pending: (() => void)[] = []
  const row = { id: 1, name: 'known', role: 'reader', revoked_at: null, expires_at: null, last_used_at: new Date() }
  const find = async ({ prefix }: { prefix: string }) => {
    if (prefix === known.prefix) return { ...row, ...known }
    await new Promise<void>((resolve) => pending.push(resolve))
    return undefined
  }
  const database = { read: { apiKeys: { find } } } as unknown as KeyringParameters[0]
  return { keyring: createKeyring(database, {} as KeyringParameters[1]), pending }
}

test('unknown keys are looked up two at a time, and a known key does not wait for them', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const known = newKey()
  const { keyring, pending } = slowKeyring(known)
  expect(await keyring.callerOf(known.key)).toMatchObject({ name: 'key 1' })
  const outcomes: unknown[] = []
  for (let n = 0; n < 150; n++) {
    Promise.resolve(keyring.callerOf(newKey().key)).catch((error) => outcomes.push(error.status))
  }
  await setImmediate()
  expect(pending.length).toBe(2)
  // After a second the known key is looked up again.
  vi.advanceTimersByTime(1_001)
  expect(await keyring.callerOf(known.key)).toMatchObject({ name: 'key 1' })
  // A hundred look-ups are queued, and the excess is refused.
  expect(outcomes).toEqual(Array(48).fill(503))
  for (; outcomes.length < 150; await setImmediate()) pending.pop()?.()
  expect(outcomes.filter((status) => status === 401)).toHaveLength(102)
})
