import type { Request } from 'express'
import { requestId } from './request-log.ts'

/** The headers that every answer carries. */
export function commonHeaders(req: Request): Record<string, string> {
  return { 'X-Request-Id': requestId(req), 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' }
}
