import { expect, test } from 'vitest'
import { p99Ms, Recent, together } from '../src/metrics/recent.ts'

test('requests are counted by the second for a minute, errors for an hour', () => {
  let now = 1_000
  const recent = new Recent(() => now)
  recent.addRequest(true)
  recent.addRequest(false)
  now += 2
  recent.addRequest(false)
  now += 1
  expect(recent.served().requests.slice(-4)).toEqual([0, 2, 0, 1])
  now += 59
  expect(recent.served()).toMatchObject({ requests: [1, ...Array(59).fill(0)], errors: 1 })
  now += 3_600
  expect(recent.served()).toMatchObject({ requests: Array(60).fill(0), errors: 0 })
})

test('99 of 100 calls of the last hour take no longer than the 99th percentile', () => {
  let now = 0
  const recent = new Recent(() => now)
  expect(p99Ms(recent.served().calls)).toBe(null)
  for (let n = 0; n < 99; n++) recent.addCall(0.0004)
  recent.addCall(0.2)
  expect(p99Ms(recent.served().calls)).toBe(0.5)
  recent.addCall(0.2)
  expect(p99Ms(recent.served().calls)).toBeGreaterThan(100)
  now += 3_600
  expect(p99Ms(recent.served().calls)).toBe(null)
})

test('several processes have served the sum', () => {
  const one = new Recent(() => 5)
  one.addRequest(true)
  one.addCall(0.2)
  const { errors, calls } = together([one.served(), one.served()])
  expect([errors, calls.reduce((sum, count) => sum + count)]).toEqual([2, 2])
})
