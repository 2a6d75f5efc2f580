import type { Implementation } from '@resource/contract'
import type { Database, Tables } from '@resource/database'
import type { Context } from '../context.ts'
import { writeOnce } from '../store/idempotency.ts'
import { deleteBook, findBook, insertBook, insertBooks, listBooks, updateBook } from './store.ts'

/** The rules of books (specification 2.2 and 4.2). */
export function bookService(database: Database): Implementation<Context>['books'] {
  return {
    list: (input, { read }) => listBooks(read, input),

    get: ({ id }, { read }) => findBook(read, id),

    create: (input, context) => {
      const { title, author, published_date } = input
      const work = (tx: Tables) => insertBook(tx, { title, author, published_date })
      return writeOnce(database, context, 'books.create', input, work, { isSingle: true })
    },

    createMany: (input, context) =>
      writeOnce(database, context, 'books.createMany', input, async (tx) => ({
        books: await insertBooks(tx, input.books),
      })),

    replace: (input, context) => {
      const { id, if_version, title, author, published_date } = input
      const work = (tx: Tables) => updateBook(tx, id, if_version, { title, author, published_date })
      return writeOnce(database, context, 'books.replace', input, work, { isSingle: true })
    },

    delete: (input, context) => {
      const work = async (tx: Tables) => {
        await deleteBook(tx, input.id, input.if_version)
        return { message: 'Book deleted' }
      }
      return writeOnce(database, context, 'books.delete', input, work, { isSingle: true })
    },
  }
}
