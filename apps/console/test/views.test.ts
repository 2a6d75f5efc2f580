import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, fill, shareBrowser, violations } from './console.ts'
import { VIEWS } from './views.ts'

shareBrowser()

// To look at: `SHOTS=1 pnpm test` leaves every view as a picture.
const SHOTS = process.env.SHOTS && fileURLToPath(new URL('../shots/', import.meta.url))

// What the browser says of the requests that the views let fail.
const expected = /Failed to load resource|dynamically imported module/

// At the first of each pair axe looks, too.
const WIDTHS = [
  [390, 320],
  [1280, 1920],
] as const

for (const [name, show] of Object.entries(VIEWS)) {
  consoleTest(
    `${name}: fits 320 to 1920 px, light and dark, and axe finds nothing in it`,
    async (visit) => {
      const { page, client } = visit
      await fill(client)
      await show(visit)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        for (const [width, further] of WIDTHS) {
          for (const wide of [further, width]) {
            await page.setViewportSize({ width: wide, height: 900 })
            expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(wide)
            await shoot(page, `${name}-${wide}-${colorScheme}`)
          }
          await page.evaluate(TRANSITIONS_END)
          expect(await violations(page)).toEqual([])
        }
      }
    },
    // The view is reached where there is least room; the other tests have a wide window.
    { viewport: { width: 390, height: 900 }, expected },
  )
}

// Colours on their way from one scheme to the other are neither.
const TRANSITIONS_END = `Promise.all(document.getAnimations()
  .filter((animation) => animation instanceof CSSTransition)
  .map(({ finished }) => finished))`

async function shoot(page: Page, name: string) {
  if (!SHOTS) return
  await mkdir(SHOTS, { recursive: true })
  await page.screenshot({ path: `${SHOTS}${name}.png` })
}
