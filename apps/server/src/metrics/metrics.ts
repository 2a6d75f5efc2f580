import type { IncomingMessage } from 'node:http'
import type { Around } from '@resource/database'
import type { ApiError, Operation } from '@resource/openapi'
import { methodName } from '../http/methods.ts'

/** What this process has counted since its start. It costs nothing to keep: prom-client is loaded when it is asked for. */
export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const calls = createFamily(['procedure', 'outcome'], () => new Timings())
  const work = createFamily(['operation', 'table'], () => new Timings())
  const answers = createFamily(['method', 'status'], () => ({ count: 0 }))
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
    answers,
    refusals,
    unexpected: () => unexpected,
    /** Measures the calls of an operation. */
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
    /** Measures the work of the database. */
    measure,
    /** Counts a request that is answered, or will not be. */
    count: ({ method = '' }: IncomingMessage, status: number | 'aborted'): void => {
      answers.of(methodName(method), status).count++
    },
    /** Counts a refusal, once however many calls of a batch it answers. */
    countRefusal: (problem: ApiError): void => {
      if (problem === lastRefusal) return
      lastRefusal = problem
      refusals.of(problem.status, problem.reason ?? 'other').count++
    },
    /** Counts an error that nothing foresaw. */
    countUnexpected: () => void unexpected++,
  }
}

export type Family<Figure> = ReturnType<typeof createFamily<Figure>>

/** Figures by two labels. These are the service's own words, never what a caller sent: so there is an end to them. */
function createFamily<Figure>([first, second]: [string, string], make: () => Figure) {
  const all = new Map<string, { labels: Record<string, string | number>; figure: Figure }>()
  return {
    of: (a: string | number, b: string | number): Figure => {
      const key = `${a} ${b}`
      let entry = all.get(key)
      if (entry === undefined) {
        entry = { labels: { [first]: a, [second]: b }, figure: make() }
        all.set(key, entry)
      }
      return entry.figure
    },
    all: () => [...all.values()],
  }
}

/** Upper ends of the classes, in seconds: from a read of SQLite to what no caller waits for. */
export const CLASSES = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** How often something took how long. */
export class Timings {
  /** By class; the last is of what took longer than all. */
  readonly counts: number[] = Array(CLASSES.length + 1).fill(0)
  sumSeconds = 0

  /** @param since as `performance.now()` gave it */
  add(since: number): void {
    const seconds = (performance.now() - since) / 1000
    let index = 0
    while (index < CLASSES.length && seconds > (CLASSES[index] as number)) index++
    ;(this.counts[index] as number)++
    this.sumSeconds += seconds
  }
}
