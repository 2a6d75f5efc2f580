import type { IncomingMessage } from 'node:http'
import type { Around } from '@resource/database'
import type { ApiError, Operation } from '@resource/openapi'
import { methodName } from '../http/allowed-methods.ts'
import { Recent } from './recent.ts'
import { Timings } from './timings.ts'

/** The counters of this process since its start. Counting is cheap: prom-client is loaded only when metrics are read. */
export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const calls = createFamily(['procedure', 'outcome'], () => new Timings())
  const work = createFamily(['operation', 'table'], () => new Timings())
  const responses = createFamily(['method', 'status'], () => ({ count: 0 }))
  const refusals = createFamily(['status', 'reason'], () => ({ count: 0 }))
  const recent = new Recent()
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
    recent,
    unexpected: () => unexpected,
    /** Wraps a procedure's call to measure it. */
    observe: <Context>(procedure: string, call: Operation<Context>['call']): typeof call => {
      const ok = calls.of(procedure, 'ok')
      const refused = calls.of(procedure, 'client_error')
      const failed = calls.of(procedure, 'server_error')
      const add = (timings: Timings, started: number) => {
        const seconds = timings.add(started)
        // It waits for changes.
        if (procedure !== 'changes.list') recent.addCall(seconds)
      }
      return async (...args) => {
        const started = performance.now()
        try {
          const output = await call(...args)
          add(ok, started)
          return output
        } catch (error) {
          add((error as ApiError).status < 500 ? refused : failed, started)
          throw error
        }
      }
    },
    /** Measures the operations of the database. */
    measure,
    /** Counts a finished or aborted request. */
    count: ({ method = '' }: IncomingMessage, status: number | 'aborted'): void => {
      responses.of(methodName(method), status).count++
      recent.addRequest(status !== 'aborted' && status >= 500)
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
