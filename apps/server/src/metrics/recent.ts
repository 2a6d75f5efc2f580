import { BUCKETS, bucketOf } from './timings.ts'

const SECONDS = 60
const MINUTES = 60

/** What processes have served lately. */
export interface Served {
  /** The requests of each of the last 60 seconds, the current one excluded. */
  requests: number[]
  /** The 5xx responses of the last hour. */
  errors: number
  /** The calls of the last hour by duration, in the buckets of `Timings`. */
  calls: number[]
}

/** Counts what this process has served in the last minute and the last hour. Its memory is bounded. */
export class Recent {
  readonly #now: () => number
  readonly #requests: number[] = Array(SECONDS + 1).fill(0)
  readonly #hour = Array.from({ length: MINUTES }, emptyMinute)
  #second: number
  #minute: number

  /** @param now the time in seconds */
  constructor(now = () => performance.now() / 1000) {
    this.#now = now
    this.#second = Math.floor(now())
    this.#minute = Math.floor(now() / 60)
  }

  /** Counts a finished request. */
  addRequest(isError: boolean): void {
    const minute = this.#turn()
    ;(this.#requests[this.#second % this.#requests.length] as number)++
    if (isError) minute.errors++
  }

  /** Counts a call that took so many seconds. */
  addCall(seconds: number): void {
    ;(this.#turn().calls[bucketOf(seconds)] as number)++
  }

  served(): Served {
    this.#turn()
    const { length } = this.#requests
    return {
      requests: Array.from({ length: SECONDS }, (_, index) => this.#requests[(this.#second + 1 + index) % length] ?? 0),
      errors: this.#hour.reduce((sum, { errors }) => sum + errors, 0),
      calls: sumOf(this.#hour.map(({ calls }) => calls)),
    }
  }

  /** Empties the seconds and minutes that have passed, and returns the current minute. */
  #turn() {
    const now = this.#now()
    const [second, minute] = [Math.floor(now), Math.floor(now / 60)]
    const { length } = this.#requests
    for (let passed = Math.max(this.#second + 1, second - SECONDS); passed <= second; passed++) {
      this.#requests[passed % length] = 0
    }
    for (let passed = Math.max(this.#minute + 1, minute - MINUTES + 1); passed <= minute; passed++) {
      this.#hour[passed % MINUTES] = emptyMinute()
    }
    this.#second = second
    this.#minute = minute
    return this.#hour[minute % MINUTES] ?? emptyMinute()
  }
}

/** What several processes have served together. */
export function together(all: Served[]): Served {
  return {
    requests: sumOf(all.map(({ requests }) => requests)),
    errors: all.reduce((sum, { errors }) => sum + errors, 0),
    calls: sumOf(all.map(({ calls }) => calls)),
  }
}

/** The duration in ms that 99 of 100 calls do not exceed, by the bounds of the buckets; null without calls. */
export function p99Ms(calls: number[]): number | null {
  const rank = 0.99 * calls.reduce((sum, count) => sum + count, 0)
  if (rank === 0) return null
  let below = 0
  const index = calls.findIndex((count) => {
    below += count
    return below >= rank
  })
  const [count = 1, lower = 0, upper = lower] = [calls[index], BUCKETS[index - 1], BUCKETS[index]]
  // Within a bucket, as if its durations were spread evenly.
  return 1000 * (lower + (upper - lower) * (1 - (below - rank) / count))
}

function emptyMinute() {
  return { errors: 0, calls: Array<number>(BUCKETS.length + 1).fill(0) }
}

function sumOf(lists: number[][]): number[] {
  return (lists[0] ?? []).map((_, index) => lists.reduce((sum, list) => sum + (list[index] ?? 0), 0))
}
