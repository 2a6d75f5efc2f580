import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '@resource/openapi'
import cors from 'cors'
import type { Request, RequestHandler } from 'express'
import { requestId } from './request-log.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])
// A page of this origin, or the address bar.
const OWN_SITES = new Set<unknown>(['same-origin', 'none'])

/**
 * Refuses a write that a browser sends for a page of another origin, whatever its body: the console's cookie, or an
 * address that only this machine can reach, must not be used by pages its owner happens to visit.
 *
 * @param origins those whose pages may
 */
export function checkOrigin(origins: string[]): RequestHandler {
  return ({ method, headers }, _res, next) => {
    if (SAFE.has(method)) return next()
    const { origin, 'sec-fetch-site': site } = headers
    // Browsers send at least one of the two with a write; other programs send neither.
    const isAllowed =
      origin === undefined
        ? site === undefined || OWN_SITES.has(site)
        : isOwn(origin, headers) || origins.includes(origin)
    if (isAllowed) return next()
    throw new ApiError(403, `Pages of ${origin ?? 'other origins'} may not write here; CORS_ORIGINS says which may`, {
      reason: 'origin',
    })
  }
}

// The browser's own word holds behind a proxy that gives the service another Host, too.
function isOwn(origin: string, headers: IncomingHttpHeaders): boolean {
  if (headers['sec-fetch-site'] !== undefined) return headers['sec-fetch-site'] === 'same-origin'
  return URL.canParse(origin) && new URL(origin).host === headers.host?.toLowerCase()
}

/** Lets pages of other origins call the service (CORS), without the console's cookie. */
export function allowOrigins(origins: string[]): RequestHandler {
  return cors({
    origin: origins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'Allow',
      'ETag',
      'Link',
      'Location',
      'Retry-After',
      'WWW-Authenticate',
      'X-Request-Id',
      'X-Total-Count',
    ],
    maxAge: 600,
    // Who asks for OPTIONS is told the methods in Allow all the same.
    preflightContinue: true,
  })
}

// Records about nobody: browsers may keep them, and ask with If-None-Match whether they still hold.
const IMPERSONAL = /^\/(?:books|items)(?:[/?]|$)/

/**
 * The headers that every answer carries. Whatever may hold personal data or a key (users, keys, the audit log, tRPC's
 * batches of anything) is stored by no cache; a caller that kept its ETag itself still gets a 304.
 */
export function commonHeaders(req: Request): Record<string, string> {
  return {
    'X-Request-Id': requestId(req),
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': IMPERSONAL.test(req.originalUrl ?? req.url) ? 'private, no-cache' : 'no-store',
    // Pages have their own.
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
  }
}
