import type { IncomingMessage } from 'node:http'
import type { Around } from '@resource/database'
import type { Operation, Problem } from '@resource/openapi'
import { methodName } from '../http/methods.ts'

/** Timings by their labels. Labels are the service's own words, never what a caller sent: so there is an end to them. */
export type LabelledTimings = Map<string, { labels: Record<string, string>; timings: Timings }>

/** What this process has counted since its start. It costs nothing to keep: prom-client is loaded when it is asked for. */
export interface Metrics {
  readonly calls: LabelledTimings
  readonly work: LabelledTimings
  /** By method and status: `GET`, `200`. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<number | 'aborted', number>>
  /** Refusals by status and reason: `401 unknown_key`. */
  readonly refusals: ReadonlyMap<string, { status: string; reason: string; count: number }>
  /** Measures the calls of an operation. */
  observe: <Context>(procedure: string, call: Operation<Context>['call']) => Operation<Context>['call']
  /** Measures the work of the database. */
  measure: Around
  /** Counts a request that is answered, or will not be. */
  count: (req: IncomingMessage, status: number | 'aborted') => void
  /** Counts a refusal, once however many calls of a batch it answers. */
  countRefusal: (problem: Problem) => void
  /** Counts an error that nothing foresaw. */
  countUnexpected: () => void
  unexpected: () => number
}

export function createMetrics(): Metrics {
  const calls: LabelledTimings = new Map()
  const work: LabelledTimings = new Map()
  const answers = new Map<string, Map<number | 'aborted', number>>()
  const refusals = new Map<string, { status: string; reason: string; count: number }>()
  let lastRefusal: Problem | undefined
  let unexpected = 0
  const byTable = new Map<string, Map<string, Timings>>()
  return {
    calls,
    work,
    answers,
    refusals,
    observe: (procedure, call) => {
      const timingsOf = (outcome: string) => addTimings(calls, `${procedure} ${outcome}`, { procedure, outcome })
      const ok = timingsOf('ok')
      const refused = timingsOf('client_error')
      const failed = timingsOf('server_error')
      return async (...args) => {
        const started = performance.now()
        try {
          const output = await call(...args)
          ok.add(started)
          return output
        } catch (error) {
          const timings = (error as Problem).status < 500 ? refused : failed
          timings.add(started)
          throw error
        }
      }
    },
    measure: async (operation, table, run) => {
      const known = entryOf(byTable, table, newMap<string, Timings>)
      const add = () => addTimings(work, `${operation} ${table}`, { operation, table })
      const timings = entryOf(known, operation, add)
      const started = performance.now()
      try {
        return await run()
      } finally {
        timings.add(started)
      }
    },
    count: ({ method = '' }, status) => {
      const counts = entryOf(answers, methodName(method), newMap<number | 'aborted', number>)
      counts.set(status, (counts.get(status) ?? 0) + 1)
    },
    countRefusal: (problem) => {
      if (problem === lastRefusal) return
      lastRefusal = problem
      const { status, reason = 'other' } = problem
      const add = () => ({ status: String(status), reason, count: 0 })
      entryOf(refusals, `${status} ${reason}`, add).count++
    },
    countUnexpected: () => void unexpected++,
    unexpected: () => unexpected,
  }
}

function addTimings(all: LabelledTimings, key: string, labels: Record<string, string>): Timings {
  const timings = new Timings()
  all.set(key, { labels, timings })
  return timings
}

const newMap = <K, V>() => new Map<K, V>()

function entryOf<K, V>(all: Map<K, V>, key: K, make: () => V): V {
  let entry = all.get(key)
  if (entry === undefined) {
    entry = make()
    all.set(key, entry)
  }
  return entry
}

/** Upper ends of the classes, in seconds: from a read of SQLite to what no caller waits for. */
export const CLASSES = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** How often something took how long. */
class Timings {
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
