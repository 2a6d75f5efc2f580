import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDelayGuard } from '../src/limits/overload.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** The number of concurrent requests, each of `ms`, that are admitted. */
async function round(exceedsDelay: () => boolean, requests: number, ms: number) {
  let admitted = 0
  for (let request = 0; request < requests; request++) {
    if (exceedsDelay()) continue
    admitted++
    vi.advanceTimersByTime(ms)
  }
  await setImmediate()
  return admitted
}

test('a burst is served for 250 ms; under continued load each round is limited to 30 ms', async () => {
  const exceedsDelay = createDelayGuard()
  expect(await round(exceedsDelay, 900, 1)).toBe(251)
  expect(await round(exceedsDelay, 900, 1)).toBe(32)
  expect(await round(exceedsDelay, 900, 1)).toBe(32)
})

test('bursts are served again after half a second without a long round', async () => {
  const exceedsDelay = createDelayGuard()
  await round(exceedsDelay, 900, 1)
  for (let time = 0; time < 19; time++) expect(await round(exceedsDelay, 25, 1)).toBe(25)
  expect(await round(exceedsDelay, 900, 1)).toBe(32)
  for (let time = 0; time < 20; time++) expect(await round(exceedsDelay, 25, 1)).toBe(25)
  expect(await round(exceedsDelay, 900, 1)).toBe(251)
  vi.advanceTimersByTime(500)
  expect(await round(exceedsDelay, 900, 1)).toBe(251)
})

test('sixty-four concurrent requests are served, however long each takes', async () => {
  const exceedsDelay = createDelayGuard()
  for (let time = 0; time < 5; time++) expect(await round(exceedsDelay, 64, 300)).toBe(64)
})
