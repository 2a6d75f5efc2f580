import { createClient } from '@resource/client'

const client = createClient({ baseUrl: 'http://127.0.0.1:3000' })

const book = await client.books.create.mutate({
  title: 'Kindred',
  author: 'Octavia E. Butler',
  published_date: '1979-06-01',
})
const { books, total } = await client.books.list.query({ sort: 'title_asc', limit: 20, count: true })
await client.books.replace.mutate({ ...book, title: 'Kindred (1979)', if_version: book.version })

console.log(`${total} books, the first is ${books[0]?.title}`)
