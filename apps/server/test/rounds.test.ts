import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRounds } from '../src/limits/rounds.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** How many of `requests` that come at once, and take `ms` each, are let in. */
async function round(comesTooLate: () => boolean, requests: number, ms: number) {
  let admitted = 0
  for (let request = 0; request < requests; request++) {
    if (comesTooLate()) continue
    admitted++
    vi.advanceTimersByTime(ms)
  }
  await setImmediate()
  return admitted
}

test('a burst is served for 300 ms; when it goes on, rounds are kept to 35 ms', async () => {
  const comesTooLate = createRounds()
  expect(await round(comesTooLate, 900, 1)).toBe(301)
  expect(await round(comesTooLate, 900, 1)).toBe(36)
  expect(await round(comesTooLate, 900, 1)).toBe(36)
})

test('bursts are served again once no round was long for 300 ms', async () => {
  const comesTooLate = createRounds()
  await round(comesTooLate, 900, 1)
  for (let time = 0; time < 8; time++) expect(await round(comesTooLate, 34, 1)).toBe(34)
  expect(await round(comesTooLate, 900, 1)).toBe(36)
  for (let time = 0; time < 9; time++) expect(await round(comesTooLate, 34, 1)).toBe(34)
  expect(await round(comesTooLate, 900, 1)).toBe(301)
  vi.advanceTimersByTime(300)
  expect(await round(comesTooLate, 900, 1)).toBe(301)
})

test('rounds of less than 35 ms refuse nobody, however many they are, nor do longer ones between them', async () => {
  const comesTooLate = createRounds()
  for (let time = 0; time < 50; time++) {
    expect(await round(comesTooLate, 200, 0.17)).toBe(200)
    expect(await round(comesTooLate, 200, 1)).toBe(200)
  }
})

test('thirty-two requests at once are served however long each takes', async () => {
  const comesTooLate = createRounds()
  for (let time = 0; time < 5; time++) expect(await round(comesTooLate, 32, 300)).toBe(32)
})
