import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { remembered } from '../process/once-loaded.ts'

/** A file of the pages, in memory. */
export type Asset = {
  /** Absolute path with a hash of the content: `/assets/<hash>/<name>`. */
  url: string
  body: Buffer
  /** The compressed body; computed at the first call and cached. */
  gzip: () => Promise<Buffer>
}

const compress = promisify(gzip)
const { resolve } = createRequire(import.meta.url)

const OWN = [
  'icon.svg',
  'theme.js',
  'frame.js',
  'operations.js',
  'operation.js',
  ...['index', 'docs', 'redoc'].map((page) => `${page}.js`),
]
const STYLES = ['pages', 'index', 'docs', 'operation', 'redoc'].map((page) => `${page}.css`)
/** Those of the console that these pages share, in its order. */
const SHARED = ['tokens', 'base', 'header', 'find', 'account', 'sidebar', 'menu', 'states', 'buttons', 'status', 'code']

/** Reads every file of the pages, about 3 MB, from this folder and from installed packages. Keys are file names. */
export function loadAssets(): Record<string, Asset> {
  const bodies = {
    ...Object.fromEntries([...OWN, ...STYLES].map((name) => [name, ownFile(name)])),
    'console.css': inLayer('console', SHARED.map(consoleStyle).join('')),
    'swagger-ui.css': inLayer('swagger', readFileSync(resolve('swagger-ui-dist/swagger-ui.css'), 'utf8')),
    'swagger-ui.js': readFileSync(resolve('swagger-ui-dist/swagger-ui-bundle.js')),
    'redoc.standalone.js': redocWithoutRemoteLogo(),
  }
  const assets = Object.entries(bodies).map(([name, body]) => {
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
    return [name, assetAt(`/assets/${hash}/${name}`, body)]
  })
  return Object.fromEntries(assets)
}

/** Reads a file of the folder `assets`. */
export function ownFile(name: string): Buffer {
  return readFileSync(new URL(`./assets/${name}`, import.meta.url))
}

/** A file at `url`, which must change with its content. */
export function assetAt(url: string, body: Buffer): Asset {
  return { url, body, gzip: remembered(() => compress(body)) }
}

function consoleStyle(name: string): string {
  return readFileSync(new URL(`../../../console/src/styles/${name}.css`, import.meta.url), 'utf8')
}

// Rules of a later layer, and those outside of any, take precedence, whatever their selectors.
function inLayer(name: string, css: string): Buffer {
  return Buffer.from(`@layer ${name}{${css}}`)
}

// Redoc loads its logo from its vendor's host, without an option to disable that. With an empty URL it omits the logo, as
// it does if the host is unreachable.
function redocWithoutRemoteLogo() {
  const source = readFileSync(resolve('redoc/bundles/redoc.standalone.js'), 'utf8')
  return Buffer.from(source.replaceAll('https://cdn.redoc.ly/redoc/logo-mini.svg', 'data:,'))
}
