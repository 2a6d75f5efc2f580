import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express, { type Router } from 'express'
import { readRoute } from '../http/allowed-methods.ts'
import { assetAt } from '../pages/assets.ts'
import { file, page } from '../pages/documentation-pages.ts'

const BUILT = fileURLToPath(new URL('../../../console/dist/', import.meta.url))

/**
 * Serves the web console, built by `vite build`, at `/console`. Every path under it that is not a file returns the page,
 * which selects a view by the path. Without a build, requests go to the next handler and end as 404.
 *
 * @param folder the folder with `index.html` and `assets/`
 */
export function consolePages(folder: string = BUILT): Router {
  const router = express.Router({ caseSensitive: true })
  const index = join(folder, 'index.html')
  if (!existsSync(index)) return router
  for (const name of readdirSync(join(folder, 'assets'))) {
    const asset = assetAt(`/console/assets/${name}`, readFileSync(join(folder, 'assets', name)))
    readRoute(router, asset.url, file(asset))
  }
  // A file of a different build is missing: browsers would take the page in its place for a broken script.
  router.use('/console/assets', (_req, _res, next) => next('router'))
  readRoute(router, '/console{/*view}', page(readFileSync(index, 'utf8')))
  return router
}
