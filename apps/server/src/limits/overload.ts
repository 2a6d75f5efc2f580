import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Database } from '@resource/database'
import type { Logger } from 'pino'
import type { Config } from '../process/config.ts'

const SAMPLE_MS = 500
const RESOLUTION_MS = 20
// With fewer open requests, other programs cause the delay, and refusing requests would not help.
const MIN_REQUESTS = 64

/**
 * Sheds load: decides which requests to refuse, so that the service can answer the others in time.
 *
 * @param countOpen the number of requests in progress, without the current one
 * @param database its queue counts as load
 * @param log gets the number of refused requests twice per second, if there were any
 */
export function createLoadGuard(
  { MAX_REQUESTS, MAX_DELAY_MS }: Config,
  countOpen: () => number,
  database: Database,
  log: Logger,
) {
  const exceedsDelay = createDelayGuard()
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let isLate = false
  let refused = 0
  let reported = 0
  const sample = setInterval(() => {
    // Without a sample the mean is NaN: the event loop was blocked.
    isLate = !(delay.mean / 1e6 - RESOLUTION_MS <= MAX_DELAY_MS)
    delay.reset()
    if (refused > reported) log.warn({ refused: refused - reported }, 'requests refused for overload')
    reported = refused
  }, SAMPLE_MS).unref()

  return {
    /** Whether to refuse a request. Call it once per request. */
    refuses: () => {
      const open = countOpen()
      const isOverloaded =
        exceedsDelay() || open >= MAX_REQUESTS || (isLate && open >= MIN_REQUESTS) || database.isOverloaded?.() === true
      if (isOverloaded) refused++
      return isOverloaded
    },
    /** The number of refused requests. */
    refused: () => refused,
    close: () => {
      clearInterval(sample)
      delay.disable()
    },
  }
}

// The maximum duration of an event-loop iteration during a burst, and of the burst itself.
const BURST_MS = 250
// After this time without a long iteration, the next long one starts a new burst.
const CALM_MS = 500
// The maximum duration of an iteration with a standing queue. An admitted request waits at most twice this, plus the time
// for refusals in between.
const STANDING_MS = 30
// So many requests at once are a burst that is served however long it takes; under overload fewer are served per iteration.
const MIN_BURST = 64
const MIN_PER_ITERATION = 32

/**
 * Bounds the queueing delay of requests. The event loop handles all requests that have arrived in one iteration, and later
 * ones wait for the next: the duration of an iteration is the queueing delay. A burst may make iterations long for a short
 * time. After that the queue is a standing one, which only adds delay (as in CoDel), and iterations are kept short. This
 * ends after half a second without a long iteration, because refusals alone make some iterations short.
 *
 * @returns whether to refuse a request; call it once per request, on arrival
 */
export function createDelayGuard(): () => boolean {
  let requests = 0
  let startedMs = 0
  let congestedSinceMs = 0
  let lastCongestedMs = Number.NEGATIVE_INFINITY

  const end = () => {
    const isBurst = requests <= MIN_BURST
    requests = 0
    const now = performance.now()
    if (isBurst || now - startedMs < STANDING_MS) return
    if (!isCongested()) congestedSinceMs = startedMs
    lastCongestedMs = now
  }
  const isCongested = () => startedMs - lastCongestedMs < CALM_MS

  return () => {
    const now = performance.now()
    if (requests++ === 0) {
      startedMs = now
      setImmediate(end)
    }
    const isStanding = isCongested() && startedMs - congestedSinceMs >= BURST_MS
    if (requests <= (isStanding ? MIN_PER_ITERATION : MIN_BURST)) return false
    return now - startedMs > (isStanding ? STANDING_MS : BURST_MS)
  }
}
