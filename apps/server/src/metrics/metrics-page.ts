import cluster from 'node:cluster'
import { type Request, Router } from 'express'
import type { Access } from '../access/access.ts'
import { ANONYMOUS, type Caller, unauthorized } from '../access/caller.ts'
import { readRoute } from '../http/allowed-methods.ts'
import { recordCaller } from '../http/request-log.ts'
import type { RateLimit } from '../limits/rate-limit.ts'
import { remembered } from '../process/once-loaded.ts'
import type { Metrics } from './metrics.ts'
import { exchangeMetrics } from './metrics-of-workers.ts'
import type { Sources } from './prometheus.ts'

export interface MetricsPageOptions extends Sources {
  metrics: Metrics
  access: Access
  rate: RateLimit | undefined
}

/** `/metrics` for Prometheus, summed over all processes. It needs any role, or a direct request from this machine. */
export function metricsPage({ metrics, access, rate, ...sources }: MetricsPageOptions): Router {
  // Loaded at the first request, because prom-client costs time and memory and many services never serve metrics.
  const open = remembered(async () => {
    const { createRegistry, sum } = await import('./prometheus.ts')
    return { registry: createRegistry(metrics, sources), sum }
  })
  const collectAll =
    cluster.worker && exchangeMetrics('metrics', async () => (await open()).registry.getMetricsAsJSON())

  const router = Router({ caseSensitive: true })
  readRoute(router, '/metrics', async (req, res) => {
    const caller = await monitorOf(access, req)
    rate?.countCalls(req, ['metrics'], caller)
    const { registry, sum } = await open()
    const text = collectAll === undefined ? await registry.metrics() : await sum(await collectAll())
    res.set({ 'Content-Type': registry.contentType, 'Cache-Control': 'no-store' }).send(text)
  })
  return router
}

/** The caller of a page for monitoring. @throws ApiError 401 */
export async function monitorOf(access: Access, req: Request): Promise<Caller> {
  const caller = await access.monitorOf(req)
  // ALLOW_ANONYMOUS does not cover metrics: they would help strangers to overload the service.
  if (caller === ANONYMOUS && !(await access.isPrivate(req)))
    throw unauthorized('Metrics need an API key', 'no_credentials')
  recordCaller(req, caller)
  return caller
}
