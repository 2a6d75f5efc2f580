import { extname } from 'node:path'
import { API_SUBJECT } from '@resource/contract'
import express, { type RequestHandler, type Router } from 'express'
import { offer } from '../http/methods.ts'
import { type Asset, loadAssets, ownFile } from './assets.ts'

// Redoc makes inline <style> elements: empty ones that it fills through insertRule, and one with the fixed text of its
// scrollbar. Browsers weigh even the empty ones, so its page allows these two texts by their SHA-256 and no other. A new
// version of Redoc may bring another scrollbar; the browser's console then names the hash.
const redocStyles = [
  "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
  "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='",
]

interface Texts {
  title: string
  version: string
}

/**
 * The pages a person reads in a browser: `GET /` (index), `GET /docs` (Swagger UI, sends requests) and `GET /redoc`
 * (Redoc), with their files under `/assets/`. Both documentation pages read `/openapi.json` of the same origin.
 *
 * Mount it at the root of the application. Other methods on these paths are a ApiError 405; paths it does not know go on.
 *
 * @param options `title` and `version` of the service, as the index page and the window titles show them.
 */
export function pages(options: Texts): RequestHandler {
  let router: Router | undefined
  return (req, res, next) => {
    if (!OWN.test(req.path)) return next()
    router ??= routes(options)
    router(req, res, next)
  }
}

const OWN = /^\/(?:(?:docs|redoc)\/?|assets\/.*)?$/

// The files are some megabytes, which a service that nobody reads about need not hold.
function routes(options: Texts): Router {
  const router = express.Router({ caseSensitive: true })
  const assets = loadAssets()
  const texts: Record<string, string> = { ...options, subject: API_SUBJECT }
  const html = (name: string) =>
    String(ownFile(name)).replace(/\{([\w.-]+)\}/g, (_, name) => assets[name]?.url ?? String(texts[name]))
  offer(router, '/', page(html('index.html')))
  offer(router, '/docs', page(html('docs.html')))
  offer(router, '/redoc', page(html('redoc.html'), redocStyles))
  for (const asset of Object.values(assets)) offer(router, asset.url, file(asset))
  return router
}

/**
 * Answers with a page under the strict Content-Security-Policy.
 *
 * @param styles hashes of the inline styles it may have
 */
export function page(html: string, styles: string[] = []): RequestHandler {
  const policy = contentSecurityPolicy(styles)
  return (_request, response) => {
    response.set({
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    })
    response.type('html').send(html)
  }
}

function contentSecurityPolicy(styles: string[]) {
  return [
    "default-src 'none'",
    "script-src 'self'",
    ["style-src 'self'", ...styles].join(' '),
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Answers with a file that browsers keep for a year. */
export function file(asset: Asset): RequestHandler {
  return async (request, response) => {
    // The URL carries a hash of the content, so what is behind it never changes.
    response.set({ 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' })
    response.type(extname(asset.url)).vary('accept-encoding')
    if (!request.acceptsEncodings('gzip')) {
      response.send(asset.body)
      return
    }
    response.set('content-encoding', 'gzip').send(await asset.gzip())
  }
}
