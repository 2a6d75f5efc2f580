import { collection } from './collection.ts'
import { date, text } from './fields.ts'

export const books = collection({
  noun: 'books',
  description: 'A collection of books with a title, an author and a publication date.',
  fields: {
    title: text(1, 200).meta({ examples: ['The Left Hand of Darkness'] }),
    author: text(1, 200).meta({ examples: ['Ursula K. Le Guin'] }),
    published_date: date().meta({ examples: ['1969-03-01'] }),
  },
  filters: ['author', 'title_contains', 'author_contains', 'published_date_gte', 'published_date_lte'],
  search: ['title', 'author'],
  groups: ['author'],
  omit: ['update'],
})
