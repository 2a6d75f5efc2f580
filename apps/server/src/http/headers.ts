import type { Request } from 'express'
import { requestId } from './request-log.ts'

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
