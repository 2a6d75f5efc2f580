// How long a burst may keep what comes next waiting, and how long it may last.
const BURST_MS = 300
// In a queue that stays: twice this, and the refusals in between, is what a request that is let in waits at the most.
const STANDING_MS = 35
// So many are answered whatever they cost: one request that takes long is no queue.
const FEW_REQUESTS = 32

/**
 * Tells which requests come too late to be served in time. What has come when the event loop looks is handled in one round,
 * one request after the other, and whatever comes meanwhile waits for the next: so a round's length is what requests wait.
 * A burst may take its time. When every round of as long a time was long, they are kept short, for nobody is served by a
 * queue that stays (as CoDel has it), until none was long for as much: refusals alone make a short one now and then.
 *
 * @returns to be asked once for each request as it comes: whether it is to be refused
 */
export function createRounds(): () => boolean {
  let requests = 0
  let begunMs = 0
  let isStanding = false
  /** Since when there was no short round. */
  let longSinceMs: number | undefined
  let lastLongMs = Number.NEGATIVE_INFINITY

  const begin = (now: number) => {
    begunMs = now
    if (now - lastLongMs < BURST_MS) return
    isStanding = false
    longSinceMs = undefined
  }
  const end = () => {
    requests = 0
    const now = performance.now()
    if (now - begunMs >= STANDING_MS) {
      lastLongMs = now
      longSinceMs ??= begunMs
      if (now - longSinceMs >= BURST_MS) isStanding = true
    } else if (!isStanding) longSinceMs = undefined
  }

  return () => {
    const now = performance.now()
    if (requests++ === 0) {
      begin(now)
      setImmediate(end)
    }
    if (requests <= FEW_REQUESTS) return false
    return now - begunMs > (isStanding ? STANDING_MS : BURST_MS)
  }
}
