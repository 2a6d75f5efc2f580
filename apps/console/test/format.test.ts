import { expect, test, vi } from 'vitest'
import { errorMessage } from '../src/ui/format.ts'
import { beginWork, describeWork, timeLeft, useWork } from '../src/ui/work.ts'

test('an error message becomes a sentence with one full stop', () => {
  expect(errorMessage(new Error('price: must be a number'))).toBe('price: must be a number.')
  expect(errorMessage(new Error('It is already in use.'))).toBe('It is already in use.')
})

test('the time left is rounded, so that it changes seldom', () => {
  expect([400, 12_000, 119_000, 80 * 60_000, 3 * 3_600_000].map(timeLeft)).toEqual([
    '5 s left',
    '15 s left',
    '2 min left',
    '80 min left',
    '3 h left',
  ])
})

test('the time left follows the recent rate, and a pause has its reason', () => {
  vi.useFakeTimers({ toFake: ['performance'], now: 0 })
  vi.stubGlobal('window', new EventTarget())
  const work = beginWork({ title: 'items.csv' })
  const texts: string[] = []
  // 100 rows a second, then 10.
  for (const [ms, done] of [
    [0, 0],
    [10_000, 1_000],
    [20_000, 2_000],
    [30_000, 2_100],
    [50_000, 2_300],
  ] as const) {
    vi.setSystemTime(ms)
    vi.advanceTimersByTime(ms - performance.now())
    work.update(done, 10_000)
    texts.push(...useWork.getState().map(describeWork))
  }
  work.wait('waits for the service')
  texts.push(...useWork.getState().map(describeWork))
  expect(texts).toEqual([
    '0 %',
    '10 %, 2 min left',
    '20 %, 1 min left',
    '21 %, 2 min left',
    '23 %, 13 min left',
    '23 %, waits for the service',
  ])
  work.end()
  expect(useWork.getState()).toEqual([])
  vi.useRealTimers()
  vi.unstubAllGlobals()
})
