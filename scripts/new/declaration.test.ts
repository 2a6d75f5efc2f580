import { expect, test } from 'vitest'
import { declarationSource, withNoun, withoutNoun } from './declaration.ts'
import { parseField } from './fields.ts'
import { namesOf } from './names.ts'

const orders = namesOf('orders')
const fields = ['quantity:int:1..10', 'status:open|closed=open', 'user:ref:users'].map(parseField)

test('a declaration contains the fields, their imports and their filters', () => {
  expect(declarationSource(orders, fields)).toBe(`import { z } from 'zod'
import { collection } from './collection.ts'
import { whole, must, reference } from './fields.ts'

export const orders = collection({
noun: 'orders',
description: "Orders with quantity, status and user.",
fields: { quantity: whole(1, 10),
status: z.enum(["open","closed"], must("open or closed")).default("open"),
user_id: reference("users"), },
timestamps: true,
filters: ["quantity_gte","quantity_lte","status","user_id"],
groups: ["status"],
measures: ["quantity"],
})`)
})

test('a declaration searches the text fields', () => {
  const source = declarationSource(orders, ['reference:text:unique', 'note:text?', 'due:date'].map(parseField))
  expect(source).toContain(
    'filters: ["reference_contains","note_contains","due_gte","due_lte"],\nsearch: ["reference","note"],\nkeys: ["reference"],',
  )
})

test('a read-only field is shown, filtered and searched, and names no record', () => {
  const source = declarationSource(
    orders,
    ['total:decimal:0..:readonly=0', 'code:text:unique:readonly?'].map(parseField),
  )
  expect(source).toContain("import { decimal, readOnly, text } from './fields.ts'")
  expect(source).toContain(
    'fields: { total: readOnly(decimal(0, 1e12).default(0)),\ncode: readOnly(text(1, 200).nullable().default(null)), },',
  )
  expect(source).toContain(
    'filters: ["total_lt","total_lte","total_gt","total_gte","code_contains"],\nsearch: ["code"],\nmeasures: ["total"],\n})',
  )
})

test('a field has the bounds of the fields of its kind', () => {
  const fields = ['cost:decimal', 'age:int', 'due:date', 'sent_at:time'].map(parseField)
  expect(declarationSource(orders, fields)).toContain(
    `filters: ${JSON.stringify([
      ...['cost_lt', 'cost_lte', 'cost_gt', 'cost_gte'],
      ...['age_gte', 'age_lte', 'due_gte', 'due_lte', 'sent_at_gte', 'sent_at_lt'],
    ])},`,
  )
})

test('a declaration specifies singular and path if they cannot be derived from the noun', () => {
  const source = declarationSource(namesOf('order-boxes'), fields)
  expect(source).toContain("noun: 'orderBoxes',\none: 'orderBox',")
  expect(source).toContain("path: '/order-boxes',")
})

test('a noun is added to the list and removed from it', () => {
  const list = "import { keys } from './keys.ts'\n\nexport const writable = { users, keys }\n"
  const longer = withNoun(list, orders)
  expect(longer).toBe(
    "import { orders } from './orders.ts'\nimport { keys } from './keys.ts'\n\nexport const writable = { users, orders, keys }\n",
  )
  expect(withoutNoun(longer, orders)).toBe(list)
})
