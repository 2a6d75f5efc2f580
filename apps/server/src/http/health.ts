import type { Database } from '@resource/database'
import { Problem } from '@resource/openapi'
import { Router } from 'express'
import { offer } from './offer.ts'

/** `/healthz`: the process answers. `/readyz`: it can serve, its database answers and it is not stopping. */
export function health(database: Database, isStopping: () => boolean): Router {
  const router = Router({ caseSensitive: true })
  offer(router, '/healthz', (_req, res) => void res.json({ status: 'ok' }))
  offer(router, '/readyz', async (_req, res) => {
    const unready = (message: string, cause?: unknown) =>
      new Problem(503, message, { headers: { 'Retry-After': '1' }, cause })
    if (isStopping()) throw unready('The service is stopping')
    await database.ping().catch((error: unknown) => {
      throw unready('The database does not answer', error)
    })
    res.json({ status: 'ready' })
  })
  return router
}
