/** Whether the cost was granted, and the remaining quota in this window. */
export type Allowance = ReturnType<Quota['take']>

/** The usage of each caller in a window. */
export type Usage = Map<string, number>

// Bounds memory. Further addresses in the same window share one quota.
const MAX_CALLERS = 50_000
const OTHERS = 'others'

export const WINDOW_MS = 60_000

/**
 * Counts the usage of callers. Windows start at each full minute in every process, so that processes can add up usage. The end
 * of a window is set at its start by the monotonic clock: a clock that is set forward or back neither ends nor prolongs it.
 * Every method takes the time `now` by `performance.now()`.
 */
export class Quota {
  /** The quota of each caller per window. */
  readonly limit: number
  readonly #wallClock: () => number
  #window = 0
  #endMs = 0
  #local: Usage = new Map()
  #remote: Usage = new Map()

  constructor(limit: number, wallClock = Date.now) {
    this.limit = limit
    this.#wallClock = wallClock
  }

  /**
   * The caller under which an address is counted: the address itself, or a shared caller once there are too many addresses.
   * Keys and tokens always count separately, because strangers cannot create them.
   */
  addressCaller(address: string, now: number): string {
    this.#begin(now)
    return this.#local.has(address) || this.#local.size < MAX_CALLERS ? address : OTHERS
  }

  /**
   * Counts `cost` if the caller's remaining quota covers it.
   *
   * @returns `resetSeconds`: whole seconds until the next window
   */
  take(caller: string, cost: number, now: number) {
    this.#begin(now)
    const own = this.#local.get(caller) ?? 0
    const left = this.limit - own - (this.#remote.get(caller) ?? 0)
    const granted = cost <= left
    if (granted) this.#local.set(caller, own + cost)
    const resetSeconds = Math.ceil((this.#endMs - now) / 1000)
    return { granted, remaining: Math.max(0, granted ? left - cost : left), resetSeconds }
  }

  /** Counts `cost` even if it exceeds the remaining quota. A negative cost is a refund. */
  spend(caller: string, cost: number, now: number): void {
    this.#begin(now)
    this.#local.set(caller, Math.max(0, (this.#local.get(caller) ?? 0) + cost))
  }

  /** The usage counted by this process in the current window. */
  localUsage(now: number): Usage {
    this.#begin(now)
    return this.#local
  }

  /** The number of the current window: minutes since 1970. */
  window(now: number): number {
    this.#begin(now)
    return this.#window
  }

  /** Sets the usage counted by other processes in a window; without effect if another one has begun. */
  setRemoteUsage(usage: Usage, window: number): void {
    if (window === this.#window) this.#remote = usage
  }

  #begin(now: number): void {
    if (now < this.#endMs) return
    const wallMs = this.#wallClock()
    this.#window = Math.floor(wallMs / WINDOW_MS)
    this.#endMs = now + WINDOW_MS - (wallMs % WINDOW_MS)
    this.#local = new Map()
    this.#remote = new Map()
  }
}
