import { type ListTable, type Scopes, scopeOf, type Tables } from '@resource/database'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Context } from '../src/store/context.ts'
import type { Row } from '../src/store/row-mapping.ts'
import { summaryService } from '../src/store/summaries.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['performance', 'Date'] }))
afterEach(() => vi.useRealTimers())

/** Summaries that take so many milliseconds, and count how often they are computed. */
function summariesIn(ms: number) {
  let count = 0
  const table = {
    summarize: async () => {
      count++
      vi.advanceTimersByTime(ms)
      return [{ value: null, count, minimum: null, mean: null, maximum: null }]
    },
  } as unknown as ListTable<Row>
  const summarize = summaryService(
    () => table,
    () => ({}),
  )
  const context = { read: {} as Tables } as Context
  return async (by = 'role', scopes?: Scopes) =>
    (await summarize({ by, limit: 10 }, { ...context, scopes })).summaries[0]?.count
}

test('C35 a summary that took 300 ms is reused for 6 s, then returned once more while it is computed again', async () => {
  const computed = summariesIn(300)
  const seen = [await computed(), await computed()]
  vi.advanceTimersByTime(5_999)
  seen.push(await computed())
  vi.advanceTimersByTime(2)
  seen.push(await computed(), await computed())
  expect(seen).toEqual([1, 1, 1, 1, 2])
})

test('C35 a summary is reused for callers with the same scope alone', async () => {
  const computed = summariesIn(300)
  const scopeFor = (name: string): Scopes => new Map([['users', scopeOf([{ name }], { name: 'text' })]])
  const seen = [await computed(), await computed('role', scopeFor('ada')), await computed('role', scopeFor('bo'))]
  seen.push(await computed(), await computed('role', scopeFor('ada')), await computed('role', scopeFor('bo')))
  expect(seen).toEqual([1, 2, 3, 1, 2, 3])
})

test('C35 a summary of more than a minute ago is not returned', async () => {
  const computed = summariesIn(300)
  await computed()
  // It shows the state at its start, 300 ms before.
  vi.advanceTimersByTime(59_701)
  expect(await computed()).toBe(2)
})

test('C35 a summary that took 6 ms is not returned after 1.2 s', async () => {
  const computed = summariesIn(6)
  const seen = [await computed()]
  vi.advanceTimersByTime(119)
  seen.push(await computed())
  vi.advanceTimersByTime(1_076)
  seen.push(await computed())
  expect(seen).toEqual([1, 1, 2])
})

test('C35 callers of one summary share its computation, and other summaries have their own', async () => {
  const computed = summariesIn(300)
  expect(await Promise.all([computed(), computed(), computed('status')])).toEqual([1, 1, 2])
})

test('C35 a summary that took at most 5 ms is computed for each call', async () => {
  const computed = summariesIn(5)
  expect([await computed(), await computed()]).toEqual([1, 2])
})
