import { getConnInfo } from '@hono/node-server/conninfo'
import { prometheus } from '@hono/prometheus'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { pinoLogger } from 'hono-pino'
import { rateLimiter } from 'hono-rate-limiter'
import { REQUESTS, WINDOW_MS, watchEventLoop } from './limits.ts'
import { log } from './log.ts'

export function equip(app: OpenAPIHono): void {
  const { printMetrics, registerMetrics } = prometheus({ collectDefaultMetrics: true })
  const isOverloaded = watchEventLoop()
  app.use(
    requestId(),
    pinoLogger({
      pino: log,
      http: {
        onReqBindings: (c) => ({ req: { method: c.req.method, url: c.req.path, address: addressOf(c) } }),
        onResBindings: ({ res: { status } }) => ({ res: { status } }),
      },
    }),
    registerMetrics,
    secureHeaders(),
    (c, next) => (isOverloaded() ? Promise.resolve(c.body(null, 503, { 'Retry-After': '1' })) : next()),
    rateLimiter({ limit: REQUESTS, windowMs: WINDOW_MS, keyGenerator: addressOf }),
  )
  app.get('/metrics', printMetrics)
}

function addressOf(c: Parameters<typeof getConnInfo>[0]): string {
  return getConnInfo(c).remote.address ?? ''
}
