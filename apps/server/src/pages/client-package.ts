import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { ApiError } from '@resource/openapi'
import type { RequestHandler } from 'express'
import { remembered } from '../process/once-loaded.ts'

const BUILT = new URL('../../../../packages/client/tarball/resource-client.tgz', import.meta.url)

/**
 * Serves the npm package of the typed client built with this service, for `npm install <address>/client.tgz`. `Repr-Digest`
 * (RFC 9530) has its SHA-512, the hash that package managers write to their lockfiles.
 *
 * Throws an ApiError 404 if the package has not been built.
 */
export function clientPackage(path: URL = BUILT): RequestHandler {
  const file = remembered(() => readFile(path))
  return async (_req, res) => {
    const body = await file().catch(() => {
      throw new ApiError(404, 'The client package has not been built; npm start builds it')
    })
    const hash = createHash('sha512').update(body).digest('base64')
    res.set({ 'cache-control': 'no-cache', etag: `"${hash}"`, 'repr-digest': `sha-512=:${hash}:` })
    res.type('application/gzip').send(body)
  }
}
