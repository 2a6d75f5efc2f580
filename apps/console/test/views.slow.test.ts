import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { COLOR_RULES, consoleTest, layoutFaults, seed, setWidth, shareBrowser, violations } from './console.ts'
import { pathTo, show, type ViewName, visits } from './visits.ts'

shareBrowser()

// `SHOTS=1 pnpm test` saves a screenshot of every view.
const SHOTS = process.env.SHOTS && fileURLToPath(new URL('../shots/', import.meta.url))

// The browser logs the requests that the views make fail.
const expected = /Failed to load resource|dynamically imported module/

const WIDTHS = [320, 390, 768, 1280, 1920]
// What axe checks is the same within a layout: one width of each is enough. Dark mode changes colors only.
const LAYOUTS = [390, 1280]

for (const { path, shown } of visits()) {
  consoleTest(
    `${shown.join(', ')}: fits 320 to 1920 px and has no axe violations, light or dark`,
    async (visit) => {
      if (!path[0]?.startsWith('extreme')) await seed(visit.client)
      for (const name of path) {
        await setWidth(visit.page, 390)
        await show(name, visit)
        if (shown.includes(name)) await check(visit.page, name)
      }
    },
    { expected },
  )
}

for (const name of [
  'overview',
  'users',
  'record',
  'columns',
  'new-wrong',
  'import',
  'shortcuts',
] satisfies ViewName[]) {
  consoleTest(`${name}: fits 320 and 1280 px with text of twice the size`, async (visit) => {
    const { page, client } = visit
    await seed(client)
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Page.enable')
    await devtools.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
    for (const view of pathTo(name)) await show(view, visit)
    for (const width of [320, 1280]) {
      await resize(page, width, name)
      await shoot(page, `${name}-${width}-large-text`)
      expect(await violations(page)).toEqual([])
    }
  })
}

/** Expects that a view fits each width, and has no violations in each layout and color scheme. */
async function check(page: Page, name: ViewName) {
  for (const width of WIDTHS) {
    await resize(page, width, name)
    await shoot(page, `${name}-${width}-light`)
    if (!LAYOUTS.includes(width)) continue
    expect(await violations(page), `${name}, ${width} px`).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    await shoot(page, `${name}-${width}-dark`)
    expect(await violations(page, COLOR_RULES), `${name}, ${width} px, dark`).toEqual([])
    await page.emulateMedia({ colorScheme: 'light' })
  }
}

/** Changes the width of the viewport, and expects nothing beyond the page and one scrollbar. */
async function resize(page: Page, width: number, name: string) {
  await setWidth(page, width)
  expect(await layoutFaults(page), `${name}, ${width} px`).toEqual([])
}

async function shoot(page: Page, name: string) {
  if (!SHOTS) return
  await mkdir(SHOTS, { recursive: true })
  await page.screenshot({ path: `${SHOTS}${name}.png` })
}
