import type { Database } from '@resource/database'
import { ApiError } from '@resource/openapi'
import { Router } from 'express'
import { offer } from './methods.ts'

/** Paths of monitoring: never refused for load, and no part of what is measured. */
export const HEALTH = new Set(['/healthz', '/readyz'])
export const WATCHED = new Set([...HEALTH, '/metrics'])

const KEPT_MS = 1_000

/**
 * `/healthz`: the process answers. `/readyz`: it can serve, its database answers and it is not stopping. However
 * often `/readyz` is asked, it asks the database at most once a second.
 */
export function health(database: Database, isStopping: () => boolean): Router {
  const ping = kept(() => database.ping(), KEPT_MS)
  const router = Router({ caseSensitive: true })
  offer(router, '/healthz', (_req, res) => void res.json({ status: 'ok' }))
  offer(router, '/readyz', async (_req, res) => {
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

/** Does `work` once at a time, and again only `ms` after its outcome; until then all get that outcome, an error too. */
function kept<Result>(work: () => Promise<Result>, ms: number): () => Promise<Result> {
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
