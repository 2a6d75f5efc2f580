import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Requests per address and window; more than the bench sends. */
export const REQUESTS = 1e9
export const WINDOW_MS = 60_000
/** Mean event-loop delay above which requests are rejected; more than the bench causes. */
export const DELAY_MS = 10_000

/**
 * Measures the event-loop delay like @fastify/under-pressure. Other ecosystems have no maintained package for it:
 * toobusy-js and overload-protection have had no release for years.
 *
 * @returns a function that returns whether the mean delay of the last second was above the limit
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
