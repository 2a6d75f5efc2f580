/** A token bucket for retries per second, shared by all calls. Only retries that are sent count. */
export class Budget {
  readonly #perSecond: number
  #tokens: number
  #atMs: number

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond
    this.#tokens = perSecond
    this.#atMs = nowMs
  }

  /** How long to wait before the next retry, with `others` retries ahead of it; 0 for now. */
  waitMs(nowMs: number, others = 0): number {
    const earned = ((nowMs - this.#atMs) / 1000) * this.#perSecond
    this.#tokens = Math.min(this.#perSecond, this.#tokens + Math.max(0, earned))
    this.#atMs = nowMs
    const missing = 1 + others - this.#tokens
    return missing <= 0 ? 0 : Math.ceil((missing / this.#perSecond) * 1000)
  }

  /** Counts a retry that is sent. */
  take(): void {
    this.#tokens--
  }
}
