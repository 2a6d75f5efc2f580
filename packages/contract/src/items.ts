import { z } from 'zod'
import { bind, collection } from './collection.ts'
import { decimal, text } from './fields.ts'

const declared = collection({
  noun: 'items',
  description: 'A collection of items with a name, a price and an optional category.',
  fields: {
    name: text(1, 200).meta({ examples: ['Lamp'] }),
    price: decimal(0, 1e12).meta({ examples: [24.5] }),
    category: text(1, 100)
      .meta({ examples: ['lighting'] })
      .nullable()
      .default(null),
  },
  filters: ['category', 'price_lt', 'price_lte', 'price_gt', 'price_gte', 'name_contains'],
  search: ['name'],
  groups: ['category'],
  measures: ['price'],
  path: '/items/',
  param: 'item_id',
  example: { id: 7, name: 'Lamp', price: 24.5, category: null },
})

const { record: item } = declared

export const items = bind(declared, {
  // The created record is under one key, with and without the envelope (API rule I2).
  create: {
    description: 'The response contains the item under the key `item`.',
    response: item
      .transform((item) => ({ item }))
      .pipe(z.object({ item }))
      .meta({ id: 'CreatedItem' }),
    envelope: undefined,
  },
  delete: { status: 200 },
})
