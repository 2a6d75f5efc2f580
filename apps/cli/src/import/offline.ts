import { setTimeout as pause } from 'node:timers/promises'
import { ServiceError } from '@resource/client'
import { isUnreachable } from '../failures.ts'
import { log } from '../output.ts'
import { duration } from '../progress.ts'

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 10_000
// Shorter outages are waited for in any case, and are not worth a message.
const QUIET_MS = 2000

/**
 * Makes a call until the service answers. A service that cannot be reached or is overloaded is waited for; an answer
 * that refuses the call is thrown at once.
 *
 * @param waitMs how long to wait for the service; at least 2 seconds
 * @param stop ends the wait
 * @throws the error of the last call
 */
export async function patiently<T>(attempt: () => Promise<T>, waitMs: number, stop: AbortSignal): Promise<T> {
  const started = performance.now()
  for (let pauseMs = FIRST_PAUSE_MS, isWaiting = false; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    try {
      const result = await attempt()
      if (isWaiting) log(`The service answers again after ${duration(performance.now() - started)}.`)
      return result
    } catch (error) {
      const elapsedMs = performance.now() - started
      const leftMs = Math.max(QUIET_MS, waitMs) - elapsedMs
      if (!isUnreachable(error) || leftMs <= 0 || stop.aborted) throw error
      const requestedMs = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0
      const nextMs = Math.min(leftMs, Math.max(pauseMs, requestedMs))
      if (!isWaiting && elapsedMs + nextMs > QUIET_MS) {
        log(
          `Cannot reach the service: ${(error as Error).message}. Waiting for up to ${duration(leftMs)}; Ctrl-C stops.`,
        )
        isWaiting = true
      }
      try {
        await pause(nextMs, undefined, { signal: stop })
      } catch {
        throw error
      }
    }
  }
}
