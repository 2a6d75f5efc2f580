import type { Database } from '@resource/database'
import { ApiError } from '@resource/openapi'
import { Router } from 'express'
import { readRoute } from './methods.ts'

export const HEALTH_PATHS = new Set(['/healthz', '/readyz'])
/** Never refused for overload, and not traced. */
export const MONITORING_PATHS = new Set([...HEALTH_PATHS, '/metrics'])

const PING_CACHE_MS = 1_000

/**
 * `/healthz`: the process responds. `/readyz`: the database also responds and the service is not stopping. `/readyz` pings
 * the database at most once per second, whatever its request rate.
 */
export function health(database: Database, isStopping: () => boolean): Router {
  const ping = cached(() => database.ping(), PING_CACHE_MS)
  const router = Router({ caseSensitive: true })
  readRoute(router, '/healthz', (_req, res) => void res.json({ status: 'ok' }))
  readRoute(router, '/readyz', async (_req, res) => {
    const unready = (message: string, cause?: unknown) =>
      new ApiError(503, message, { headers: { 'Retry-After': '1' }, cause })
    if (!isStopping()) {
      await ping().catch((error: unknown) => {
        throw unready('The database does not answer', error)
      })
    }
    if (isStopping()) throw unready('The service is stopping')
    res.json({ status: 'ready' })
  })
  return router
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
