import { expect } from 'vitest'
import { COLOR_RULES, consoleTest, setWidth, shareBrowser, violations } from './console.ts'

shareBrowser()

// Swagger UI puts the link of an operation into the button that opens it, and has a main element, which gets another role.
const OF_SWAGGER = /^(nested-interactive|aria-allowed-role)/

for (const [path, shown] of [
  ['/', 'requests/s, last minute'],
  ['/docs', 'Create a user'],
  ['/redoc', 'Create a user'],
] as const) {
  consoleTest(`${path} fits 320 to 1920 px and has no axe violations, light or dark`, async ({ page, service }) => {
    await page.goto(service.url + path)
    await page.getByText(shown).first().waitFor()
    for (const width of [320, 390, 768, 1280, 1920]) {
      await setWidth(page, width)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      if (width !== 390 && width !== 1280) continue
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        const found = await violations(page, colorScheme === 'dark' ? COLOR_RULES : undefined)
        expect(found.filter((violation) => !OF_SWAGGER.test(violation))).toEqual([])
      }
      await page.emulateMedia({ colorScheme: 'light' })
    }
  })
}

consoleTest('the header of the other pages leads to the console, its search and back', async ({ page, service }) => {
  await page.goto(`${service.url}/docs`)
  await page.getByRole('link', { name: 'Search or jump to…' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search or jump to' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Try it' }).click()
  await page.getByRole('heading', { name: 'Users' }).waitFor()
})
