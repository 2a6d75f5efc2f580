import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openBrowser } from '../../packages/browser-test/src/browser.ts'
import type { Clone } from './clone.ts'

const CONTRACT = 'packages/contract/src/books.ts'
const SERVICE = 'apps/server/src/store/refusals.ts'
const CONSOLE = 'apps/console/src/overview/Overview.tsx'

/** Runs `npm run dev`, and changes sources of the contract, the service and the console. */
export async function changeWhileDeveloping(clone: Clone): Promise<void> {
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
    expect(await answer('/api/users?limit=1&count=true')).toMatch(/^200 200 \[\{"id":1,/)

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
      await page.goto(`${url}/console`)
      await page.getByRole('list', { name: 'Records' }).getByRole('link', { name: 'Books 300' }).waitFor()
      const file = join(clone.folder, CONSOLE)
      const source = readFileSync(file, 'utf8')
      expect(source).toContain('<h1>Overview</h1>')
      let saves = 0
      // Vite does not repeat an update for a page that was not connected, so each attempt saves another title.
      const isFollowed = async () => {
        const name = `Summary ${++saves}`
        await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }))
        writeFileSync(file, source.replace('<h1>Overview</h1>', `<h1>${name}</h1>`))
        const heading = page.getByRole('heading', { name, exact: true })
        return heading.waitFor({ timeout: 5_000 }).then(
          () => true,
          () => false,
        )
      }
      await expect.poll(isFollowed, { timeout: 60_000 }).toBe(true)
      expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true)
    } finally {
      await browser.close()
    }

    edit(SERVICE, 'not here`', 'not here')
    await expect
      .poll(() => answer('/books/999'), { timeout: 60_000 })
      .toMatch(/^503 null The service is starting, or has stopped/)
    edit(SERVICE, 'not here', 'not found`')
    await expect.poll(() => answer('/books/999'), { timeout: 60_000 }).toBe('404 null {"message":"Book not found"}')
  }
  await expect(fetch(url)).rejects.toThrow('fetch failed')
}

async function head(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const sent = request(url, { method: 'HEAD', headers }).end()
  const [response] = await once(sent, 'response')
  return response
}
