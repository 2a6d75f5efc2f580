import { setImmediate } from 'node:timers/promises'

// Longer work without a pause delays other requests noticeably.
const MAX_STRETCH_MS = 3

/**
 * Returns a function to call between the steps of work on many rows. When the work has run for some milliseconds, the returned
 * promise lets the event loop serve other requests first.
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
    await setImmediate()
    sinceMs = performance.now()
  }
}
