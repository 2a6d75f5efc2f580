import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Database } from '@resource/database'
import type { Logger } from 'pino'
import type { Config } from '../process/config.ts'

const SAMPLE_MS = 500
const RESOLUTION_MS = 20
// With so few requests at once the machine is busy with something else, and to refuse them would help nobody.
const FEW_REQUESTS = 20

/**
 * Tells which requests the service could answer only late, so that it answers the others in time.
 *
 * @param countOpen how many requests are under way, without the one that is asked for
 * @param database asked whether it has time for another query
 * @param log gets every half second how many were refused meanwhile, if any were
 */
export function createLoadGuard(
  { MAX_REQUESTS, MAX_DELAY_MS }: Config,
  countOpen: () => number,
  database: Database,
  log: Logger,
) {
  const comesTooLate = createRounds()
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let isLate = false
  let refused = 0
  let told = 0
  const sample = setInterval(() => {
    // Without a sample, a mean of NaN, the loop stood still.
    isLate = !(delay.mean / 1e6 - RESOLUTION_MS <= MAX_DELAY_MS)
    delay.reset()
    if (refused > told) log.warn({ refused: refused - told }, 'requests were refused for overload')
    told = refused
  }, SAMPLE_MS).unref()

  return {
    /** To be asked once for each request: whether it is to be refused. */
    refuses: () => {
      const open = countOpen()
      const isTooMuch =
        comesTooLate() || open >= MAX_REQUESTS || (isLate && open >= FEW_REQUESTS) || database.isOverloaded?.() === true
      if (isTooMuch) refused++
      return isTooMuch
    },
    /** How many it has refused. */
    refused: () => refused,
    close: () => {
      clearInterval(sample)
      delay.disable()
    },
  }
}

// How long a burst may keep what comes next waiting, and how long it may last.
const BURST_MS = 250
// For so long no round may be long before the next burst is taken for a new one.
const CALM_MS = 500
// In a queue that stays: twice this, and the refusals in between, is what a request that is let in waits at the most.
const STANDING_MS = 30
// So many are answered whatever they cost: one request that takes long is no queue.
const FEW_IN_ROUND = 32

/**
 * Tells which requests come too late to be served in time. What has come when the event loop looks is handled in one round,
 * one request after the other, and whatever comes meanwhile waits for the next: so a round's length is what requests wait.
 * A burst may take its time; when it goes on for as long, rounds are kept short, for nobody is served by a queue that stays
 * (as CoDel has it), until none was long for half a second: refusals alone make a short one now and then.
 *
 * @returns to be asked once for each request as it comes: whether it is to be refused
 */
export function createRounds(): () => boolean {
  let requests = 0
  let begunMs = 0
  let crowdedSinceMs = 0
  let lastCrowdedMs = Number.NEGATIVE_INFINITY

  const end = () => {
    requests = 0
    const now = performance.now()
    if (now - begunMs < STANDING_MS) return
    if (!isCrowded()) crowdedSinceMs = begunMs
    lastCrowdedMs = now
  }
  const isCrowded = () => begunMs - lastCrowdedMs < CALM_MS

  return () => {
    const now = performance.now()
    if (requests++ === 0) {
      begunMs = now
      setImmediate(end)
    }
    if (requests <= FEW_IN_ROUND) return false
    const isStanding = isCrowded() && begunMs - crowdedSinceMs >= BURST_MS
    return now - begunMs > (isStanding ? STANDING_MS : BURST_MS)
  }
}
