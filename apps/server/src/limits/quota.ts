/** What became of what a caller asked for, and what is left in this window of time. */
export type Allowance = ReturnType<Quota['take']>

/** Callers of a window and what each has used up. */
export type Usage = Map<string, number>

// So many callers are told apart; addresses that come later in the same window share one quota.
const MOST_CALLERS = 50_000
const OTHERS = 'others'

export const WINDOW_MS = 60_000

/**
 * Counts what callers use up. Windows begin with the minute, in every process alike, so that their counts can be added.
 */
export class Quota {
  /** What each caller may use up in a window. */
  readonly limit: number
  #window = 0
  #own: Usage = new Map()
  #elsewhere: Usage = new Map()

  constructor(limit: number) {
    this.limit = limit
  }

  /**
   * The caller that an address is counted as: itself, or beyond the most that are told apart one that all others share.
   * Keys and tokens are always told apart: strangers cannot make them.
   */
  addressCaller(address: string, now: number): string {
    this.#begin(windowOf(now))
    return this.#own.has(address) || this.#own.size < MOST_CALLERS ? address : OTHERS
  }

  /**
   * Counts `cost` if the caller has that much left.
   *
   * @param now milliseconds since 1970
   * @returns `resetSeconds` is the time until the next window, in whole seconds
   */
  take(caller: string, cost: number, now: number) {
    this.#begin(windowOf(now))
    const own = this.#own.get(caller) ?? 0
    const left = this.limit - own - (this.#elsewhere.get(caller) ?? 0)
    const granted = cost <= left
    if (granted) this.#own.set(caller, own + cost)
    const resetSeconds = Math.ceil((WINDOW_MS - (now % WINDOW_MS)) / 1000)
    return { granted, remaining: Math.max(0, granted ? left - cost : left), resetSeconds }
  }

  /** Counts what was used up already, be it more than the caller had left; below zero, takes back what was counted. */
  spend(caller: string, cost: number, now: number): void {
    this.#begin(windowOf(now))
    this.#own.set(caller, Math.max(0, (this.#own.get(caller) ?? 0) + cost))
  }

  /** What was counted here in the present window. */
  own(now: number): Usage {
    this.#begin(windowOf(now))
    return this.#own
  }

  /** Takes over what other processes counted in the present window. */
  setElsewhere(usage: Usage, now: number): void {
    this.#begin(windowOf(now))
    this.#elsewhere = usage
  }

  #begin(window: number): void {
    if (window === this.#window) return
    this.#window = window
    this.#own = new Map()
    this.#elsewhere = new Map()
  }
}

/** The number of the window that holds a time. */
export function windowOf(now: number): number {
  return Math.floor(now / WINDOW_MS)
}
