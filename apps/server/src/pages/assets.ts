import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** One file of the pages, held in memory. */
export type Asset = {
  /** Absolute path on this origin that carries a hash of the content: `/assets/<hash>/<name>`. */
  url: string
  body: Buffer
  /** The body compressed; done at the first call and kept. */
  gzip: () => Promise<Buffer>
}

const compress = promisify(gzip)
const { resolve } = createRequire(import.meta.url)

/** Reads every file the pages need, about 3 MB, from this folder and from the installed packages; by their names. */
export function loadAssets(): Record<string, Asset> {
  const bodies = {
    'icon.svg': ownFile('icon.svg'),
    'pages.css': ownFile('pages.css'),
    'docs.js': ownFile('docs.js'),
    'redoc.js': ownFile('redoc.js'),
    'swagger-ui.css': readFileSync(resolve('swagger-ui-dist/swagger-ui.css')),
    'swagger-ui.js': readFileSync(resolve('swagger-ui-dist/swagger-ui-bundle.js')),
    'redoc.standalone.js': redocWithoutRemoteLogo(),
  }
  const assets = Object.entries(bodies).map(([name, body]) => {
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
    return [name, assetAt(`/assets/${hash}/${name}`, body)]
  })
  return Object.fromEntries(assets)
}

/** A file of the folder `assets`. */
export function ownFile(name: string): Buffer {
  return readFileSync(new URL(`./assets/${name}`, import.meta.url))
}

/** A file at `url`, which names its content: another content has another URL. */
export function assetAt(url: string, body: Buffer): Asset {
  let packed: Promise<Buffer> | undefined
  return {
    url,
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
