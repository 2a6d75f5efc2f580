import { expect } from 'vitest'
import { consoleTest, loseAnswers, pauseCalls, seed, shareBrowser, violations } from './console.ts'

shareBrowser()

const expected = /Failed to load resource/

consoleTest(
  'leaving a changed form asks, on Escape, Back and closing the tab, and keeps the input',
  async ({ page, client, open }) => {
    await client.items.create.mutate({ name: 'Lamp', price: 10 })
    await open('/items/1')
    const price = page.getByRole('dialog', { name: 'Edit Lamp' }).getByLabel('Price')
    const question = page.getByRole('alertdialog', { name: 'Discard your changes?' })
    const keep = page.getByRole('button', { name: 'Keep editing' })
    const shown = () => new URL(page.url()).search
    await page.getByRole('button', { name: 'Edit…' }).click()
    await price.waitFor()
    await page.keyboard.press('Escape')
    await price.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Edit…' }).click()
    await price.fill('12')
    await page.keyboard.press('Escape')
    await question.waitFor()
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    await page.goBack()
    await keep.click()
    await question.waitFor({ state: 'detached' })
    expect(shown()).toBe('?open=1')
    const asked = page.waitForEvent('dialog')
    await page.close({ runBeforeUnload: true })
    const dialog = await asked
    expect(dialog.type()).toBe('beforeunload')
    await dialog.dismiss()
    expect(await price.inputValue()).toBe('12')

    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Discard' }).click()
    await price.waitFor({ state: 'detached' })
    expect(shown()).toBe('')
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.evaluate("history.pushState(null, '', '/console/items?open=1')")
    await price.fill('13')
    await page.goBack()
    await question.waitFor()
    expect(await price.inputValue()).toBe('13')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect((await client.items.get.query({ id: 1 })).price).toBe(10)
  },
)

consoleTest(
  'a form closed while it saves opens again with its input if the service rejects the record',
  async ({ page, client, open }) => {
    await client.users.create.mutate({ name: 'Ada', email: 'ada@example.com' })
    await open('/users?open=new')
    const form = page.getByRole('dialog', { name: 'New user' })
    const calls = await pauseCalls(page, 'users.create')
    await form.getByLabel('Name').fill('Another')
    await form.getByLabel('E-mail').fill('ada@example.com')
    await page.getByRole('button', { name: 'Create user' }).click()
    await calls.paused
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'detached' })
    calls.resume()
    await page.getByRole('link', { name: 'Open the form: The user was not saved.' }).click()
    expect(await form.getByLabel('Name').inputValue()).toBe('Another')
    await form.getByLabel('E-mail').fill('another@example.com')
    await page.getByRole('button', { name: 'Create user' }).click()
    await page.getByText('Another created').waitFor()
    await form.waitFor({ state: 'detached' })
  },
  { expected },
)

consoleTest(
  'a form opened again after a rejection keeps the changes of another user to other fields',
  async ({ page, client, open }) => {
    await client.items.create.mutate({ name: 'Lamp', price: 10, category: 'lighting' })
    await open('/items?open=1')
    const form = page.getByRole('dialog', { name: 'Edit Lamp' })
    const calls = await pauseCalls(page, 'items.update')
    await form.getByLabel('Price').fill('12')
    await page.getByRole('button', { name: 'Save' }).click()
    await calls.paused
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'detached' })
    await client.items.update.mutate({ id: 1, category: 'office' })
    calls.resume()
    await page.getByRole('link', { name: 'Open the form: Lamp was not saved.' }).click()
    expect(await form.getByLabel('Price').inputValue()).toBe('12')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Lamp saved').waitFor()
    expect(await client.items.get.query({ id: 1 })).toMatchObject({ price: 12, category: 'office' })
  },
  { expected },
)

consoleTest(
  'a form sent again after lost answers, also after it was closed, creates one record',
  async ({ page, client, open }) => {
    await open('/items?open=new')
    const form = page.getByRole('dialog', { name: 'New item' })
    const create = page.getByRole('button', { name: 'Create item' })
    await form.getByLabel('Name').fill('Lamp')
    await form.getByLabel('Price').fill('10')
    await loseAnswers(page, 'items.create')
    await create.click()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Open the form: The item was not saved.' }).click()
    await create.click()
    await form.getByText('The service cannot be reached.').waitFor()
    await page.unrouteAll()
    await create.click()
    await page.getByText('Lamp created').waitFor()
    expect((await client.items.list.query({})).items).toMatchObject([{ id: 1, name: 'Lamp' }])
  },
  { expected },
)

consoleTest(
  'an edit sent again after a lost answer causes no conflict',
  async ({ page, client, open }) => {
    await client.items.create.mutate({ name: 'Lamp', price: 10 })
    await open('/items?open=1')
    await page.getByRole('dialog').getByLabel('Price').fill('12')
    await loseAnswers(page, 'items.update')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The service cannot be reached.').waitFor()
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Lamp saved').waitFor()
    expect(await client.items.get.query({ id: 1 })).toMatchObject({ price: 12, version: 2 })
  },
  { expected },
)

consoleTest(
  'notices cover no control of the page or of a dialog, and lead to their record',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/items?price_lt=20')
    await page.getByRole('checkbox', { name: 'Select Lamp 1', exact: true }).check()
    await page.getByRole('button', { name: 'New item' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Bench')
    await page.getByRole('dialog').getByLabel('Price').fill('120')
    await page.getByRole('button', { name: 'Create item' }).click()
    const notice = page.getByRole('link', { name: 'Show: Bench created' })
    await notice.waitFor()
    await expect.poll(() => page.evaluate(COVERED)).toEqual([])
    await notice.click()
    await page.getByRole('heading', { name: 'Bench', exact: true }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/console/items/31')
    await page.getByRole('button', { name: 'Edit…' }).click()
    await page.route('**/trpc/items.update*', (route) => route.fulfill({ status: 500, body: 'broken' }))
    await page.getByRole('dialog').getByLabel('Price').fill('1')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The service has a problem.').waitFor()
    await expect.poll(() => page.evaluate(COVERED)).toEqual([])
  },
  { viewport: { width: 390, height: 600 }, expected },
)

// Controls of which a visible part is under a notice. What is scrolled out of view is not visible.
const COVERED = `[...document.querySelectorAll(':is(#console, .overlay) :is(a, button, input, select)')].filter((control) => {
  if (control.closest('.notices')) return false
  const frame = control.closest('#console, .overlay').getBoundingClientRect()
  const { left, right, top, bottom } = control.getBoundingClientRect()
  const [first, last] = [Math.max(top, frame.top) + 1, Math.min(bottom, frame.bottom) - 1]
  return first < last && [first, last].some((y) => document.elementFromPoint((left + right) / 2, y)?.closest('.notices'))
}).map((control) => control.outerHTML)`

consoleTest(
  'a missing record offers the list',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/users?open=999')
    await page.getByRole('heading', { name: 'This user does not exist' }).waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Show all users' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('row', { name: 'Ada Lovelace' }).waitFor()
  },
  { expected },
)

consoleTest(
  'views load by themselves when the service is back',
  async ({ page, client, open }) => {
    await seed(client)
    await page.route('**/trpc/**', (route) => route.abort())
    await open('/books')
    await page.getByText('The service cannot be reached.').waitFor()
    await page.getByText('loads by itself').waitFor()
    expect(await violations(page)).toEqual([])
    await page.unrouteAll()
    await page.getByRole('row', { name: 'Solaris' }).waitFor()
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await page.getByRole('table', { name: 'Items by category' }).waitFor()
  },
  { expected },
)
