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

// Of each view also the narrowest and the widest screen, which keep its colours.
const WIDTHS = { 390: 320, 1280: 1920 }

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [width, further] of Object.entries(WIDTHS).map(([one, other]) => [Number(one), other] as const)) {
    consoleTest(
      `every view fits ${width} and ${further} px in ${colorScheme}, and axe finds nothing in it`,
      async (visit) => {
        const { page, client } = visit
        await fill(client)
        for (const [name, show] of Object.entries(VIEWS)) {
          await show(visit)
          expect(await violations(page), name).toEqual([])
          for (const wide of [further, width]) {
            await page.setViewportSize({ width: wide, height: 900 })
            expect(await page.evaluate('document.documentElement.scrollWidth'), name).toBe(wide)
            await shoot(page, `${name}-${wide}-${colorScheme}`)
          }
          await page.context().setOffline(false)
          await page.goto('about:blank')
          await page.unrouteAll()
        }
      },
      { colorScheme, viewport: { width, height: 900 }, expected },
    )
  }
}

async function shoot(page: Page, name: string) {
  if (!SHOTS) return
  await mkdir(SHOTS, { recursive: true })
  await page.screenshot({ path: `${SHOTS}${name}.png` })
}
