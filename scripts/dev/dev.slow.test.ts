import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openBrowser } from '../../packages/browser-test/src/browser.ts'
import { run } from '../child.mjs'
import { cleanClone } from '../new/clone.ts'

const CONTRACT = 'packages/contract/src/books.ts'
const SERVICE = 'apps/server/src/store/versioned.ts'
const CONSOLE = 'apps/console/src/overview/Overview.tsx'

test('npm run dev serves sample data and the console, and follows changes of the sources', {
  timeout: 600_000,
}, async () => {
  using clone = cleanClone()
  const edit = (file: string, from: string, to: string) => {
    const source = readFileSync(join(clone.folder, file), 'utf8')
    expect(source).toContain(from)
    writeFileSync(join(clone.folder, file), source.replace(from, to))
  }
  let url = ''
  const answer = async (path: string) => {
    const response = await fetch(url + path)
    return `${response.status} ${response.headers.get('x-total-count')} ${await response.text()}`
  }
  {
    await using dev = await clone.start('npm run dev')
    url = dev.url
    expect(await answer('/api/users?limit=1&count=true')).toMatch(/^200 50 \[\{"id":1,/)

    edit(CONTRACT, 'A collection of books', 'A library of books')
    await expect.poll(() => answer('/openapi.json'), { timeout: 60_000 }).toContain('A library of books')

    edit(SERVICE, 'not found`', 'not here`')
    await expect.poll(() => answer('/books/999'), { timeout: 60_000 }).toBe('404 null {"message":"Book not here"}')

    const upgrade = await head(`${url}/healthz`, { Connection: 'Upgrade', Upgrade: 'h2c' })
    expect(upgrade.statusCode).toBe(200)
    expect(await answer(`/console/@fs${clone.folder}/data/dev.db?raw`)).toMatch(/^403 /)

    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      // Vite does not repeat an update for a page that connects after it.
      const isConnected = page.waitForEvent('console', (message) => message.text() === '[vite] connected.')
      await page.goto(`${url}/console`)
      await isConnected
      await page.getByRole('link', { name: '200 books' }).waitFor()
      await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }))
      edit(CONSOLE, '<h1>Overview</h1>', '<h1>Summary</h1>')
      await page.getByRole('heading', { name: 'Summary' }).waitFor()
      expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true)
    } finally {
      await browser.close()
    }

    edit(SERVICE, 'not here`', 'not here')
    const stopped = '503 null The service has stopped: see the terminal. It starts when you save a change.\n'
    await expect.poll(() => answer('/books/999'), { timeout: 60_000 }).toBe(stopped)
    edit(SERVICE, 'not here', 'not found`')
    await expect.poll(() => answer('/books/999'), { timeout: 60_000 }).toBe('404 null {"message":"Book not found"}')
  }
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

async function head(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const sent = request(url, { method: 'HEAD', headers }).end()
  const [response] = await once(sent, 'response')
  return response
}

test('npm run dev exits with advice if the port is in use', { timeout: 60_000 }, async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const PORT = String((other.address() as AddressInfo).port)
  const { code, output } = await run('node', ['scripts/dev/main.ts'], { quiet: true, env: { PORT } })
  other.close()
  expect({ code, output }).toEqual({
    code: 1,
    output: 'The port is in use: set PORT to another, or stop the program that uses it\n',
  })
})

test('npm run dev and npm start reject arguments', { timeout: 60_000 }, async () => {
  for (const command of ['dev', 'start']) {
    const { code, output } = await run('node', ['scripts/run.mjs', command, '--port', '8080'], { quiet: true })
    expect({ code, output }).toEqual({
      code: 2,
      output: `npm run ${command} takes no arguments. Settings are environment variables, for example PORT=8080.\n`,
    })
  }
})
