import { describe } from './resource.ts'

export const books = describe({
  noun: 'books',
  title: 'Books',
  one: 'book',
  nameField: 'title',
  columns: { title: ['Title'], author: ['Author'], published_date: ['Published', 'date'] },
  filters: {},
  fields: { title: 'Title', author: 'Author', published_date: 'Published' },
})
