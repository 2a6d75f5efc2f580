import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express, { type Router } from 'express'
import { offer } from '../http/methods.ts'
import { assetAt } from '../pages/assets.ts'
import { file, page } from '../pages/pages.ts'

const BUILT = fileURLToPath(new URL('../../../console/dist/', import.meta.url))

/**
 * The web console at `/console`, as `vite build` left it. Every path under it that is no file is its page, which finds
 * its view by the path. Without a built console the requests go on, and end as those for any unknown path.
 *
 * @param folder where `index.html` and `assets/` are
 */
export function consolePages(folder: string = BUILT): Router {
  const router = express.Router({ caseSensitive: true })
  const index = join(folder, 'index.html')
  if (!existsSync(index)) return router
  for (const name of readdirSync(join(folder, 'assets'))) {
    const asset = assetAt(`/console/assets/${name}`, readFileSync(join(folder, 'assets', name)))
    offer(router, asset.url, file(asset))
  }
  // A file of another build is missing; the page in its place would be taken for a broken script.
  router.use('/console/assets', (_req, _res, next) => next('router'))
  offer(router, '/console{/*view}', page(readFileSync(index, 'utf8')))
  return router
}
