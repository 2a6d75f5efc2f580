import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Problem } from '@resource/openapi'
import type { RequestHandler } from 'express'
import { createRounds } from './rounds.ts'

const SAMPLE_MS = 500
const RESOLUTION_MS = 20
// With so few requests at once the machine is busy with something else, and to refuse them would help nobody.
const FEW_REQUESTS = 20

export interface LoadLimits {
  /** How many requests are under way, with the one that is asked for. */
  countOpen: () => number
  /** Most requests at once. */
  mostOpen: number
  /** How late the event loop may be in the mean of half a second, in ms. */
  mostDelayMs: number
}

/** Refuses requests that the service could answer only late, with a 503, so that it answers the others in time. */
export interface LoadGuard {
  handle: RequestHandler
  /** How many it has refused. */
  refused: () => number
  close: () => void
}

// Made once: refusing must cost little when there is no time.
const OVERLOADED = new Problem(503, 'The service is overloaded; try again', { headers: { 'Retry-After': '1' } })

export function createLoadGuard({ countOpen, mostOpen, mostDelayMs }: LoadLimits): LoadGuard {
  const comesTooLate = createRounds()
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let isLate = false
  let refused = 0
  const sample = setInterval(() => {
    // Without a sample, a mean of NaN, the loop stood still.
    isLate = !(delay.mean / 1e6 - RESOLUTION_MS <= mostDelayMs)
    delay.reset()
  }, SAMPLE_MS).unref()

  return {
    handle: (_req, _res, next) => {
      const open = countOpen()
      if (comesTooLate() || open > mostOpen || (isLate && open > FEW_REQUESTS)) {
        refused++
        throw OVERLOADED
      }
      next()
    },
    refused: () => refused,
    close: () => {
      clearInterval(sample)
      delay.disable()
    },
  }
}
