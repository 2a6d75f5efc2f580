import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Request } from 'express'
import { expect, test } from 'vitest'
import { Quota } from '../src/limits/quota.ts'
import { createRateLimit } from '../src/limits/rate-limit.ts'

const NOW = Date.UTC(2026, 10, 21, 12)

/** A quota of 10 units that 50,000 addresses already use. */
function createFullQuota() {
  const quota = new Quota(10, () => NOW)
  for (let n = 0; n < 50_000; n++) quota.take(quota.addressCaller(`10.0.${n >> 8}.${n & 255}`, NOW), 1, NOW)
  return quota
}

test('over 50,000 callers, new addresses share one quota, and known addresses keep their own', () => {
  const quota = createFullQuota()
  const remaining = (address: string) => quota.take(quota.addressCaller(address, NOW), 1, NOW).remaining
  expect([remaining('192.0.2.1'), remaining('192.0.2.2'), remaining('10.0.0.7')]).toEqual([9, 8, 8])
})

test('over 50,000 callers, a key still has a separate quota', () => {
  const quota = createFullQuota()
  const newAddress = quota.addressCaller('192.0.2.1', NOW)
  expect(quota.take(newAddress, 10, NOW).granted).toBe(true)
  expect(quota.take('key 1', 4, NOW)).toMatchObject({ granted: true, remaining: 6 })
  expect(quota.take('key 2', 1, NOW)).toMatchObject({ granted: true, remaining: 9 })
  quota.spend('key 1', 5, NOW)
  expect(quota.take('key 1', 2, NOW)).toMatchObject({ granted: false, remaining: 1 })
})

test('usage of the last minute that arrives late does not change this one', () => {
  const quota = new Quota(10, () => NOW)
  quota.take('key 1', 4, NOW)
  quota.setRemoteUsage(new Map([['key 1', 5]]), quota.window(NOW) - 1)
  expect(quota.take('key 1', 6, NOW)).toMatchObject({ granted: true, remaining: 0 })
})

test('a refund to an address over the 50,000 goes to the shared quota', () => {
  const quota = createFullQuota()
  const newAddress = quota.addressCaller('192.0.2.1', NOW)
  quota.take(newAddress, 10, NOW)
  quota.spend(newAddress, -1, NOW)
  const other = quota.addressCaller('192.0.2.2', NOW)
  expect([quota.take(other, 1, NOW).granted, quota.take(other, 1, NOW).granted]).toEqual([true, false])
})

test.each([
  ['back', -3_600_000],
  ['ahead', 3_600_000],
])('a clock that is set %s by an hour neither ends a window nor prolongs it', (_, step) => {
  let wallMs = NOW + 10_000
  const quota = new Quota(10, () => wallMs)
  expect(quota.take('key 1', 10, 500)).toEqual({ granted: true, remaining: 0, resetSeconds: 50 })
  wallMs += step
  expect(quota.take('key 1', 1, 20_500)).toEqual({ granted: false, remaining: 0, resetSeconds: 30 })
  wallMs += 50_000
  expect(quota.take('key 1', 1, 50_500)).toEqual({ granted: true, remaining: 9, resetSeconds: 60 })
})

test('long reads cost a unit for each 10 ms of a request, in the window of the request', () => {
  const rate = createRateLimit(new Quota(10, () => NOW), false)
  const request = () => Object.assign(new IncomingMessage(new Socket()), { originalUrl: '/' }) as Request
  const req = request()
  rate.count(req)
  for (const readMs of [9, 9, 17]) rate.countWork(req, { readMs })
  const next = request()
  rate.count(next)
  // One unit for each request, three for 35 ms.
  expect(rate.headers(next)?.RateLimit).toBe('"default";r=5;t=60')
})
