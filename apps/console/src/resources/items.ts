import { describe } from './resource.ts'

export const items = describe({
  noun: 'items',
  title: 'Items',
  one: 'item',
  nameField: 'name',
  columns: { name: ['Name'], price: ['Price', 'number'], category: ['Category', 'badge'] },
  filters: { category: 'Category', price_lt: 'Price below' },
  fields: { name: 'Name', price: 'Price', category: 'Category' },
})
