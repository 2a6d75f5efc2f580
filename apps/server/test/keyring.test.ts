import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createKeyring } from '../src/access/keyring.ts'
import { newKey } from '../src/access/secret.ts'

type Given = Parameters<typeof createKeyring>

/** A keyring whose database holds `known` and answers the other look-ups when told. */
function slowKeyring(known: { key: string; prefix: string; hash: string }) {
  const held: (() => void)[] = []
  const row = { id: 1, name: 'known', role: 'reader', revoked_at: null, expires_at: null, last_used_at: new Date() }
  const find = async ({ prefix }: { prefix: string }) => {
    if (prefix === known.prefix) return { ...row, ...known }
    await new Promise<void>((resolve) => held.push(resolve))
    return undefined
  }
  const database = { read: { apiKeys: { find } } } as unknown as Given[0]
  return { keyring: createKeyring(database, {} as Given[1]), held }
}

test('made-up keys are looked up two at a time; a known key does not wait for them', async () => {
  const known = newKey()
  const { keyring, held } = slowKeyring(known)
  expect(await keyring.callerOf(known.key)).toMatchObject({ name: 'key 1' })
  const outcomes: unknown[] = []
  for (let n = 0; n < 150; n++) {
    Promise.resolve(keyring.callerOf(newKey().key)).catch((error) => outcomes.push(error.status))
  }
  await setImmediate()
  expect(held.length).toBe(2)
  expect(await keyring.callerOf(known.key)).toMatchObject({ name: 'key 1' })
  // A hundred wait, and the others that came first have been refused.
  expect(outcomes).toEqual(Array(48).fill(503))
  for (; outcomes.length < 150; await setImmediate()) held.pop()?.()
  expect(outcomes.filter((status) => status === 401)).toHaveLength(102)
})
