import { Budget } from './budget.ts'
import { type Deadline, Pause, timedOut, timer } from './deadline.ts'
import { copyOf, isServiceError, type ServiceError } from './errors.ts'

/** A call as the transport sends it. */
export interface TransportCall {
  type: 'query' | 'mutation'
  /** `users.get` */
  path: string
  input: unknown
  /** The input as JSON; undefined without input. */
  json: string | undefined
  /** The effect that the write must have; such a call is the only one of its request. */
  ifEffect?: string | undefined
  /** The group of the request; calls of different groups are never in one request. */
  group?: string | undefined
}

/** The outcome of a call. */
export type Outcome = { data: unknown; requestId?: string | undefined } | { error: ServiceError }

/** Sends calls to a service. */
export interface Transport {
  /** The caller's credentials. Calls with different credentials are never in one request. */
  credentials?: (() => Promise<string | undefined>) | undefined
  /**
   * Sends calls with the same type and credentials in one request.
   *
   * @returns the outcome of each call, in order
   * @throws ServiceError for all calls; any other error is a program error and is passed to the callers unchanged
   */
  send: (calls: TransportCall[], credentials: string | undefined, signal: AbortSignal) => Promise<Outcome[]>
}

/** A call in the queue. */
export interface QueuedCall extends TransportCall {
  credentials: string | undefined
  /** Whether the call needs its own request, because the service limits the records of a request. */
  isUnbatched: boolean
  timeoutMs: number
  attemptTimeoutMs: number
  /** How many times the call was sent before. */
  retries: number
  /** The time until which a retry may be sent, by `performance.now()`. */
  sendBy: number
  deadline: Deadline
}

/** The outcome of a call and the pause before a retry; `unsent` if the budget allowed no retry before `sendBy`. */
export type Settled = (Outcome & { pause: Pause }) | 'unsent'

interface Entry extends QueuedCall {
  settle: (settled: Settled) => void
  fail: (fault: unknown) => void
}

export interface QueueOptions {
  /** The maximum number of calls in one request. */
  maxCalls: number
  /** The maximum size of the mutations in one request, in bytes. */
  bodyLimit: number
  retriesPerSecond: number
  /** The upper limit for the wait of a `Retry-After`, in milliseconds. */
  longestRetryAfterMs: number
}

// The queries of a batch fit a URL.
const MAX_QUERY_INPUT = 3_000
// The index, quotes and separators of an input in a batch.
const BYTES_PER_INPUT = 8

const BASE_BACKOFF_MS = 50
const MAX_BACKOFF_MS = 3_000

/**
 * Sends the calls of one tick in one request if their type and credentials are the same. All calls of a failed request
 * share one pause, so that they are also retried in one request.
 */
export class Queue {
  readonly #transport: Transport
  readonly #options: QueueOptions
  readonly #budget: Budget
  #entries: Entry[] = []
  /** Retries that wait for the budget, in order. */
  #retries: Entry[][] = []
  #stopRetryTimer: (() => void) | undefined

  constructor(transport: Transport, options: QueueOptions) {
    this.#transport = transport
    this.#options = options
    this.#budget = new Budget(options.retriesPerSecond, performance.now())
  }

  /** @throws the transport's error, if it is not a `ServiceError` */
  add(call: QueuedCall): Promise<Settled> {
    if (this.#entries.length === 0) setTimeout(() => this.#flush(), 0)
    return new Promise((settle, fail) => this.#entries.push({ ...call, settle, fail }))
  }

  #flush(): void {
    const entries = this.#entries.filter(({ deadline }) => !deadline.isOver)
    this.#entries = []
    for (const group of groupCalls(entries, this.#options)) {
      if (group[0]?.retries === 0) void this.#send(group)
      else this.#retries.push(group)
    }
    this.#sendRetries()
  }

  #sendRetries(): void {
    this.#stopRetryTimer?.()
    this.#stopRetryTimer = undefined
    const nowMs = performance.now()
    const waiting: Entry[][] = []
    for (const group of this.#retries) {
      const waitMs = this.#budget.waitMs(nowMs, waiting.length)
      const pending: Entry[] = []
      for (const entry of group) {
        if (entry.deadline.isOver) continue
        if (nowMs + waitMs > entry.sendBy) entry.settle('unsent')
        else pending.push(entry)
      }
      if (pending.length === 0) continue
      if (waitMs > 0) {
        // A call that ends meanwhile must not keep the timer running.
        for (const { deadline } of pending) deadline.onEnd = () => this.#sendRetries()
        waiting.push(pending)
        continue
      }
      this.#budget.take()
      void this.#send(pending)
    }
    this.#retries = waiting
    if (waiting.length > 0) this.#stopRetryTimer = timer(this.#budget.waitMs(nowMs), () => this.#sendRetries())
  }

  async #send(entries: Entry[]): Promise<void> {
    const [first] = entries as [Entry]
    const abort = new AbortController()
    let remaining = entries.length
    for (const { deadline } of entries) {
      deadline.onEnd = () => {
        if (--remaining === 0) abort.abort()
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
      // A response that nobody reads would keep its connection open.
      abort.abort()
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

  /** The pause before failed calls are retried: the longest `Retry-After`, but at least a random backoff. */
  #pause(entries: Entry[], outcomes: Outcome[]): Pause {
    const requestedMs = outcomes.map((outcome) => ('error' in outcome ? (outcome.error.retryAfterMs ?? 0) : 0))
    const retries = Math.max(...entries.map(({ retries }) => retries))
    const backoffMs = Math.random() * Math.min(MAX_BACKOFF_MS, BASE_BACKOFF_MS * 2 ** retries)
    return new Pause(Math.max(backoffMs, Math.min(this.#options.longestRetryAfterMs, Math.max(...requestedMs))))
  }
}

/** Groups calls into requests. */
function groupCalls(entries: Entry[], { maxCalls, bodyLimit }: QueueOptions): Entry[][] {
  const groups: Entry[][] = []
  const open = new Map<string, { group: Entry[]; size: number }>()
  for (const entry of entries) {
    const { type, path, credentials, retries, isUnbatched, timeoutMs, attemptTimeoutMs, json = '' } = entry
    if (isUnbatched) {
      groups.push([entry])
      continue
    }
    // Timeouts are part of the group: a call with a short one would end before the response of a shared request.
    const size = type === 'query' ? path.length + encodeURIComponent(json).length : sizeOf(json) + BYTES_PER_INPUT
    const maxSize = type === 'query' ? MAX_QUERY_INPUT : bodyLimit
    const key = `${type} ${retries > 0} ${timeoutMs} ${attemptTimeoutMs} ${credentials} ${entry.group}`
    let last = open.get(key)
    if (last === undefined || last.group.length >= maxCalls || last.size + size > maxSize) {
      last = { group: [], size: 0 }
      open.set(key, last)
      groups.push(last.group)
    }
    last.group.push(entry)
    last.size += size
  }
  return groups
}

/** An upper bound of the size in UTF-8, which takes at most three bytes for a UTF-16 unit. */
function sizeOf(text: string): number {
  return /[^\0-\x7f]/.test(text) ? text.length * 3 : text.length
}
