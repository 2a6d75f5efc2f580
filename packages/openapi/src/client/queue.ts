import { Budget } from './budget.ts'
import { type Ending, Pause, timedOut, timer } from './ending.ts'
import { copyOf, isServiceError, type ServiceError } from './errors.ts'

/** A call as it is sent. */
export interface Sent {
  type: 'query' | 'mutation'
  /** `users.get` */
  path: string
  input: unknown
  /** The input as JSON; undefined where there is none. */
  json: string | undefined
}

/** What became of a call. */
export type Outcome = { data: unknown } | { error: ServiceError }

/** How calls get to a service. */
export interface Transport {
  /** The caller's credentials; calls with different ones are never sent together. */
  credentials?: (() => Promise<string | undefined>) | undefined
  /**
   * Sends calls of one type and one caller in one request.
   *
   * @returns what became of each, in their order
   * @throws ServiceError of them all; any other error is a fault of the program and goes to the callers as it is
   */
  send: (calls: Sent[], credentials: string | undefined, signal: AbortSignal) => Promise<Outcome[]>
}

/** A call that waits to be sent. */
export interface Waiting extends Sent {
  credentials: string | undefined
  /** Whether it travels alone, because a service counts its records. */
  isAlone: boolean
  timeoutMs: number
  attemptTimeoutMs: number
  /** How often it was sent before. */
  repeats: number
  /** A repeat that cannot be sent by then is given up. */
  sendBy: number
  ending: Ending
}

/** What became of a call, and when it may be sent again; `unsent` where there was no room for a repeat in its time. */
export type Settled = (Outcome & { pause: Pause }) | 'unsent'

interface Entry extends Waiting {
  settle: (settled: Settled) => void
  fail: (fault: unknown) => void
}

export interface QueueOptions {
  /** Whether calls may share a request. */
  batch: boolean
  retriesPerSecond: number
  /** The longest wait that a `Retry-After` is followed for, in milliseconds. */
  longestRetryAfterMs: number
}

// As many calls as a request may carry, and so much of input that a batch of reads fits a URL, and one of writes stays far
// below the largest body.
const MOST_CALLS = 50
const MOST_INPUT = { query: 3_000, mutation: 100_000 }

const BASE_MS = 50
const LONGEST_BACKOFF_MS = 3_000

/**
 * Sends calls: those of one tick in one request, where type and credentials are the same. What a request failed with
 * comes back with one wait for all its calls, so that they are repeated as they were sent, in one request.
 */
export class Queue {
  readonly #transport: Transport
  readonly #options: QueueOptions
  readonly #budget: Budget
  #entries: Entry[] = []
  /** Repeats for which the budget has no room yet, the first of them first. */
  #held: Entry[][] = []
  #stopHolding: (() => void) | undefined

  constructor(transport: Transport, options: QueueOptions) {
    this.#transport = transport
    this.#options = options
    this.#budget = new Budget(options.retriesPerSecond, performance.now())
  }

  /** @throws what the transport threw, where it was no `ServiceError` */
  add(call: Waiting): Promise<Settled> {
    if (this.#entries.length === 0) setTimeout(() => this.#flush(), 0)
    return new Promise((settle, fail) => this.#entries.push({ ...call, settle, fail }))
  }

  #flush(): void {
    const entries = this.#entries.filter(({ ending }) => !ending.isOver)
    this.#entries = []
    for (const group of grouped(entries, this.#options.batch)) {
      if (group[0]?.repeats === 0) void this.#send(group)
      else this.#held.push(group)
    }
    this.#sendHeld()
  }

  #sendHeld(): void {
    this.#stopHolding?.()
    this.#stopHolding = undefined
    const nowMs = performance.now()
    const kept: Entry[][] = []
    for (const group of this.#held) {
      const waitMs = this.#budget.waitMs(nowMs, kept.length)
      const alive: Entry[] = []
      for (const entry of group) {
        if (entry.ending.isOver) continue
        if (nowMs + waitMs > entry.sendBy) entry.settle('unsent')
        else alive.push(entry)
      }
      if (alive.length === 0) continue
      if (waitMs > 0) {
        kept.push(alive)
        continue
      }
      this.#budget.take()
      void this.#send(alive)
    }
    this.#held = kept
    if (kept.length > 0) this.#stopHolding = timer(this.#budget.waitMs(nowMs), () => this.#sendHeld())
  }

  async #send(entries: Entry[]): Promise<void> {
    const [first] = entries as [Entry]
    const abort = new AbortController()
    let left = entries.length
    for (const { ending } of entries) {
      ending.onEnd = () => {
        if (--left === 0) abort.abort()
      }
    }
    let stop = () => {}
    const late = new Promise<never>((_, reject) => {
      stop = timer(first.attemptTimeoutMs, () => {
        reject(timedOut())
        abort.abort()
      })
    })
    try {
      const sending = this.#transport.send(entries, first.credentials, abort.signal)
      const outcomes = await Promise.race([sending, late])
      const pause = this.#pause(entries, outcomes)
      for (const [index, entry] of entries.entries()) entry.settle({ ...(outcomes[index] as Outcome), pause })
    } catch (error) {
      if (!isServiceError(error)) {
        for (const entry of entries) entry.fail(error)
        return
      }
      const pause = this.#pause(entries, [{ error }])
      for (const entry of entries) entry.settle({ error: copyOf(error), pause })
    } finally {
      stop()
    }
  }

  /** How long the calls that failed wait before they are repeated: what the service asks for, and no less than is fair. */
  #pause(entries: Entry[], outcomes: Outcome[]): Pause {
    const asked = outcomes.map((outcome) => ('error' in outcome ? (outcome.error.retryAfterMs ?? 0) : 0))
    const repeats = Math.max(...entries.map(({ repeats }) => repeats))
    const backoffMs = Math.random() * Math.min(LONGEST_BACKOFF_MS, BASE_MS * 2 ** repeats)
    return new Pause(Math.max(backoffMs, Math.min(this.#options.longestRetryAfterMs, Math.max(...asked))))
  }
}

/** Calls that may share a request. */
function grouped(entries: Entry[], batch: boolean): Entry[][] {
  const groups: Entry[][] = []
  const open = new Map<string, { group: Entry[]; size: number }>()
  for (const entry of entries) {
    const { type, path, credentials, repeats, isAlone, timeoutMs, attemptTimeoutMs, json = '' } = entry
    if (!batch || isAlone) {
      groups.push([entry])
      continue
    }
    // A call with less time than others would end before their answers come.
    const size = type === 'query' ? path.length + encodeURIComponent(json).length : json.length
    const kind = `${type} ${repeats > 0} ${timeoutMs} ${attemptTimeoutMs} ${credentials}`
    let last = open.get(kind)
    if (last === undefined || last.group.length === MOST_CALLS || last.size + size > MOST_INPUT[type]) {
      last = { group: [], size: 0 }
      open.set(kind, last)
      groups.push(last.group)
    }
    last.group.push(entry)
    last.size += size
  }
  return groups
}
