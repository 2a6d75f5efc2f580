import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createRounds } from './rounds.ts'

const SAMPLE_MS = 500
const RESOLUTION_MS = 20
// With so few requests at once the machine is busy with something else, and to refuse them would help nobody.
const FEW_REQUESTS = 20

export interface LoadLimits {
  /** How many requests are under way, without the one that is asked for. */
  countOpen: () => number
  /** Whether the database has no time for another query. */
  isDatabaseCrowded: () => boolean
  /** Most requests at once. */
  mostOpen: number
  /** How late the event loop may be in the mean of half a second, in ms. */
  mostDelayMs: number
  /** Told every half second of those that were refused meanwhile, if any were. */
  onRefused: (count: number) => void
}

/** Tells which requests the service could answer only late, so that it answers the others in time. */
export interface LoadGuard {
  /** To be asked once for each request: whether it is to be refused. */
  refuses: () => boolean
  /** How many it has refused. */
  refused: () => number
  close: () => void
}

export function createLoadGuard(limits: LoadLimits): LoadGuard {
  const { countOpen, isDatabaseCrowded, mostOpen, mostDelayMs, onRefused } = limits
  const comesTooLate = createRounds()
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let isLate = false
  let refused = 0
  let told = 0
  const sample = setInterval(() => {
    // Without a sample, a mean of NaN, the loop stood still.
    isLate = !(delay.mean / 1e6 - RESOLUTION_MS <= mostDelayMs)
    delay.reset()
    if (refused > told) onRefused(refused - told)
    told = refused
  }, SAMPLE_MS).unref()

  return {
    refuses: () => {
      const open = countOpen()
      const isTooMuch = comesTooLate() || open >= mostOpen || (isLate && open >= FEW_REQUESTS) || isDatabaseCrowded()
      if (isTooMuch) refused++
      return isTooMuch
    },
    refused: () => refused,
    close: () => {
      clearInterval(sample)
      delay.disable()
    },
  }
}
