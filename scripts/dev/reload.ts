// Measures how long `npm run dev` takes to show a change of the contract, the service and the console, in a copy of the
// working tree: `node scripts/dev/reload.ts [changes of each, by default 10]`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openBrowser } from '../../packages/browser-test/src/browser.ts'
import { cleanClone } from '../new/clone.ts'

const POLL_MS = 5
// Nobody saves twice within the restart of the service, which takes about one second.
const PAUSE_MS = 3000

const changes = Number(process.argv[2] ?? 10)
using clone = cleanClone()
await using dev = await clone.start('npm run dev')
await using browser = await openBrowser()
const page = await browser.newPage()
await page.goto(`${dev.url}/console`)
await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor()

const read = (path: string) =>
  fetch(dev.url + path).then(
    (response) => response.text(),
    () => '',
  )
const answers = (path: string) => async (text: string) => {
  while (!(await read(path)).includes(text)) await sleep(POLL_MS)
}
const shown = (text: string) => page.getByRole('heading', { name: text, exact: true }).waitFor()

await measure('contract', 'packages/contract/src/books.ts', 'A collection of books', answers('/openapi.json'))
await measure('service', 'apps/server/src/store/refusals.ts', 'not found', answers('/books/999'))
await measure('console', 'apps/console/src/overview/Overview.tsx', 'Overview</h1>', (text) =>
  shown(text.replace('</h1>', '')),
)

/** @param isSeen resolves once the service or the page shows a text */
async function measure(part: string, file: string, text: string, isSeen: (text: string) => Promise<void>) {
  const path = join(clone.folder, file)
  const source = readFileSync(path, 'utf8')
  if (!source.includes(text)) throw new Error(`${file} does not contain "${text}"`)
  const times: number[] = []
  for (let n = 1; n <= changes; n++) {
    await sleep(PAUSE_MS)
    const changed = `${n} ${text}`
    const start = performance.now()
    writeFileSync(path, source.replace(text, changed))
    await isSeen(changed)
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  const [median, longest] = [times[times.length >> 1], times.at(-1)].map((ms) => `${Math.round(ms as number)} ms`)
  console.log(`${part}: median ${median}, longest ${longest}`)
}
