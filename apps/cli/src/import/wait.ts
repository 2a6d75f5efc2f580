import { setTimeout as pause } from 'node:timers/promises'
import { log } from '../output.ts'
import { duration } from '../progress.ts'

// Shorter outages are waited for in any case, and are not worth a message.
const QUIET_MS = 2000

/**
 * How an import waits for a service that cannot be reached or is overloaded.
 *
 * @param waitMs how long; at least 2 seconds
 * @param stop ends the wait
 */
export function waitFor(waitMs: number, stop: AbortSignal) {
  const maxMs = Math.max(QUIET_MS, waitMs)
  let since: number | undefined
  return {
    maxMs,
    stop,
    pause: (ms: number, signal: AbortSignal) => pause(ms, undefined, { signal }).catch(() => undefined),
    onPause(error: Error, elapsedMs: number, pauseMs: number): void {
      if (since !== undefined || elapsedMs + pauseMs <= QUIET_MS) return
      since = performance.now() - elapsedMs
      log(`Cannot reach the service: ${error.message}. Waiting for up to ${duration(maxMs - elapsedMs)}; Ctrl-C stops.`)
    },
    onAnswer(): void {
      if (since !== undefined) log(`The service answers again after ${duration(performance.now() - since)}.`)
      since = undefined
    },
  }
}
