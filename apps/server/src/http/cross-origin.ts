import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '@resource/openapi'
import cors from 'cors'
import type { Request } from 'express'
import type { Logger } from 'pino'
import type { Check } from './checks.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])
// `none` is a navigation by the user, such as from the address bar.
const OWN_SITES = new Set<unknown>(['same-origin', 'none'])
const MAX_LOGGED = 20

/**
 * Refuses cross-origin writes from browsers, whatever their body, and the preflight requests for them. Otherwise any page the
 * user visits could use the console's cookie or reach a service that listens on loopback.
 *
 * @param origins origins whose pages may call the service
 * @param log a refused origin gets one line per minute, also if it only reads: browsers hide the response from the page
 */
export function checkOrigin(origins: string[], log: Logger): Check {
  const logRefusal = originLog(log)
  return ({ method, headers }) => {
    const { origin, 'sec-fetch-site': site } = headers
    // Browsers send at least one of the two with a write; other programs send neither.
    const isAllowed =
      origin === undefined
        ? site === undefined || OWN_SITES.has(site)
        : isOwn(origin, headers) || origins.includes(origin)
    if (isAllowed) return
    if (origin !== undefined) logRefusal(origin)
    if (SAFE.has(method) && !isPreflight(method, headers)) return
    throw new ApiError(
      403,
      `Pages of ${origin ?? 'other origins'} may not call this service; CORS_ORIGINS lists the origins that may`,
      { reason: 'origin' },
    )
  }
}

function isPreflight(method: string, headers: IncomingHttpHeaders): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

/** Whether a request is a browser's preflight for a page of one of these origins. */
export function isAllowedPreflight(origins: string[], { method, headers }: Request): boolean {
  return isPreflight(method, headers) && headers.origin !== undefined && origins.includes(headers.origin)
}

/** Logs an origin at most once per minute, and at most `MAX_LOGGED` origins per minute, because any program can send any origin. */
function originLog(log: Logger): (origin: string) => void {
  const logged = new Set<string>()
  let begin = Number.NEGATIVE_INFINITY
  return (origin) => {
    const now = performance.now()
    if (now - begin >= 60_000) {
      logged.clear()
      begin = now
    }
    if (logged.has(origin) || logged.size === MAX_LOGGED) return
    logged.add(origin)
    log.warn({ origin }, 'origin refused: to admit its pages, add it to CORS_ORIGINS')
  }
}

// `Sec-Fetch-Site` is also correct behind a proxy that rewrites Host.
function isOwn(origin: string, headers: IncomingHttpHeaders): boolean {
  if (headers['sec-fetch-site'] !== undefined) return headers['sec-fetch-site'] === 'same-origin'
  return URL.canParse(origin) && new URL(origin).host === headers.host?.toLowerCase()
}

/** Allows pages of other origins to call the service (CORS), without the console's cookie. */
export function allowOrigins(origins: string[]): Check {
  const allow = cors({
    origin: origins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'Age',
      'Allow',
      'ETag',
      'Idempotent-Replayed',
      'Link',
      'Location',
      'RateLimit',
      'RateLimit-Policy',
      'Retry-After',
      'WWW-Authenticate',
      'X-Changes-Cursor',
      'X-Request-Id',
      'X-Searched-Count',
      'X-Total-Count',
    ],
    maxAge: 600,
    // OPTIONS requests still get their `Allow` header.
    preflightContinue: true,
  })
  return (req, res) => allow(req, res, () => undefined)
}
