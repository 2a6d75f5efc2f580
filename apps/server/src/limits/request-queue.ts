import { AsyncResource } from 'node:async_hooks'
import { FairQueue } from '@resource/database'

/** How long a turn serves requests as they arrive, and at most accepts connections while requests wait. */
const SLICE_MS = 10
/** How long it serves requests that wait: those that began already wait for the database, whose results each turn reads. */
const WAITING_SLICE_MS = 2
/** How long the next connection may take: a turn accepts one, and with several processes the primary hands over each. */
const ACCEPT_MS = 2
/** How much CPU time others may take while a request waits behind so many of its caller; a smaller burst is served. */
const BURST_MS = 250
const MIN_BURST = 100
/** The same in a standing queue, which only adds delay (as in CoDel). */
const STANDING_MS = 30
/** In a standing queue, so many requests may wait longer than that. */
const MIN_STANDING = 32
/** How long a queue must be empty to stand no longer: clients that only paused fill it again. */
const EMPTY_MS = 1_000

export interface QueuedRequest {
  /** The key for fairness between callers. */
  caller: string
  /** By `performance.now()`. */
  arrivedMs: number
  /** Whether its connection has closed. */
  isGone: () => boolean
  /** @param isLate whether it has waited too long */
  serve: (isLate: boolean) => void
}

interface Entry extends QueuedRequest {
  /** The CPU time of this thread at the arrival. */
  cpuMs: number
  /** How many requests of the caller waited. */
  ahead: number
}

/**
 * Serves requests in slices, so that expensive requests delay neither new connections nor other callers nor responses for
 * long. While a turn of the event loop has time left, requests are served when they arrive. Others wait for a later turn, in a
 * queue that is fair between callers by the time that their requests take.
 *
 * The wait is limited. A burst of more than a hundred requests of a caller may wait 250 ms. If it waits longer, the caller has
 * a standing queue until none of its requests have waited for a second. These times are CPU times of this thread: when other
 * programs cause the delay, refusals would not help.
 * So is the time that a longer request takes: meanwhile another program may run for as long as dozens of requests take.
 */
export class RequestQueue {
  readonly #maxDelayMs: number
  readonly #readCpuMs: () => number
  /** The latest reading of the CPU time, and its time. */
  #cpu = { ms: 0, readMs: Number.NEGATIVE_INFINITY }
  readonly #waiting = new FairQueue<Entry>()
  /** The callers with a standing queue, and since when it is empty; infinity if it is not. */
  readonly #standing = new Map<string, number>()
  /** Whether a turn of the queue is scheduled or running. */
  #isActive = false
  /** Whether arriving requests must wait for others, or for connections that may have arrived during a long turn. */
  #isBusy = false
  /** The begin of the current slice; while requests wait, the end of the last one. */
  #sliceMs = 0
  /** How long connections may be accepted before the next slice: as long as the last one took. */
  #acceptSliceMs = SLICE_MS
  /** The latest arrival, whether it was served at once, and how long such requests have taken in this turn. */
  #arrival = { sinceMs: 0, isServed: false }
  #servedMs = 0
  #acceptedMs = Number.NEGATIVE_INFINITY
  #running = { caller: '', sinceMs: 0, cpuMs: 0 }

  /** @param maxDelayMs the longest wait of any request, in CPU time of this thread */
  constructor(maxDelayMs: number, cpuMs = threadCpuMs) {
    this.#maxDelayMs = maxDelayMs
    this.#readCpuMs = cpuMs
  }

  /**
   * Whether a request that arrives now can be served at once. If not, {@link add} it.
   *
   * @param canWait whether it goes behind others when many like it arrive
   */
  hasTime(nowMs: number, canWait = false): boolean {
    if (!this.#isActive) this.#activate(nowMs)
    this.#arrive(nowMs)
    this.#isBusy ||= this.#servedMs >= SLICE_MS
    const isServed = !this.#isBusy && (!canWait || this.#servedMs < WAITING_SLICE_MS)
    this.#arrival = { sinceMs: nowMs, isServed }
    return isServed
  }

  /** Serves a request in a later turn, unless its connection closes first. */
  add(request: QueuedRequest): void {
    const { caller, arrivedMs } = request
    const ahead = this.#waiting.sizeOf(caller)
    this.#waiting.add(caller, { ...request, cpuMs: this.#cpuMs(arrivedMs), ahead })
  }

  /**
   * Resolves when a request of the caller that others have waited for may go on. It goes before those of the caller that have
   * not begun, so that a caller's long requests end one after another.
   */
  resume(caller: string): Promise<void> {
    const nowMs = performance.now()
    if (!this.#isActive) this.#activate(nowMs)
    return new Promise((serve) => {
      const entry = { caller, arrivedMs: nowMs, isGone: () => false, serve: () => serve() }
      this.#waiting.add(caller, { ...entry, cpuMs: this.#cpuMs(nowMs), ahead: 0 }, true)
    })
  }

  /** Notes that a connection was accepted. Others may wait behind it. */
  accepted(): void {
    this.#acceptedMs = performance.now()
  }

  /** Counts the time since the latest arrival, unless it waits: reading many requests may take longer than a slice. */
  #arrive(nowMs: number): void {
    if (this.#arrival.isServed) this.#servedMs += nowMs - this.#arrival.sinceMs
    this.#arrival.isServed = false
  }

  #activate(nowMs: number): void {
    this.#isActive = true
    this.#sliceMs = nowMs
    this.#servedMs = 0
    setImmediate(this.#turn)
  }

  // Bound, because requests must not inherit the async context of the one that scheduled the turn.
  readonly #turn = AsyncResource.bind(() => {
    const nowMs = performance.now()
    const sinceSliceMs = nowMs - this.#sliceMs
    this.#arrive(nowMs)
    this.#isBusy = this.#waiting.size > 0 || this.#servedMs >= SLICE_MS
    if (this.#waiting.size === 0) {
      this.#isActive = false
      if (this.#isBusy) this.#activate(nowMs)
    } else if (nowMs - this.#acceptedMs < ACCEPT_MS && sinceSliceMs < this.#acceptSliceMs) {
      setImmediate(this.#turn)
    } else {
      this.#sliceMs = nowMs
      this.#servedMs = 0
      this.#serveNext(nowMs)
    }
  })

  #serveNext(nowMs: number): void {
    const request = this.#waiting.take(undefined, 0)
    if (request === undefined) return
    const cpuMs = this.#cpuMs(nowMs)
    this.#running = { caller: request.caller, sinceMs: nowMs, cpuMs }
    // After all promises of the request, because a tick begins when none is left.
    queueMicrotask(() => process.nextTick(this.#served))
    const isLate = this.#isLate(request, nowMs, cpuMs)
    if (!request.isGone()) request.serve(isLate)
  }

  readonly #served = () => {
    const { caller, sinceMs, cpuMs } = this.#running
    const nowMs = performance.now()
    const tookMs = nowMs - sinceMs
    this.#waiting.charge(caller, tookMs < WAITING_SLICE_MS ? tookMs : Math.min(tookMs, this.#cpuMs(nowMs) - cpuMs))
    if (this.#waiting.size > 0 && nowMs - this.#sliceMs < WAITING_SLICE_MS) {
      this.#serveNext(nowMs)
      return
    }
    this.#acceptSliceMs = Math.min(nowMs - this.#sliceMs, SLICE_MS)
    this.#sliceMs = nowMs
    setImmediate(this.#turn)
  }

  /** The CPU time, to about 1 ms. */
  #cpuMs(nowMs: number): number {
    // A reading costs some microseconds.
    if (nowMs - this.#cpu.readMs >= 1) this.#cpu = { ms: this.#readCpuMs(), readMs: nowMs }
    return this.#cpu.ms
  }

  #isLate({ caller, cpuMs, ahead }: Entry, nowMs: number, nowCpuMs: number): boolean {
    const waitedMs = nowCpuMs - cpuMs
    const behind = this.#waiting.sizeOf(caller)
    const isBurst = ahead >= MIN_BURST && waitedMs > BURST_MS
    const isStanding = this.#stands(caller, isBurst, behind, nowMs) && behind >= MIN_STANDING
    return isBurst || (isStanding && waitedMs > STANDING_MS) || waitedMs > this.#maxDelayMs
  }

  /** Whether the caller has a standing queue, of which a request is taken. */
  #stands(caller: string, isBurst: boolean, behind: number, nowMs: number): boolean {
    if (isBurst && !this.#standing.has(caller)) this.#forget(nowMs)
    const emptyMs = isBurst ? Number.POSITIVE_INFINITY : this.#standing.get(caller)
    if (emptyMs === undefined || nowMs - emptyMs >= EMPTY_MS) return false
    if (behind >= MIN_STANDING) this.#standing.set(caller, Number.POSITIVE_INFINITY)
    else if (behind === 0) this.#standing.set(caller, Math.min(emptyMs, nowMs))
    return true
  }

  /** Forgets the queues that stand no longer. */
  #forget(nowMs: number): void {
    for (const [caller, emptyMs] of this.#standing) {
      if (nowMs - emptyMs >= EMPTY_MS) this.#standing.delete(caller)
    }
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
