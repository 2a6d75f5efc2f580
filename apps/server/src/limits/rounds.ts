// How long a burst may keep what comes next waiting, and how long it may last.
const BURST_MS = 500
// In a queue that stays: twice this, and the refusals in between, is what a request that is let in waits at the most.
const STANDING_MS = 30
// So many are answered whatever they cost: one request that takes long is no queue.
const FEW_REQUESTS = 16

/**
 * Tells which requests come too late to be served in time. What has come when the event loop looks is handled in one round,
 * one request after the other, and whatever comes meanwhile waits for the next: so a round's length is what requests wait.
 * A burst may take its time; once the service has not caught up for as long, rounds are kept short, for nobody is served
 * by a queue that stays (as CoDel has it).
 *
 * @returns to be asked once for each request as it comes: whether it is to be refused
 */
export function createRounds(): () => boolean {
  let requests = 0
  let begunMs = 0
  let endedMs = 0
  let caughtUpMs = 0

  const end = () => {
    endedMs = performance.now()
    if (endedMs - begunMs < STANDING_MS) caughtUpMs = endedMs
    requests = 0
  }

  return () => {
    const now = performance.now()
    if (requests++ === 0) {
      // Nobody came for a while.
      if (now - endedMs > STANDING_MS) caughtUpMs = now
      begunMs = now
      setImmediate(end)
    }
    const isBurst = begunMs - caughtUpMs < BURST_MS
    return requests > FEW_REQUESTS && now - begunMs > (isBurst ? BURST_MS : STANDING_MS)
  }
}
