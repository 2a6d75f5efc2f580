import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, overflow, seed, shareBrowser, violations } from './console.ts'
import { VIEWS } from './views.ts'

shareBrowser()

// `SHOTS=1 pnpm test` saves a screenshot of every view.
const SHOTS = process.env.SHOTS && fileURLToPath(new URL('../shots/', import.meta.url))

// The browser logs the requests that the views make fail.
const expected = /Failed to load resource|dynamically imported module/

// axe runs at the first width of each pair.
const VIEWPORT_WIDTHS = [
  [390, 320],
  [1280, 1920],
] as const

for (const [name, show] of Object.entries(VIEWS)) {
  consoleTest(
    `${name}: fits 320 to 1920 px and has no axe violations, light and dark`,
    async (visit) => {
      const { page, client } = visit
      await seed(client)
      await show(visit)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        for (const [width, further] of VIEWPORT_WIDTHS) {
          for (const wide of [further, width]) {
            await page.setViewportSize({ width: wide, height: 900 })
            expect(await overflow(page)).toBe(0)
            await shoot(page, `${name}-${wide}-${colorScheme}`)
          }
          await page.evaluate(TRANSITIONS_END)
          expect(await violations(page)).toEqual([])
        }
      }
    },
    // Opens the view in a narrow viewport; the other tests use a wide one.
    { viewport: { width: 390, height: 900 }, expected },
  )
}

// During a transition, colors belong to neither scheme.
const TRANSITIONS_END = `Promise.all(document.getAnimations()
  .filter((animation) => animation instanceof CSSTransition)
  .map(({ finished }) => finished))`

async function shoot(page: Page, name: string) {
  if (!SHOTS) return
  await mkdir(SHOTS, { recursive: true })
  await page.screenshot({ path: `${SHOTS}${name}.png` })
}
