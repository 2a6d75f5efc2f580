import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** One file of the pages, held in memory. */
export type Asset = {
  /** Absolute path on this origin that carries a hash of the content: `/assets/<hash>/<name>`. */
  url: string
  /** File name extension, from which the content type follows. */
  type: string
  body: Buffer
  /** The body compressed; done at the first call and kept. */
  gzip: () => Promise<Buffer>
}

export type Assets = ReturnType<typeof loadAssets>

const compress = promisify(gzip)
const { resolve } = createRequire(import.meta.url)

/** Reads every file the pages need, about 3 MB, from this folder and from the installed packages. */
export function loadAssets() {
  return {
    icon: own('icon.svg'),
    style: own('pages.css'),
    docsScript: own('docs.js'),
    redocScript: own('redoc.js'),
    swaggerStyle: asset('swagger-ui.css', readFileSync(resolve('swagger-ui-dist/swagger-ui.css'))),
    swaggerScript: asset('swagger-ui.js', readFileSync(resolve('swagger-ui-dist/swagger-ui-bundle.js'))),
    redocLibrary: asset('redoc.standalone.js', redocWithoutRemoteLogo()),
  }
}

function own(name: string) {
  return asset(name, readFileSync(new URL(`./assets/${name}`, import.meta.url)))
}

function asset(name: string, body: Buffer): Asset {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
  return assetAt(`/assets/${hash}/${name}`, body)
}

/** A file at `url`, which names its content: another content has another URL. */
export function assetAt(url: string, body: Buffer): Asset {
  let packed: Promise<Buffer> | undefined
  return {
    url,
    type: extname(url),
    body,
    gzip: () => {
      packed ??= compress(body)
      return packed
    },
  }
}

// Redoc draws its logo from its maker's host and has no option against that. With an address that holds no image it
// leaves the logo out, as it does when that host cannot be reached.
function redocWithoutRemoteLogo() {
  const source = readFileSync(resolve('redoc/bundles/redoc.standalone.js'), 'utf8')
  return Buffer.from(source.replaceAll('https://cdn.redoc.ly/redoc/logo-mini.svg', 'data:,'))
}
