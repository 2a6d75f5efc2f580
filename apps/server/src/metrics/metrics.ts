import type { IncomingMessage } from 'node:http'
import type { Around } from '@resource/database'
import type { ApiError, Operation } from '@resource/openapi'
import { methodName } from '../http/allowed-methods.ts'

/** The counters of this process since its start. Counting is cheap: prom-client is loaded only when metrics are read. */
export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const calls = createFamily(['procedure', 'outcome'], () => new Timings())
  const work = createFamily(['operation', 'table'], () => new Timings())
  const responses = createFamily(['method', 'status'], () => ({ count: 0 }))
  const refusals = createFamily(['status', 'reason'], () => ({ count: 0 }))
  let lastRefusal: ApiError | undefined
  let unexpected = 0
  const measure: Around = async (operation, table, run) => {
    const timings = work.of(operation, table)
    const started = performance.now()
    try {
      return await run()
    } finally {
      timings.add(started)
    }
  }
  return {
    calls,
    work,
    responses,
    refusals,
    unexpected: () => unexpected,
    /** Wraps a procedure's call to measure it. */
    observe: <Context>(procedure: string, call: Operation<Context>['call']): typeof call => {
      const ok = calls.of(procedure, 'ok')
      const refused = calls.of(procedure, 'client_error')
      const failed = calls.of(procedure, 'server_error')
      return async (...args) => {
        const started = performance.now()
        try {
          const output = await call(...args)
          ok.add(started)
          return output
        } catch (error) {
          const timings = (error as ApiError).status < 500 ? refused : failed
          timings.add(started)
          throw error
        }
      }
    },
    /** Measures the operations of the database. */
    measure,
    /** Counts a finished or aborted request. */
    count: ({ method = '' }: IncomingMessage, status: number | 'aborted'): void => {
      responses.of(methodName(method), status).count++
    },
    /** Counts a refusal: once, even if it fails several calls of a batch. */
    countRefusal: (refusal: ApiError): void => {
      if (refusal === lastRefusal) return
      lastRefusal = refusal
      refusals.of(refusal.status, refusal.reason).count++
    },
    /** Counts an unexpected error. */
    countUnexpected: () => void unexpected++,
  }
}

export type Family<Value> = ReturnType<typeof createFamily<Value>>

/** Values by two labels. Label values come from the service, never from a caller, so their number is bounded. */
function createFamily<Value>([first, second]: [string, string], make: () => Value) {
  const all = new Map<string, { labels: Record<string, string | number>; value: Value }>()
  return {
    of: (a: string | number, b: string | number): Value => {
      const key = `${a} ${b}`
      let entry = all.get(key)
      if (entry === undefined) {
        entry = { labels: { [first]: a, [second]: b }, value: make() }
        all.set(key, entry)
      }
      return entry.value
    },
    all: () => [...all.values()],
  }
}

/** Upper bounds of the histogram buckets in seconds: from a read of SQLite to longer than any caller waits. */
export const BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** A histogram of durations. */
export class Timings {
  /** By bucket; the last counts durations above all bounds. */
  readonly counts: number[] = Array(BUCKETS.length + 1).fill(0)
  sumSeconds = 0

  /** @param since from `performance.now()` */
  add(since: number): void {
    const seconds = (performance.now() - since) / 1000
    let index = 0
    while (index < BUCKETS.length && seconds > (BUCKETS[index] as number)) index++
    ;(this.counts[index] as number)++
    this.sumSeconds += seconds
  }
}
