import { extname } from 'node:path'
import { API_SUBJECT, contract } from '@resource/contract'
import express, { type RequestHandler, type Router } from 'express'
import { readRoute } from '../http/allowed-methods.ts'
import { type Asset, loadAssets, ownFile } from './assets.ts'

// Redoc creates inline <style> elements: empty ones that it fills through insertRule, and one with fixed scrollbar styles.
// The policy applies even to empty ones, so Redoc's page allows exactly these two by SHA-256. If a new version of Redoc
// changes the scrollbar styles, the browser's console shows the new hash.
const redocStyles = [
  "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
  "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='",
]

interface Texts {
  title: string
  version: string
}

/**
 * The HTML pages: `GET /` (index), `GET /docs` (Swagger UI, sends requests) and `GET /redoc` (Redoc), with their files under
 * `/assets/`. Both documentation pages load `/openapi.json` from the same origin.
 *
 * Mount it at the root of the application. Other methods on these paths are an ApiError 405. Other paths go to the next
 * handler.
 *
 * @param options `title` and `version` of the service, for the index page and the page titles
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

// Created at the first request, because the files take several megabytes of memory.
function routes(options: Texts): Router {
  const router = express.Router({ caseSensitive: true })
  const assets = loadAssets()
  const texts: Record<string, string> = { ...options, subject: API_SUBJECT, collections: collectionLinks() }
  const fill = (html: string, header = '') =>
    html.replace(/\{([\w.-]+)\}/g, (_, name) => assets[name]?.url ?? (name === 'header' ? header : String(texts[name])))
  const html = (name: string, path: string) => {
    const header = fill(String(ownFile('header.html'))).replaceAll(`<a href="${path}"`, '$& aria-current="page"')
    return fill(String(ownFile(name)), header)
  }
  readRoute(router, '/', page(html('index.html', '/')))
  readRoute(router, '/docs', page(html('docs.html', '/docs')))
  readRoute(router, '/redoc', page(html('redoc.html', '/redoc'), redocStyles))
  for (const asset of Object.values(assets)) readRoute(router, asset.url, file(asset))
  return router
}

/** Links to the collections in the console. The page's script asks each for its number of records. */
function collectionLinks(): string {
  return Object.entries(contract)
    .flatMap(([noun, resource]) => {
      if (!('collection' in resource)) return []
      const path = resource.procedures.list.meta.openapi.path.replace(/\/$/, '')
      return `<li><a href="/console/${noun}"><span>${resource.tag} <code>${path}</code></span> <small data-path="${path}"></small></a></li>`
    })
    .join('')
}

/**
 * Serves a page with a strict Content-Security-Policy.
 *
 * @param styles hashes of allowed inline styles
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

/** Serves a file that browsers cache for a year. */
export function file(asset: Asset): RequestHandler {
  return async (request, response) => {
    // The URL contains a hash of the content, so the content never changes.
    response.set({ 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' })
    response.type(extname(asset.url)).vary('accept-encoding')
    if (!request.acceptsEncodings('gzip')) {
      response.send(asset.body)
      return
    }
    response.set('content-encoding', 'gzip').send(await asset.gzip())
  }
}
