import { type Database, DiskFull, DurabilityLost, ReadOnly } from '@resource/database'
import { ApiError } from '@resource/openapi'
import { Router } from 'express'
import { readRoute } from './allowed-methods.ts'
import { unavailable } from './database-errors.ts'

export const HEALTH_PATHS = new Set(['/healthz', '/readyz', '/readyz/reads'])
/** Never refused for overload, and not traced. */
export const MONITORING_PATHS = new Set([...HEALTH_PATHS, '/metrics'])

const PING_CACHE_MS = 1_000
// Reads continue despite these faults.
const WRITES_ONLY = [ReadOnly, DiskFull, DurabilityLost]

/**
 * `/healthz`: the process responds. `/readyz`: the database serves reads and writes, and the service is not stopping.
 * `/readyz/reads`: the database serves reads at least. Both ping the database at most once per second, whatever their request
 * rate.
 */
export function health(database: Database, isStopping: () => boolean): Router {
  const ping = cached(() => database.ping(), PING_CACHE_MS)
  const router = Router({ caseSensitive: true })
  readRoute(router, '/healthz', (_req, res) => void res.json({ status: 'ok' }))
  for (const [path, admits] of [
    ['/readyz', () => false],
    ['/readyz/reads', (error: unknown) => WRITES_ONLY.some((kind) => error instanceof kind)],
  ] as const) {
    readRoute(router, path, async (_req, res) => {
      if (!isStopping()) {
        await ping().catch((error: unknown) => {
          if (admits(error)) return
          if (error instanceof ReadOnly) throw unready(`${error.message}; reads are served`, error)
          throw unavailable(error) ?? unready('The database does not answer', error)
        })
      }
      if (isStopping()) throw unready('The service is stopping')
      res.json({ status: 'ready' })
    })
  }
  return router
}

function unready(message: string, cause?: unknown): ApiError {
  return new ApiError(503, message, { headers: { 'Retry-After': '1' }, cause })
}

/** Caches the outcome of `work`, including errors, for `ms` after it settles. Concurrent calls share one run. */
function cached<Result>(work: () => Promise<Result>, ms: number): () => Promise<Result> {
  let outcome: Promise<Result> | undefined
  let untilMs = Number.POSITIVE_INFINITY
  const settle = () => {
    untilMs = performance.now() + ms
  }
  return () => {
    if (outcome === undefined || performance.now() >= untilMs) {
      untilMs = Number.POSITIVE_INFINITY
      outcome = work()
      outcome.then(settle, settle)
    }
    return outcome
  }
}
