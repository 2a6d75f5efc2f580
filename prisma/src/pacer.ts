import { setImmediate } from 'node:timers/promises'

// Longer work without a pause delays other requests noticeably.
const MAX_STRETCH_MS = 3

/** Resolves when the work that paused last may continue. */
let lastTurn: Promise<void> = Promise.resolve()

/**
 * Returns a function to call between the steps of work on many rows. When the work has run for some milliseconds, the returned
 * promise lets the event loop serve other requests first. Of all work that has paused, a turn of the event loop continues one.
 */
export function createPacer(): () => Promise<void> | undefined {
  let sinceMs: number | undefined
  let isFirst = true
  return () => {
    if (isFirst) {
      // Work of a single step does not read the clock.
      isFirst = false
      return undefined
    }
    sinceMs ??= performance.now()
    return performance.now() - sinceMs < MAX_STRETCH_MS ? undefined : pause()
  }

  async function pause() {
    lastTurn = lastTurn.then(() => setImmediate())
    await lastTurn
    sinceMs = performance.now()
  }
}
