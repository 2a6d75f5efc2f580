const TOLERANCE_MS = 60_000

export type SteadyClock = ReturnType<typeof createSteadyClock>

/**
 * A clock for the age of stored records, in milliseconds since 1970. It does not follow the system's clock when that is set
 * ahead, for example by mistake, until it has been ahead for `graceMs`; until then it advances with the monotonic clock.
 *
 * @param startMs an earlier time to start from, because the system's clock may have been set ahead since
 */
export function createSteadyClock(graceMs: number, startMs = Number.POSITIVE_INFINITY) {
  // The difference to the monotonic clock.
  let offsetMs = Math.min(Date.now(), startMs) - performance.now()
  let aheadSinceMs: number | undefined
  return (): number => {
    const nowMs = performance.now()
    const seenMs = Date.now() - nowMs
    if (seenMs > offsetMs + TOLERANCE_MS) {
      aheadSinceMs ??= nowMs
      if (nowMs - aheadSinceMs < graceMs) return nowMs + offsetMs
    }
    aheadSinceMs = undefined
    offsetMs = seenMs
    return nowMs + offsetMs
  }
}
