import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { consoleTest, seed, shareBrowser } from './console.ts'

shareBrowser()

/**
 * Translates the page as browsers do: each text gets a prefix, in `<font>` elements that wrap it or replace it.
 *
 * @param how `wrap` keeps the text node in the new element, `replace` removes it
 */
function translate(page: Page, how: 'wrap' | 'replace') {
  return page.evaluate((how) => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const texts: Text[] = []
    while (walker.nextNode()) texts.push(walker.currentNode as Text)
    for (const text of texts) {
      const parent = text.parentElement
      if (parent === null || text.data.trim() === '' || parent.closest('[translate=no], font, script, style') !== null)
        continue
      const font = document.createElement('font')
      if (how === 'replace') {
        font.append(Object.assign(document.createElement('font'), { textContent: `»${text.data}` }))
        text.replaceWith(font)
      } else {
        text.replaceWith(font)
        font.append(text)
        text.data = `»${text.data}`
      }
    }
  }, how)
}

for (const how of ['wrap', 'replace'] as const) {
  consoleTest(`a translated page keeps its values and works: its texts ${how}`, async ({ page, client, open }) => {
    await seed(client)
    await open('/users?limit=10')
    const row = page.getByRole('row', { name: 'Ada Lovelace' })
    await row.waitFor()
    await translate(page, how)
    await page.getByRole('button', { name: '»Import…' }).waitFor()
    // Values are not translated.
    const values = page.locator('.records tbody :is(td, th):not(.actions, .pick):not(:has(.nothing))')
    expect(await values.allTextContents()).not.toContainEqual(expect.stringContaining('»'))
    await row.locator('[data-label=Age]').dblclick()
    await page.getByLabel('Age of Ada Lovelace', { exact: true }).fill('36')
    await translate(page, how)
    await page.keyboard.press('Enter')
    await page.getByText('Ada Lovelace saved').waitFor()
    await translate(page, how)
    await page.keyboard.press('Control+z')
    await page.getByText('Ada Lovelace restored').waitFor()
    await page.getByRole('checkbox', { name: 'Select Ada Lovelace' }).check()
    await page.getByText('1 user selected').waitFor()
    await translate(page, how)
    await page.getByRole('checkbox', { name: 'Select Grace Hopper' }).check()
    await page.getByText(/2 users »?selected/).waitFor()
    await translate(page, how)
    await page.getByRole('checkbox', { name: 'Select Ada Lovelace' }).uncheck()
    await page.getByRole('checkbox', { name: 'Select Grace Hopper' }).uncheck()
    await translate(page, how)
    for (const panel of ['chips', 'toolbar']) {
      await page.locator(`.${panel} > button`).click()
      await page.locator(`.${panel} > .anchored :is(button, input)`).first().waitFor()
      await translate(page, how)
      await page.keyboard.press('Escape')
    }
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('11–14 of 14').waitFor()
    await translate(page, how)
    await page.locator('.side a:not(.areas-narrow a)').nth(3).click()
    await page.getByRole('row', { name: 'Lamp 1', exact: false }).first().waitFor()
    await translate(page, how)
    await page.locator('.side a:not(.areas-narrow a)').nth(0).click()
    await page.getByText('kitchen').first().waitFor()
    await open('/users?open=1')
    await page.locator('input[name=age]').waitFor()
    await translate(page, how)
    await page.locator('input[name=age]').fill('old')
    await page.locator('form [type=submit]').click()
    await page.getByText('Enter a whole number').waitFor()
    await translate(page, how)
    await page.locator('input[name=age]').fill('37')
    await page.locator('form [type=submit]').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await client.users.get.query({ id: 1 })).age).toBe(37)
  })
}
