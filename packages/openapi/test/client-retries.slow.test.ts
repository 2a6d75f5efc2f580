import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  type ClientCallOptions,
  clientOver,
  type ServiceError,
  serviceError,
  type Transport,
} from '../src/client/index.ts'
import type { contract } from './sky.ts'

// The tests use fake timers.

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }))
afterEach(() => void vi.useRealTimers())

type Answer = 'fine' | 'busy' | 'gone' | { retryAfterMs: number } | { slowMs: number }

const RATE = 20

/** A client of a service that gives `answers` to its first requests and `otherwise` to all later ones. */
function clientOf(answers: Answer[], otherwise: Answer, options: ClientCallOptions<typeof contract> = {}) {
  /** The times of requests with retried calls. */
  const retryTimes: number[] = []
  let requests = 0
  /** The `id` of each call, each time it was sent. */
  const sent: number[] = []
  const transport: Transport = {
    send: async (calls) => {
      const answer = answers[requests++] ?? otherwise
      const ids = calls.map(({ input }) => (input as { id: number }).id)
      if (ids.some((id) => sent.includes(id))) retryTimes.push(performance.now())
      sent.push(...ids)
      const unavailable = (retryAfterMs?: number) =>
        serviceError('unavailable', { status: 503, message: 'later', retryAfterMs })
      if (answer === 'gone') throw serviceError('unavailable', { status: 0, message: 'gone' })
      if (typeof answer === 'object' && 'slowMs' in answer) {
        await new Promise((resolve) => setTimeout(resolve, answer.slowMs))
      } else if (answer !== 'fine') {
        const error = unavailable(answer === 'busy' ? undefined : answer.retryAfterMs)
        return calls.map(() => ({ error }))
      }
      return calls.map(() => ({ data: 'fine' }))
    },
  }
  const { planets } = clientOver<typeof contract>(transport, { retriesPerSecond: RATE, ...options })
  const get = (id: number): Promise<unknown> => planets.get.query({ id }).catch((error: ServiceError) => error.code)
  return { get, sent, retryTimes, requests: () => requests }
}

/** Makes calls at the given times and waits for all of them. */
async function play(get: (id: number) => Promise<unknown>, times: number[]): Promise<unknown[]> {
  const outcomes = times.map((ms, id) => new Promise<unknown>((resolve) => setTimeout(() => resolve(get(id)), ms)))
  await vi.advanceTimersByTimeAsync(200_000)
  return Promise.all(outcomes)
}

test('no sequence of calls and responses exceeds the retry budget, and every call ends', async () => {
  const answer: fc.Arbitrary<Answer> = fc.oneof(
    fc.constantFrom<Answer>('fine', 'busy', 'gone'),
    fc.record({ retryAfterMs: fc.integer({ min: 0, max: 100_000 }) }),
    fc.record({ slowMs: fc.integer({ min: 0, max: 40_000 }) }),
  )
  const schedule = fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 120, size: 'max' })
  await fc.assert(
    fc.asyncProperty(
      fc.array(answer, { maxLength: 60, size: 'max' }),
      answer,
      schedule,
      fc.boolean(),
      async (answers, otherwise, times, batch) => {
        const { get, retryTimes } = clientOf(answers, otherwise, { batch })
        const outcomes = await play(get, times)
        for (const outcome of outcomes) expect(['fine', 'unavailable', 'timeout']).toContain(outcome)
        // One assertion for all spans of time: there are hundreds of thousands.
        let excess = 0
        for (const [first, start] of retryTimes.entries()) {
          for (let last = first; last < retryTimes.length; last++) {
            const seconds = ((retryTimes[last] as number) - start) / 1000
            excess = Math.max(excess, last - first + 1 - RATE - seconds * RATE)
          }
        }
        expect(excess).toBeLessThanOrEqual(1e-6)
      },
    ),
    { numRuns: 60 },
  )
})

test('calls that stop retrying leave the budget to others', async () => {
  const { get, sent } = clientOf([], 'busy', { batch: false })
  await play(get, [...Array(600).fill(0), 5_000])
  // A call is retried for 2,000 ms, after pauses of at most 50, 100, 200, 400, 800 and 1,600 ms.
  expect(sent.filter((id) => id === 600).length).toBeGreaterThan(1)
})

test('a budget of less than one retry per second allows a retry now and then', async () => {
  const { get, requests } = clientOf(['busy', 'busy'], 'fine', { retriesPerSecond: 0.5, retryForMs: 10_000 })
  const outcome = get(1)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(requests()).toBe(2)
  await vi.advanceTimersByTimeAsync(1_500)
  expect([await outcome, requests()]).toEqual(['fine', 3])
})

test('a Retry-After of a month gets at most two requests', async () => {
  const { get, requests } = clientOf([], { retryAfterMs: 2_592_000_000 }, { timeoutMs: 40 * 24 * 3_600_000 })
  void get(1)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(requests()).toBeLessThanOrEqual(2)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(requests()).toBe(2)
})
