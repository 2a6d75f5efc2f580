/** A token bucket for retries per second, shared by all calls. Only retries that are sent count. */
export class Budget {
  readonly #perSecond: number
  readonly #capacity: number
  #tokens: number
  #atMs: number

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond
    // A retry takes a whole token.
    this.#capacity = perSecond > 0 ? Math.max(1, perSecond) : 0
    this.#tokens = this.#capacity
    this.#atMs = nowMs
  }

  /** How long to wait before the next retry, with `others` retries ahead of it; 0 for now. */
  waitMs(nowMs: number, others = 0): number {
    const earned = ((nowMs - this.#atMs) / 1000) * this.#perSecond
    this.#tokens = Math.min(this.#capacity, this.#tokens + Math.max(0, earned))
    this.#atMs = nowMs
    const missing = 1 + others - this.#tokens
    return missing <= 0 ? 0 : Math.ceil((missing / this.#perSecond) * 1000)
  }

  /** Counts a retry that is sent. */
  take(): void {
    this.#tokens--
  }
}
