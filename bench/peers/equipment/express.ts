import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Express } from 'express'
import promBundle from 'express-prom-bundle'
import { rateLimit } from 'express-rate-limit'
import helmet from 'helmet'
import { REQUESTS, WINDOW_MS, watchEventLoop } from './limits.ts'
import { httpLog } from './log.ts'

const isOverloaded = watchEventLoop()

/** Shared with the Nest peer. */
export const middleware = [
  promBundle({ includeMethod: true, includePath: true, promClient: { collectDefaultMetrics: {} } }),
  shedLoad,
  helmet(),
]

export function equip(app: Express): void {
  app.use(httpLog, middleware, rateLimit({ limit: REQUESTS, windowMs: WINDOW_MS }))
}

function shedLoad(_req: IncomingMessage, res: ServerResponse, next: () => void): void {
  if (isOverloaded()) res.writeHead(503, { 'Retry-After': '1' }).end()
  else next()
}
