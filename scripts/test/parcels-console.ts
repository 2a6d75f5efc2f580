import { expect } from 'vitest'
import { openBrowser } from '../../packages/browser-test/src/browser.ts'

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof openBrowser>>['newPage']>>

/** Uses the pages of the parcels, of which two are of user 1, Ada. */
export async function lookAtConsole(url: string) {
  const browser = await openBrowser()
  try {
    const page = await browser.newPage()
    await page.goto(`${url}/console/parcels`)
    await page.getByText('P-2', { exact: true }).first().waitFor({ timeout: 60_000 })
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    for (const name of ['Status', 'Status is one of', 'Pieces is one of', 'Fragile', 'Weight', 'Cost', 'User']) {
      await page.locator('.anchored').getByRole('button', { name, exact: true }).waitFor()
    }
    // A computed field is a column, and in no form.
    await page.keyboard.press('Escape')
    await page.getByRole('columnheader', { name: 'Cost' }).waitFor()
    await page.getByRole('button', { name: 'New parcel' }).click()
    await page.getByRole('dialog').getByLabel('Weight').waitFor()
    expect(await page.getByRole('dialog').getByLabel('Cost').count()).toBe(0)
    await lookAtReferences(url, page)
  } finally {
    await browser.close()
  }
}

/**
 * A reference shows the name of its record, also after that has changed, and suggests records by name. It shows the id of a record
 * that the user cannot read.
 */
async function lookAtReferences(url: string, page: Page) {
  // The service has just started, so that its first answers take a while.
  const until = (read: () => Promise<unknown>, value: unknown) => expect.poll(read, { timeout: 20_000 }).toEqual(value)
  const chip = page.locator('.chip .text')
  const cell = page.getByRole('row', { name: 'P-2' }).locator('[data-label="User"]')
  const data = { code: 'NOT_FOUND', httpStatus: 404, fields: [], reason: 'not_found' }
  const refusal = [{ error: { message: 'User not found', code: -32004, data } }]
  // After the list, in a request of its own.
  await page.route('**/trpc/users.get*', (route) => route.fulfill({ status: 404, json: refusal }))
  await page.goto(`${url}/console/parcels`)
  await until(() => cell.textContent(), '1')
  await page.unrouteAll()
  await page.goto(`${url}/console/parcels?user_id=1`)
  await until(() => chip.textContent(), 'User is Ada')
  await until(() => cell.textContent(), 'Ada')
  const body = JSON.stringify({ id: 1, name: 'Ada King' })
  const headers = { 'Content-Type': 'application/json' }
  expect((await fetch(`${url}/trpc/users.update`, { method: 'POST', headers, body })).status).toBe(200)
  await until(() => cell.textContent(), 'Ada King')
  await until(() => chip.textContent(), 'User is Ada King')
  await page.getByRole('link', { name: 'P-2', exact: true }).click()
  await page.getByRole('region', { name: 'Fields' }).getByRole('link', { name: 'Ada King' }).waitFor()
  await page.getByRole('button', { name: 'Edit…' }).click()
  const field = page.getByRole('dialog').getByLabel('User Ada King')
  await field.fill('king')
  const offers = "[...document.querySelectorAll('[role=dialog] datalist option')].map((option) => option.outerHTML)"
  await until(() => page.evaluate(offers), ['<option value="1">Ada King</option>'])
}
