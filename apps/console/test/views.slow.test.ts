import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { COLOR_RULES, consoleTest, layoutFaults, seed, shareBrowser, violations } from './console.ts'
import { EXTREME_VIEWS, VIEWS } from './views.ts'

shareBrowser()

// `SHOTS=1 pnpm test` saves a screenshot of every view.
const SHOTS = process.env.SHOTS && fileURLToPath(new URL('../shots/', import.meta.url))

// The browser logs the requests that the views make fail.
const expected = /Failed to load resource|dynamically imported module/

const WIDTHS = [320, 390, 768, 1280, 1920]
// What axe checks is the same within a layout: one width of each is enough. Dark mode changes colors only.
const LAYOUTS = [390, 1280]

for (const [name, show] of Object.entries({ ...VIEWS, ...EXTREME_VIEWS })) {
  consoleTest(
    `${name}: fits 320 to 1920 px and has no axe violations, light or dark`,
    async (visit) => {
      const { page, client } = visit
      if (!(name in EXTREME_VIEWS)) await seed(client)
      await show(visit)
      for (const width of WIDTHS) {
        await resize(page, width)
        await shoot(page, `${name}-${width}-light`)
        if (!LAYOUTS.includes(width)) continue
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          await page.evaluate(TRANSITIONS_END)
          if (colorScheme === 'dark') await shoot(page, `${name}-${width}-dark`)
          expect(await violations(page, colorScheme === 'dark' ? COLOR_RULES : undefined)).toEqual([])
        }
        await page.emulateMedia({ colorScheme: 'light' })
      }
    },
    // Opens the view in a narrow viewport; the other tests use a wide one.
    { viewport: { width: 390, height: 900 }, expected },
  )
}

for (const name of ['overview', 'users', 'record', 'columns', 'new-wrong', 'import', 'shortcuts']) {
  consoleTest(`${name}: fits 320 and 1280 px with text of twice the size`, async (visit) => {
    const { page, client } = visit
    await seed(client)
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Page.enable')
    await devtools.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
    await VIEWS[name]?.(visit)
    for (const width of [320, 1280]) {
      await resize(page, width)
      await shoot(page, `${name}-${width}-large-text`)
      expect(await violations(page)).toEqual([])
    }
  })
}

/** Changes the width of the viewport, and expects nothing beyond the page and one scrollbar. */
async function resize(page: Page, width: number) {
  await page.setViewportSize({ width, height: 900 })
  await page.waitForFunction(`innerWidth === ${width}`)
  expect(await layoutFaults(page)).toEqual([])
}

// During a transition, colors belong to neither scheme. A transition that is canceled has no finish.
const TRANSITIONS_END = `Promise.allSettled(document.getAnimations()
  .filter((animation) => animation instanceof CSSTransition)
  .map(({ finished }) => finished))`

async function shoot(page: Page, name: string) {
  if (!SHOTS) return
  await mkdir(SHOTS, { recursive: true })
  await page.screenshot({ path: `${SHOTS}${name}.png` })
}
