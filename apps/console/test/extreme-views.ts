import type { Visit } from './console.ts'
import { createKey, type Show } from './views.ts'

const LONG = 'Wolfeschlegelsteinhausenbergerdorff '.repeat(6).slice(0, 199)
const HEBREW = 'משה בן מימון (הרמב״ם)'

/** Views of records with the longest texts, emoji, and text from right to left. */
export const EXTREME_VIEWS = {
  'extreme users': async (visit) => {
    await visit.open('/users')
    await visit.page.getByRole('checkbox', { name: HEBREW }).check()
    await visit.page.getByText('1 user selected').waitFor()
  },
  'extreme items': async (visit) => {
    await visit.open(`/items?category=${encodeURIComponent(HEBREW)}`)
    await visit.page.getByText('1 item', { exact: true }).waitFor()
  },
  'extreme record': async (visit) => {
    await visit.open('/users/1')
    await visit.page.getByRole('button', { name: 'Edit…' }).waitFor()
  },
  'extreme form': async (visit) => {
    await visit.open('/users?open=2')
    await visit.page.getByRole('heading', { name: HEBREW }).waitFor()
  },
  'extreme deletion': async (visit) => {
    await seedExtremes(visit)
    await visit.open('/users')
    await visit.page.getByRole('checkbox', { name: 'Select all on this page' }).check()
    await visit.page.getByRole('button', { name: 'Delete…' }).click()
    await visit.page.getByRole('alertdialog').waitFor()
  },
  'extreme overview': async (visit) => {
    await seedExtremes(visit)
    await visit.open('/')
    await visit.page.getByRole('table', { name: 'Items by category' }).waitFor()
  },
  'extreme keys': async (visit) => {
    await visit.open('/keys')
    await createKey(visit, 'operator')
    await createKey(visit, LONG, HEBREW)
  },
  'extreme audit': async (visit) => {
    await visit.client.users.update.mutate({ id: 2, name: LONG })
    await visit.open('/audit')
    await visit.page.getByRole('row', { name: 'created 3 items' }).waitFor()
  },
  'extreme notices': async (visit) => {
    await seedExtremes(visit)
    await visit.open('/users')
    for (const name of ['Wolfe', HEBREW]) {
      await visit.page.getByRole('checkbox', { name }).check()
      await visit.page.getByRole('button', { name: 'Deactivate 1' }).click()
      await visit.page.locator('.notice', { hasText: name }).getByText('deactivated').first().waitFor()
    }
  },
} satisfies Record<string, Show>

async function seedExtremes({ client }: Visit) {
  await client.users.createMany.mutate({
    users: [
      { name: LONG, email: `${'long'.repeat(16)}@${'example'.repeat(8)}.${'example'.repeat(8)}.com`, age: 150 },
      { name: HEBREW, email: 'moshe@example.com' },
      { name: '👩‍🚀👨‍👩‍👧‍👦 Zoë', email: 'zoe@example.com', role: 'admin' },
    ],
  })
  await client.items.createMany.mutate({
    items: [
      { name: 'x'.repeat(200), price: 1e12, category: 'w'.repeat(100) },
      { name: HEBREW, price: 0.123456, category: HEBREW },
      { name: '🛋️ Sofa', price: 0, category: '🛋️' },
    ],
  })
}
