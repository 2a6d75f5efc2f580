import cluster from 'node:cluster'
import { Router } from 'express'
import type { Access } from '../access/access.ts'
import { ANONYMOUS, unauthorized } from '../access/caller.ts'
import { offer } from '../http/methods.ts'
import { noteCaller } from '../http/request-log.ts'
import type { RateLimit } from '../limits/rate.ts'
import type { Sources } from './exposition.ts'
import type { Metrics } from './metrics.ts'
import { exchangeMetrics } from './processes.ts'

export interface MetricsPageOptions extends Sources {
  metrics: Metrics
  access: Access
  rate: RateLimit | undefined
}

/** `/metrics`, for Prometheus: of all processes together. For every role, and for nobody else beyond this machine. */
export function metricsPage({ metrics, access, rate, ...sources }: MetricsPageOptions): Router {
  // Loaded by the first who asks: it takes time and memory that few services are asked for.
  let loaded: ReturnType<typeof load> | undefined
  const load = async () => {
    const { createRegistry, sum } = await import('./exposition.ts')
    return { registry: createRegistry(metrics, sources), sum }
  }
  const open = () => {
    loaded ??= load()
    return loaded
  }
  const askAll = cluster.worker && exchangeMetrics(async () => (await open()).registry.getMetricsAsJSON())

  const router = Router({ caseSensitive: true })
  offer(router, '/metrics', async (req, res) => {
    const caller = await access.callerOf(req)
    // ALLOW_ANONYMOUS opens the records, not what tells strangers how to overload the service.
    if (caller === ANONYMOUS && !(await access.isPrivate(req)))
      throw unauthorized('Metrics need an API key', 'no_credentials')
    noteCaller(req, caller)
    rate?.countCalls(req, ['metrics'], caller)
    const { registry, sum } = await open()
    const text = askAll === undefined ? await registry.metrics() : await sum(await askAll())
    res.set({ 'Content-Type': registry.contentType, 'Cache-Control': 'no-store' }).send(text)
  })
  return router
}
