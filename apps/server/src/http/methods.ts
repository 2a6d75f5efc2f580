import { ApiError } from '@resource/openapi'
import type { IRouter, RequestHandler } from 'express'

/** Offers something to read at `path`: GET and HEAD by `handler`, OPTIONS, and a ApiError 405 for every other method. */
export function offer(router: IRouter, path: string, handler: RequestHandler): void {
  router.route(path).all(only('GET, HEAD, OPTIONS')).get(handler)
}

/** Lets `methods` through, answers OPTIONS itself, and refuses every other with a ApiError 405. */
export function only(methods: string): RequestHandler {
  const known = new Set(methods.split(', '))
  return ({ method }, res, next) => {
    if (!known.has(method)) {
      throw new ApiError(405, `${method} is not allowed here, only ${methods}`, { headers: { Allow: methods } })
    }
    if (method === 'OPTIONS') res.set('Allow', methods).status(204).end()
    else next()
  }
}

const KNOWN = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** A request's method for metrics and traces, which must not grow with what callers think of. */
export function methodName(method: string): string {
  return KNOWN.has(method) ? method : '_OTHER'
}
