import { ApiError } from '@resource/openapi'
import { type Caller, queueKey } from '../access/caller.ts'
import type { Context, Session } from '../store/context.ts'
import { type Entry, type Filter, filterOf } from './entry.ts'
import type { Tailer } from './tailer.ts'

const CHECK_MS = 500
/** A caller may have this share of the streams. */
const SHARE = 0.02

/** A stream, or a request that waits for a change. */
export interface Follower {
  filter: Filter
  /** Notes that there are new entries, or that some were lost. */
  wake(): void
  /** Notes that some time has passed. */
  tick(): void
  /** Ends it, with the error that made it end. */
  end(error?: ApiError): void
}

interface Seat {
  follower: Follower
  caller: Caller
  session: Session | undefined
  isGone: Context['isGone']
}

/** All that wait for changes: their number is limited, and each ends soon after the rights of its caller. */
export class Followers {
  readonly tailer: Tailer
  readonly #max: number
  readonly #onAccessChanged: () => void
  readonly #seats = new Set<Seat>()
  readonly #counts = new Map<string, number>()
  #leave: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #isChecking = false
  isClosed = false

  /** @param onAccessChanged called when any process has created or ended a key or a session */
  constructor(tailer: Tailer, max = Number.POSITIVE_INFINITY, onAccessChanged = () => {}) {
    this.tailer = tailer
    this.#max = max
    this.#onAccessChanged = onAccessChanged
  }

  get size(): number {
    return this.#seats.size
  }

  /**
   * Adds one that waits.
   *
   * @returns a function that removes it
   * @throws ApiError 429 or 503 if there are too many
   */
  enter(follower: Follower, { caller, address, session, isGone }: Context): () => void {
    const key = queueKey({ caller, ...(address && { address }) })
    const count = this.#counts.get(key) ?? 0
    if (session !== undefined) {
      if (this.isClosed) throw refusal(503, 'The service is stopping; try again')
      if (this.#seats.size >= this.#max) throw refusal(503, 'Too many streams are open; try again')
      const share = Math.ceil(this.#max * SHARE)
      if (count >= share) throw refusal(429, `A caller may have at most ${share} of the streams; close one first`)
    }
    const seat = { follower, caller, session: session?.(), isGone }
    this.#counts.set(key, count + 1)
    this.#seats.add(seat)
    this.#leave ??= this.tailer.follow((entries) => this.#onEntries(entries))
    this.#timer ??= setInterval(() => this.#tick(), CHECK_MS).unref()
    seat.session?.rest(true)
    return () => {
      if (!this.#seats.delete(seat)) return
      seat.session?.rest(false)
      const left = (this.#counts.get(key) ?? 0) - 1
      if (left > 0) this.#counts.set(key, left)
      else this.#counts.delete(key)
      if (this.#seats.size === 0) this.#stop()
    }
  }

  /** Ends all, and admits no more. */
  close(): void {
    this.isClosed = true
    for (const seat of this.#seats) this.#end(seat)
  }

  /** Ends one, also if it does not read what it gets. */
  #end(seat: Seat, fault?: ApiError): void {
    seat.follower.end(fault)
    setTimeout(() => {
      if (this.#seats.has(seat)) seat.session?.close()
    }, CHECK_MS).unref()
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#leave?.()
    this.#leave = undefined
  }

  #onEntries(entries: Entry[]): void {
    if (entries.some(({ isAccess }) => isAccess)) {
      this.#onAccessChanged()
      void this.#check()
    }
    for (const { follower } of this.#seats) follower.wake()
  }

  #tick(): void {
    void this.#check()
    for (const { follower, isGone } of this.#seats) {
      if (isGone?.()) follower.end()
      else follower.tick()
    }
  }

  /** Ends those whose callers have lost their rights. Callers with the same credentials are identified once. */
  async #check(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    const callers = new Map<string, Promise<Caller>>()
    const checks = [...this.#seats].map(async (seat) => {
      const { follower, caller, session } = seat
      if (session === undefined || Date.now() < (caller.validMs ?? 0)) return
      try {
        const identified = callers.get(session.credentials) ?? (async () => session.caller())()
        callers.set(session.credentials, identified)
        filterOf({ resources: [...follower.filter.resources] }, { caller: await identified })
      } catch (error) {
        // Any other error does not concern the rights.
        if (error instanceof ApiError && (error.status === 401 || error.status === 403)) this.#end(seat, error)
      }
    })
    await Promise.all(checks)
    this.#isChecking = false
  }
}

/** The refusal of a caller that may try again in a second. */
export function refusal(status: 429 | 503, message: string): ApiError {
  return new ApiError(status, message, {
    headers: { 'Retry-After': '1' },
    ...(status === 429 && { reason: 'streams' }),
  })
}
