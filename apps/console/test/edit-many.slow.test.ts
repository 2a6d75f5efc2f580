import { expect } from 'vitest'
import { consoleTest, openCondition, seed, shareBrowser, violations } from './console.ts'

shareBrowser()

consoleTest('a field of the selected records is set, and undone', async ({ page, client, open }) => {
  await seed(client)
  await open('/users')
  for (const name of ['Ada Lovelace', 'Grace Hopper']) {
    await page.getByRole('checkbox', { name: `Select ${name}` }).check()
  }
  await page.getByRole('button', { name: 'Change…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change 2 users' })
  await dialog.waitFor()
  expect(await dialog.getByLabel('Field').getByRole('option').allTextContents()).toEqual([
    'Role',
    'Status',
    'Age',
    'Name',
  ])
  await dialog.getByLabel('Field').selectOption('Role')
  await dialog.getByLabel('New role').selectOption('admin')
  // Ada Lovelace has the role.
  await dialog.getByText('1 to change', { exact: true }).waitFor()
  await dialog.getByText('1 stay the same', { exact: true }).waitFor()
  await dialog.getByRole('row', { name: 'Grace Hopper user → admin' }).waitFor()
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByText('Your changes to these users are not saved.').waitFor()
  await page.getByRole('button', { name: 'Keep editing' }).click()
  await dialog.getByLabel('Field').selectOption('Age')
  expect(await dialog.getByRole('button', { name: 'Preview' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Operation').selectOption('remove the value')
  await dialog.getByRole('row', { name: 'Grace Hopper 22 → none' }).waitFor()
  await dialog.getByLabel('Field').selectOption('Role')
  await dialog.getByLabel('New role').selectOption('admin')
  await dialog.getByRole('button', { name: 'Change 1 user' }).click()
  await page.getByText('Grace Hopper changed: role from user to admin').waitFor()
  const roles = async () => (await client.users.list.query({ limit: 2 })).users.map(({ role }) => role)
  expect(await roles()).toEqual(['admin', 'admin'])
  await page.getByRole('button', { name: 'Undo: Grace Hopper changed' }).click()
  await page.getByText('Grace Hopper restored').waitFor()
  expect(await roles()).toEqual(['admin', 'user'])
})

consoleTest(
  'numbers change by an amount or a percentage, and an invalid result is refused, with its record',
  async (visit) => {
    const { page, client, open } = visit
    await client.items.createMany.mutate({
      items: [
        { name: 'Lamp', price: 5.5 },
        { name: 'Rug', price: 0.125 },
      ],
    })
    await open('/items')
    const edit = async (text: string) => {
      await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
      await page.getByRole('button', { name: 'Change…' }).click()
      await page.getByLabel('New price').fill(text)
    }
    const amount = page.getByLabel('Change of price')
    const prices = async () => (await client.items.list.query({ sort: 'id_asc' })).items.map(({ price }) => price)
    const dialog = page.getByRole('dialog')
    await edit('+10%')
    expect(await page.getByLabel('Operation').inputValue()).toBe('add percent')
    expect(await amount.inputValue()).toBe('10')
    await dialog.getByRole('row', { name: 'Lamp 5.500 → 6.050 +0.550' }).waitFor()
    await dialog.getByText('mean 2.81 → 3.10').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('2 items changed').waitFor()
    expect(await prices()).toEqual([6.05, 0.14])
    await edit('+1e2')
    await page.getByText('Price must change by an amount or a percentage').waitFor()
    await amount.fill('-0.375')
    await page.getByText('must be a number from 0 to 1e12, and would be -0.23 in item 2').waitFor()
    expect(await prices()).toEqual([6.05, 0.14])
    await page.getByLabel('Operation').selectOption('set to')
    await page.getByLabel('New price').fill('=-1')
    await page.getByText('Price must be').waitFor()
    expect(await page.getByRole('button', { name: 'Preview' }).isDisabled()).toBe(true)
    await page.getByLabel('New price').fill('3')
    await dialog.getByRole('row', { name: 'Rug 0.14 → 3.00' }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(prices).toEqual([3, 3])
  },
  { expected: /Failed to load resource/ },
)

consoleTest('all matching records get a value or a change of a number, after a preview', async (visit) => {
  const { page, client, open } = visit
  await seed(client)
  const editAll = async (text: string) => {
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
    await page.getByRole('button', { name: 'Select all 15' }).click()
    await page.getByRole('button', { name: 'Change…' }).click()
    await page.getByLabel('New price').fill(text)
  }
  const sum = async () => {
    const { items } = await client.items.list.query({ limit: 30, price_lt: 50 })
    return items.reduce((sum, { price }) => sum + price, 0)
  }
  await open('/items?price_lt=50&limit=10')
  const before = await sum()
  await editAll('-1')
  await page.getByText('Price below 50. Nothing is written yet.').waitFor()
  await page.getByText('15 to change', { exact: true }).waitFor()
  expect(await sum()).toBe(before)
  await page.keyboard.press('Enter')
  await page.getByText('15 items changed').waitFor()
  expect(await sum()).toBe(before - 15)
  await editAll('7')
  const preview = page.getByRole('dialog', { name: 'Change 15 items' })
  await preview.getByRole('button', { name: 'Change 15 items' }).click()
  await expect.poll(sum).toBe(15 * 7)
  await page.getByRole('button', { name: 'Undo: 15 items changed' }).last().click()
  await expect.poll(sum).toBe(before - 15)
})

consoleTest('Back, then Discard closes an edit of all matching records', async ({ page, client, open }) => {
  const items = Array.from({ length: 30 }, (_, n) => ({ name: `Pan ${n}`, price: 10, category: 'kitchen' }))
  await client.items.createMany.mutate({ items: [...items, { name: 'Desk', price: 90, category: 'office' }] })
  await open('/items')
  await openCondition(page, 'Category')
  await page.getByLabel('Category', { exact: true }).fill('kitchen')
  await page.keyboard.press('Enter')
  await page.getByText('1–25 of 30').waitFor()
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await page.getByRole('button', { name: 'Select all 30' }).click()
  await page.getByRole('button', { name: 'Change…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change 30 items' })
  await dialog.getByLabel('New price').fill('+10%')
  await dialog.getByText('Category is kitchen. Nothing is written yet.').waitFor()
  await dialog.getByRole('region', { name: 'Preview' }).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByText('1–25 of 31').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

consoleTest(
  'a preview names the chosen date, in the time zone of the browser',
  async ({ page, client, open }) => {
    await seed(client)
    await open('/users?limit=10&created_at_lt=2040-01-30T23:00:00.000Z')
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
    await page.getByRole('button', { name: 'Select all 14' }).click()
    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByText('Created before 2040-01-31. Nothing is written yet.').waitFor()
  },
  { timezoneId: 'Europe/Berlin' },
)
