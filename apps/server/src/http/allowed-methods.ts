import { ApiError } from '@resource/openapi'
import type { IRouter, RequestHandler } from 'express'

/** Adds a read-only route: `handler` serves GET and HEAD, OPTIONS gets `Allow`, any other method an ApiError 405. */
export function readRoute(router: IRouter, path: string, handler: RequestHandler): void {
  router.route(path).all(methodNotAllowed('GET, HEAD, OPTIONS')).get(handler)
}

/**
 * Refuses methods other than `allowed` with an ApiError 405, and responds to OPTIONS.
 *
 * @param allowed as in the header `Allow`: `GET, HEAD, OPTIONS`
 */
export function methodNotAllowed(allowed: string): RequestHandler {
  const methods = new Set(allowed.split(', '))
  return ({ method }, res, next) => {
    if (!methods.has(method)) {
      throw new ApiError(405, `${method} is not allowed here, only ${allowed}`, { headers: { Allow: allowed } })
    }
    if (method === 'OPTIONS') res.set('Allow', allowed).status(204).end()
    else next()
  }
}

const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The method as a metric label or span name; unknown methods share `_OTHER`, to bound the number of labels. */
export function methodName(method: string): string {
  return KNOWN_METHODS.has(method) ? method : '_OTHER'
}
