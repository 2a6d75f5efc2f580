import { createClient } from '@resource/client'
import { expect } from 'vitest'
import { consoleTest, seed, shareBrowser, type Visit, violations } from './console.ts'

shareBrowser()

const expected = /Failed to load resource/

/** Proposes to raise the prices of the kitchen by a tenth. */
async function propose(client: Visit['client'], reason = 'The supplier raised them.') {
  const input = { category: 'kitchen', changes: { multiply: { price: 1.1 } } }
  return client.proposals.create.mutate({ operation: 'items.updateWhere', input, reason })
}

consoleTest('a proposal is found, applied as it shows, and undone', async ({ page, client, open }) => {
  await seed(client)
  await propose(client)
  await open('/')
  await page.getByRole('link', { name: 'Proposals' }).click()
  const entry = page.getByRole('link', { name: 'Change 7 items The supplier raised them. anonymous' })
  await entry.getByText('just now').waitFor()
  await entry.click()
  await page.getByRole('heading', { name: 'Raise the price of 7 items by 10 %' }).waitFor()
  await page.getByText('Proposal 1', { exact: true }).waitFor()
  await page.getByText('As proposed.').waitFor()
  await page.getByText('7 to change').waitFor()
  await page.getByRole('columnheader', { name: 'Price now' }).waitFor()
  await page.getByRole('row', { name: '3 Kettle 3 79.50 → 87.45 +7.95' }).waitFor()
  await page.getByText('mean 47.79 → 52.56').waitFor()
  await page.getByRole('button', { name: 'Apply to 7 items' }).click()
  const undo = page.getByRole('button', { name: 'Undo: 7 items changed' })
  await undo.waitFor()
  expect((await client.items.get.query({ id: 3 })).price).toBe(87.45)
  await page.getByRole('article').getByText('applied by anonymous').waitFor()
  await page.getByRole('heading', { name: 'What it did' }).waitFor()
  await page.getByText('7 changed', { exact: true }).waitFor()
  await page.getByRole('columnheader', { name: 'Price before' }).waitFor()
  // The list follows the proposal.
  await page.getByRole('heading', { name: 'Proposals 1 applied' }).waitFor()
  await page.getByRole('button', { name: 'Applied', exact: true, pressed: true }).waitFor()
  await entry.waitFor()
  expect(await page.getByRole('button', { name: 'Apply' }).count()).toBe(0)
  await undo.click()
  await page.getByText('7 items restored').waitFor()
  expect((await client.items.get.query({ id: 3 })).price).toBe(79.5)
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByRole('heading', { name: 'No proposal is open' }).waitFor()
  await page.getByRole('button', { name: 'Applied', exact: true }).click()
  await page.getByRole('heading', { name: 'Proposals 1 applied' }).waitFor()
  await entry.waitFor()
})

consoleTest(
  'a proposal that would do something else by now shows what, and cannot be applied but rejected',
  async ({ page, client, open }) => {
    await seed(client)
    await propose(client)
    await open('/proposals/1')
    await page.getByText('As proposed.').waitFor()
    await client.items.update.mutate({ id: 3, price: 10 })
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('Proposal 1 not applied.').waitFor()
    await page
      .getByText('1 of 7 has changed: Kettle 3, price from 79.50 to 10.00. It would do something else now')
      .waitFor()
    await page
      .getByRole('region', { name: 'Proposed changes' })
      .getByRole('row', { name: 'Kettle 3 79.50 → 87.45' })
      .waitFor()
    await page
      .getByRole('region', { name: 'Changes now' })
      .getByRole('row', { name: 'Kettle 3 10.00 → 11.00' })
      .waitFor()
    // Only what differs is shown twice.
    expect(await page.getByRole('region', { name: 'Changes now' }).getByRole('row').count()).toBe(2)
    expect(await page.getByRole('button', { name: 'Apply' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Reject', exact: true }).click()
    await page.getByText('Proposal 1 rejected').waitFor()
    await page.getByRole('heading', { name: 'What it would have done' }).waitFor()
    await page.getByText('7 to change').waitFor()
    expect((await client.items.get.query({ id: 3 })).price).toBe(10)
  },
  { expected },
)

consoleTest(
  'a proposer previews and proposes changes and deletions, can withdraw them, and decides on no others',
  async (visit) => {
    const { page, client, service, open } = visit
    await seed(client)
    const { key: admin } = await client.keys.create.mutate({ name: 'operator', role: 'admin' })
    const operator = createClient({ baseUrl: service.url, apiKey: admin })
    const { key } = await operator.keys.create.mutate({ name: 'agent', role: 'proposer' })
    await propose(operator)
    await open('/proposals/1')
    await page.getByLabel('API key').fill(key)
    await page.locator('form.login').getByRole('button', { name: 'Log in' }).click()
    const buttons = () => page.getByRole('article').getByRole('button').allTextContents()
    await page.getByRole('blockquote').getByText('The supplier raised them.').waitFor()
    expect(await buttons()).toEqual([])

    await open('/items')
    await page.getByRole('checkbox', { name: 'Select Chair 2', exact: true }).check()
    await page.getByRole('button', { name: 'Change…' }).click()
    await page.getByLabel('New price').fill('+10%')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('row', { name: 'Chair 2 42.50 → 46.75' }).waitFor()
    await dialog.getByText('Others decide on it.').waitFor()
    expect(await dialog.getByRole('button', { name: 'Propose' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Reason').fill('A typing error.')
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Enter')
    const show = page.getByRole('link', { name: 'Show: Proposal 2 created' })
    await show.waitFor()
    await page.getByRole('checkbox', { name: 'Select Kettle 3', exact: true }).check()
    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByLabel('Reason').fill('Broken.')
    await page.getByRole('button', { name: 'Propose' }).click()
    await page.getByText('Proposal 3 created').waitFor()
    expect(await operator.proposals.get.query({ id: 3 })).toMatchObject({ proposer: 'key 2', deleted: 1 })
    expect(await operator.items.get.query({ id: 2 })).toMatchObject({ price: 42.5, version: 1 })
    expect((await operator.items.get.query({ id: 3 })).version).toBe(1)

    await show.click()
    await page.getByRole('blockquote').getByText('A typing error.').waitFor()
    expect(await buttons()).toEqual(['Withdraw'])
    await page.getByRole('button', { name: 'Withdraw', exact: true }).click()
    await page.getByText('Proposal 2 withdrawn').waitFor()
    expect((await operator.proposals.get.query({ id: 2 })).status).toBe('withdrawn')
  },
  { expected },
)
