import type { RequestListener, ServerResponse } from 'node:http'
import helmet from 'helmet'
import { collectDefaultMetrics, Histogram, register } from 'prom-client'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { REQUESTS, WINDOW_MS, watchEventLoop } from './limits.ts'
import { httpLog } from './log.ts'

const secure = helmet()
const limiter = new RateLimiterMemory({ points: REQUESTS, duration: WINDOW_MS / 1000 })
const isOverloaded = watchEventLoop()
const duration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Duration of requests',
  labelNames: ['method', 'path', 'status_code'],
})
collectDefaultMetrics()

export function equip(serve: RequestListener): RequestListener {
  return async (req, res) => {
    const { method = '', url = '' } = req
    const end = duration.startTimer()
    res.once('finish', () => end({ method, path: routeOf(url), status_code: res.statusCode }))
    httpLog(req, res)
    secure(req, res, () => {})
    if (isOverloaded()) return reject(res, 503)
    try {
      await limiter.consume(req.socket.remoteAddress ?? '')
    } catch {
      return reject(res, 429)
    }
    if (url !== '/metrics') return serve(req, res)
    res.setHeader('Content-Type', register.contentType).end(await register.metrics())
  }
}

function routeOf(url: string): string {
  return url.replace(/\?.*/s, '').replace(/\d+/g, '{id}')
}

function reject(res: ServerResponse, status: number): void {
  res.writeHead(status, { 'Retry-After': '1' }).end()
}
