import cluster from 'node:cluster'
import { API_VERSION } from '@resource/contract'
import { isPostgresUrl } from '@resource/database'
import { Router } from 'express'
import type { Access } from '../access/access.ts'
import { readRoute } from '../http/allowed-methods.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { exchangeMetrics } from '../metrics/metrics-of-workers.ts'
import { monitorOf } from '../metrics/metrics-page.ts'
import { p99Ms, together } from '../metrics/recent.ts'

/**
 * The state of the service at `/console/status`, for its pages: version, engine, start, and what all processes have served
 * lately. It needs any role, or a direct request from this machine, as the metrics do.
 */
export function consoleStatus(access: Access, metrics: Metrics, databaseUrl: string): Router {
  const own = async () => metrics.recent.served()
  const collect = cluster.worker === undefined ? async () => [await own()] : exchangeMetrics('status', own)
  const router = Router({ caseSensitive: true })
  readRoute(router, '/console/status', async (req, res) => {
    await monitorOf(access, req)
    const { requests, errors, calls } = together(await collect())
    res.set('Cache-Control', 'no-store').json({
      version: API_VERSION,
      database: isPostgresUrl(databaseUrl) ? 'PostgreSQL' : 'SQLite',
      started_at: new Date(Date.now() - 1000 * process.uptime()).toISOString(),
      requests,
      errors,
      p99_ms: p99Ms(calls),
    })
  })
  return router
}
