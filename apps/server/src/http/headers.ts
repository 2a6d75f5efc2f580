import type { Request, RequestHandler } from 'express'
import { requestId } from './request-log.ts'

/** The headers that every answer carries. */
export function commonHeaders(req: Request): Record<string, string> {
  return { 'X-Request-Id': requestId(req), 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' }
}

/** Sets them where an answer is not written in one go. */
export const setCommonHeaders: RequestHandler = (req, res, next) => {
  res.set(commonHeaders(req))
  next()
}
