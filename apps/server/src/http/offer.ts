import { Problem } from '@resource/openapi'
import type { IRouter, RequestHandler } from 'express'

const METHODS = 'GET, HEAD, OPTIONS'

/** Offers something to read at `path`: GET and HEAD by `handler`, OPTIONS, and a Problem 405 for every other method. */
export function offer(router: IRouter, path: string, handler: RequestHandler): void {
  router
    .route(path)
    .get(handler)
    .options((_req, res) => void res.set('Allow', METHODS).status(204).end())
    .all(({ method }) => {
      throw new Problem(405, `${method} is not possible here; ${METHODS} are`, { headers: { Allow: METHODS } })
    })
}
