import { expect, test } from 'vitest'
import { Quota } from '../src/limits/quota.ts'

const NOW = Date.UTC(2026, 10, 21, 12)

/** A quota of 10 that 50,000 addresses have begun to use. */
function crowded() {
  const quota = new Quota(10)
  for (let n = 0; n < 50_000; n++) quota.take(quota.addressCaller(`10.0.${n >> 8}.${n & 255}`, NOW), 1, NOW)
  return quota
}

test('beyond 50,000 callers new addresses share one quota, and those already known keep their own', () => {
  const quota = crowded()
  const remaining = (address: string) => quota.take(quota.addressCaller(address, NOW), 1, NOW).remaining
  expect([remaining('192.0.2.1'), remaining('192.0.2.2'), remaining('10.0.0.7')]).toEqual([9, 8, 8])
})

test('beyond 50,000 callers a key still has a quota of its own', () => {
  const quota = crowded()
  const stranger = quota.addressCaller('192.0.2.1', NOW)
  expect(quota.take(stranger, 10, NOW).granted).toBe(true)
  expect(quota.take('key 1', 4, NOW)).toMatchObject({ granted: true, remaining: 6 })
  expect(quota.take('key 2', 1, NOW)).toMatchObject({ granted: true, remaining: 9 })
  quota.spend('key 1', 5, NOW)
  expect(quota.take('key 1', 2, NOW)).toMatchObject({ granted: false, remaining: 1 })
})

test('what is given back to an address beyond the 50,000 is given back to the quota they share', () => {
  const quota = crowded()
  const stranger = quota.addressCaller('192.0.2.1', NOW)
  quota.take(stranger, 10, NOW)
  quota.spend(stranger, -1, NOW)
  const other = quota.addressCaller('192.0.2.2', NOW)
  expect([quota.take(other, 1, NOW).granted, quota.take(other, 1, NOW).granted]).toEqual([true, false])
})
