import { methodNotAllowed } from '@resource/openapi'
import type { IRouter, RequestHandler } from 'express'
import { METHODS } from '../connections/http-server.ts'

/** Adds a read-only route: `handler` serves GET and HEAD, OPTIONS gets `Allow`, any other method an ApiError 405. */
export function readRoute(router: IRouter, path: string, handler: RequestHandler): void {
  router.route(path).all(onlyMethods('GET, HEAD, OPTIONS')).get(handler)
}

/**
 * Refuses methods other than `allowed` with an ApiError 405, and responds to OPTIONS.
 *
 * @param allowed as in the header `Allow`: `GET, HEAD, OPTIONS`
 */
export function onlyMethods(allowed: string): RequestHandler {
  const methods = new Set(allowed.split(', '))
  return ({ method }, res, next) => {
    if (!methods.has(method)) throw methodNotAllowed(method, allowed)
    if (method === 'OPTIONS') res.set('Allow', allowed).status(204).end()
    else next()
  }
}

const KNOWN_METHODS = new Set(METHODS)

/** The method as a metric label or span name; unknown methods share `_OTHER`, to bound the number of labels. */
export function methodName(method: string): string {
  return KNOWN_METHODS.has(method) ? method : '_OTHER'
}
