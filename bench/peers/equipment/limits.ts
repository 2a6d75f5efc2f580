import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Requests from one address in a window: more than the bench sends. */
export const REQUESTS = 1e9
export const WINDOW_MS = 60_000
/** Mean delay of the event loop above which requests are refused: more than the bench causes. */
export const DELAY_MS = 10_000

/**
 * Measures the event loop as @fastify/under-pressure does. Elsewhere no package for this is maintained: toobusy-js and
 * overload-protection have had no release for years.
 *
 * @returns whether the event loop was too late in the last second
 */
export function watchEventLoop(): () => boolean {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  let mean = 0
  setInterval(() => {
    mean = delay.mean / 1e6
    delay.reset()
  }, 1000).unref()
  return () => mean > DELAY_MS
}
