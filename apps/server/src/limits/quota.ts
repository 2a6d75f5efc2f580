/** Whether the cost was granted, and the remaining quota in this window. */
export type Allowance = ReturnType<Quota['take']>

/** The usage of each caller in a window. */
export type Usage = Map<string, number>

// Bounds memory. Further addresses in the same window share one quota.
const MAX_CALLERS = 50_000
const OTHERS = 'others'

export const WINDOW_MS = 60_000

/** Counts the usage of callers. Windows start at each full minute in every process, so that processes can add up usage. */
export class Quota {
  /** The quota of each caller per window. */
  readonly limit: number
  #window = 0
  #local: Usage = new Map()
  #remote: Usage = new Map()

  constructor(limit: number) {
    this.limit = limit
  }

  /**
   * The caller under which an address is counted: the address itself, or a shared caller once there are too many addresses.
   * Keys and tokens always count separately, because strangers cannot create them.
   */
  addressCaller(address: string, now: number): string {
    this.#begin(windowOf(now))
    return this.#local.has(address) || this.#local.size < MAX_CALLERS ? address : OTHERS
  }

  /**
   * Counts `cost` if the caller's remaining quota covers it.
   *
   * @param now milliseconds since 1970
   * @returns `resetSeconds`: whole seconds until the next window
   */
  take(caller: string, cost: number, now: number) {
    this.#begin(windowOf(now))
    const own = this.#local.get(caller) ?? 0
    const left = this.limit - own - (this.#remote.get(caller) ?? 0)
    const granted = cost <= left
    if (granted) this.#local.set(caller, own + cost)
    const resetSeconds = Math.ceil((WINDOW_MS - (now % WINDOW_MS)) / 1000)
    return { granted, remaining: Math.max(0, granted ? left - cost : left), resetSeconds }
  }

  /** Counts `cost` even if it exceeds the remaining quota. A negative cost is a refund. */
  spend(caller: string, cost: number, now: number): void {
    this.#begin(windowOf(now))
    this.#local.set(caller, Math.max(0, (this.#local.get(caller) ?? 0) + cost))
  }

  /** The usage counted by this process in the current window. */
  localUsage(now: number): Usage {
    this.#begin(windowOf(now))
    return this.#local
  }

  /**
   * Sets the usage counted by other processes.
   *
   * @param time in the window that the usage belongs to; without effect if a later one has begun
   */
  setRemoteUsage(usage: Usage, time: number): void {
    if (windowOf(time) === this.#window) this.#remote = usage
  }

  #begin(window: number): void {
    if (window === this.#window) return
    this.#window = window
    this.#local = new Map()
    this.#remote = new Map()
  }
}

/** The number of the window that contains a time. */
export function windowOf(now: number): number {
  return Math.floor(now / WINDOW_MS)
}
