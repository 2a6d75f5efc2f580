import { impersonal } from '@resource/contract'
import type { Request } from 'express'
import { answeredId } from './request-log.ts'

const IMPERSONAL = new RegExp(`^/(?:${impersonal.join('|')})(?:[/?]|$)`)

/**
 * Headers of every response. Responses that may contain personal data or a key (users, keys, the audit log, tRPC batches)
 * are `no-store`. A client that keeps an ETag itself still gets a 304.
 */
export function commonHeaders(req: Request): Record<string, string> {
  return {
    'X-Request-Id': answeredId(req),
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': IMPERSONAL.test(req.originalUrl ?? req.url) ? 'private, no-cache' : 'no-store',
    // The HTML pages override this policy.
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
  }
}
