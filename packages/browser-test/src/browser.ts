import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { chromium, type LaunchOptions } from 'playwright-core'

const isBundled = process.platform === 'linux' && process.arch === 'x64'

/**
 * Starts a headless Chromium; `await using` closes it.
 *
 * On 64-bit Intel Linux it uses `@sparticuz/chromium`, which includes the libraries it needs: no system package
 * and no download. Elsewhere it uses the installed Chrome or Edge.
 *
 * @throws Error with Playwright's reason if no browser starts
 */
export async function openBrowser() {
  return isBundled ? chromium.launch(await bundledBrowser()) : installedBrowser()
}

/**
 * Starts a headless Chromium whose profile is in a folder: what its pages store outlives it.
 *
 * @throws Error with Playwright's reason if no browser starts
 */
export async function openProfile(folder: string) {
  const options = isBundled ? await bundledBrowser() : { channel: 'chrome' }
  return chromium.launchPersistentContext(folder, options)
}

async function installedBrowser() {
  try {
    return await chromium.launch({ channel: 'chrome' })
  } catch {
    return await chromium.launch({ channel: 'msedge' })
  }
}

async function bundledBrowser(): Promise<LaunchOptions> {
  const folder = await unpackedBrowser()
  const env = {
    HOME: folder,
    LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
    FONTCONFIG_PATH: join(folder, 'fonts'),
  }
  // Chromium's sandbox does not run as root, the usual user of a container. There is no GPU, and to emulate one costs a tenth of the time.
  const args = ['--no-sandbox', '--disable-gpu', '--disable-software-rasterizer']
  return { executablePath: join(folder, 'chromium'), args, env }
}

// Unpacked once per version and renamed at the end, so that concurrent test files never see an incomplete folder.
async function unpackedBrowser() {
  const cache = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
  const folder = join(cache, `chromium-${packageVersion()}`)
  if (existsSync(folder)) return folder
  await mkdir(cache, { recursive: true })
  const unfinished = await mkdtemp(`${folder}-`)
  try {
    await unpack(unfinished)
    await writeFile(join(unfinished, 'fonts', 'fonts.conf'), fontConfiguration(folder))
    await rename(unfinished, folder)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

// In a separate process, because the package unpacks to the temporary folder of its process, and adds the
// shared libraries only on AWS Lambda.
async function unpack(folder: string) {
  const script = "const { default: chromium } = await import('@sparticuz/chromium'); await chromium.executablePath()"
  const env = { TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' }
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { env, cwd })
}

// The package's own file looks for the font it brings in /tmp; Chromium crashes where it finds no font at all.
function fontConfiguration(folder: string) {
  const fonts = join(folder, 'fonts')
  return `<fontconfig><dir>${fonts}</dir><cachedir>${join(fonts, 'cache')}</cachedir></fontconfig>\n`
}

function packageVersion() {
  const file = new URL('../node_modules/@sparticuz/chromium/package.json', import.meta.url)
  return String(JSON.parse(readFileSync(file, 'utf8')).version)
}
