import { randomUUID } from 'node:crypto'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import underPressure from '@fastify/under-pressure'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import metrics from 'fastify-metrics'
import { DELAY_MS, REQUESTS, WINDOW_MS } from './limits.ts'
import { log } from './log.ts'

/** One log line per request, like the service. Fastify's default is two. */
export const options: FastifyServerOptions = {
  loggerInstance: log,
  disableRequestLogging: true,
  genReqId: () => randomUUID(),
}

export async function equip(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async ({ id }, reply) => {
    reply.header('X-Request-Id', id)
  })
  app.addHook('onResponse', async (req, res) => {
    req.log.info({ req, res, responseTime: res.elapsedTime }, 'request completed')
  })
  await app.register(metrics.default, { routeMetrics: { enabled: { histogram: true, summary: false } } })
  await app.register(underPressure, { maxEventLoopDelay: DELAY_MS })
  await app.register(helmet)
  await app.register(rateLimit, { max: REQUESTS, timeWindow: WINDOW_MS })
}
